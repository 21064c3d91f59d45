"""Errors of sign-ins without a password (interface user.md sections 7 and 8)."""

from app.kit.errors import ApiError


class UsedPasswordlessLink(ApiError):
    code, status, message = 1062, 403, "The password less login link has already been used"
    description = "Passwordless link used before."


class ClientGuidTaken(ApiError):
    code, status, message = 1136, 403, "Client GUID must be unique"
    description = "Client GUID used before."


class UsedSmartLink(ApiError):
    code, status, message = 1137, 403, "This smart login link has already been used"
    description = "Smart login link used before."


class VerifiedSmartLink(ApiError):
    code, status, message = 1138, 403, "The smart login link has already been verified"
    description = "Smart login link verified before."


class SmartLinkWaits(ApiError):
    code, status, message = 1139, 403, "The smart login link has not been verified"
    description = "Link not clicked yet; poll again."


class PasswordlessOff(ApiError):
    code, status, message = 1059, 403, "Password less login option is not enabled for your site"
    description = "Passwordless login is off."


class SmartLoginOff(ApiError):
    code, status, message = 1135, 403, "Smart login option is not enabled for your site"
    description = "Smart login is off."


class OneTouchOff(ApiError):
    code, status, message = 1146, 403, "One touch login is not enabled for your site"
    description = "One-touch login is off."


class UsedOneTouchLink(ApiError):
    code, status, message = 1145, 403, "The one touch login link has already been used"
    description = "One-touch link used before."
