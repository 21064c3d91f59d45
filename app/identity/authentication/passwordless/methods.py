"""The passwordless sign-in methods that our pages offer beside the password."""

from __future__ import annotations

from app.identity.credentials import channels
from app.identity.platform.context import Context

MAIL, SMS, DEVICE = channels.MAIL, channels.SMS, "device"
PHONE = "phone"
"""Not a message: a browser shows a QR code, and a signed-in phone approves it (decision 0241)."""


def enabled_methods(context: Context) -> list[str]:
    """Return the methods that the tenant enabled, in the order of the sign-in page."""
    settings = context.tenant.settings
    by_number = settings.phone_login and bool(context.services.settings.sms_target)
    is_enabled_by_method = {
        MAIL: settings.passwordless_email or settings.one_touch,
        SMS: by_number and (settings.passwordless_sms or settings.one_touch),
        DEVICE: settings.smart_login,
    }
    return [method for method, is_enabled in is_enabled_by_method.items() if is_enabled]
