"""Handler of the tenant's public configuration, which shows whether its mails contain a link or a code."""

from __future__ import annotations

from app.contract.messages.models import MailKind
from app.contract.tenants import tenant_operations
from app.identity.directory.tenants import appinfo
from app.identity.messaging import messaging
from app.identity.platform.context import Context

_LISTED_MAILS = {
    "AddEmail": MailKind.ADD_EMAIL,
    "AutoLogin": MailKind.SMART_LOGIN,
    "DeleteAccount": MailKind.DELETE_ACCOUNT,
    "ForgotPIN": MailKind.RESET_PIN,
    "ForgotPassword": MailKind.RESET,
    "NoRegistrationPasswordlessLogin": MailKind.ONE_TOUCH,
    "OneClickSignin": MailKind.SIGN_IN,
    "Registration": MailKind.VERIFICATION,
}


@tenant_operations.appinfo.implements
def read_appinfo(context: Context, req: tenant_operations.ReadAppinfo) -> tenant_operations.Appinfo:
    """Return the configuration. The default template decides whether a mail has a link or a code; the built-in ones have both."""
    from app.identity.authentication.federation import home_realms  # noqa: PLC0415 - few requests need it

    codes = {name for name, kind in _LISTED_MAILS.items() if _has_only_code(context, kind)}
    return tenant_operations.Appinfo.model_validate(
        {**appinfo.build(context, codes), "IsAutoLookUpEnabled": home_realms.has_any(context)}
    )


def _has_only_code(context: Context, kind: MailKind) -> bool:
    carries = messaging.carries(context, kind, account=None)
    return carries == "otp" or (
        carries is None and kind is MailKind.RESET and context.tenant.settings.reset_password_codes
    )
