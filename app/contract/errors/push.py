"""Errors of the push settings (interface tenant-config.md section 8)."""

from app.kit.errors import ApiError


class NoPushSettings(ApiError):
    code, status, message = 8050, 404, "Push Notification settings not found or does not exist"
    description = "Not configured."
