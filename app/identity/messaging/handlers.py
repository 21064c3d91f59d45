"""The configuration that a tenant publishes, which shows what its mails hold."""

from __future__ import annotations

from app.contract import tenants
from app.contract.messages import MailKind
from app.identity.directory.tenants import appinfo
from app.identity.messaging import service
from app.identity.platform.context import Context

_SHOWN_MAILS = {
    "AddEmail": MailKind.ADD_EMAIL,
    "AutoLogin": MailKind.SMART_LOGIN,
    "DeleteAccount": MailKind.DELETE_ACCOUNT,
    "ForgotPIN": MailKind.RESET_PIN,
    "ForgotPassword": MailKind.RESET,
    "NoRegistrationPasswordlessLogin": MailKind.ONE_TOUCH,
    "OneClickSignin": MailKind.SIGN_IN,
    "Registration": MailKind.VERIFICATION,
}


@tenants.appinfo.implements
def read_appinfo(context: Context, req: tenants.ReadAppinfo) -> tenants.Appinfo:
    """Whether a mail has a link or a code says the template that is sent where none is asked for; ours has both."""
    codes = {name for name, kind in _SHOWN_MAILS.items() if _is_code(context, kind)}
    return tenants.Appinfo.model_validate(appinfo.build(context, codes))


def _is_code(context: Context, kind: MailKind) -> bool:
    carries = service.carries(context, kind, account=None)
    return carries == "otp" or (
        carries is None and kind is MailKind.RESET and context.tenant.settings.reset_password_codes
    )
