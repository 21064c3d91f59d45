"""Authenticator apps (TOTP, RFC 6238)."""

from typing import Final

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.pages.second_factor_pages import FactorPrompt
from app.hub.factors.presentation import FactorCodeForm, FactorPresentation
from app.hub.locale import lazy_gettext as _l


class TotpForm(FactorCodeForm):
    """The code of the app."""

    wrong = _l("Wrong code. Enter the next one.")
    wrong_errors = (errors.WrongTotpCode,)


_SECRET: Final = "JBSWY3DPEHPK3PXPK4QT7ZRAM2WHXV6E"
_URI: Final = f"otpauth://totp/Acme:ada%40example.com?secret={_SECRET}&issuer=Acme"

PRESENTATION: Final = FactorPresentation(
    kind=FactorKind.TOTP,
    name=_l("Authenticator app"),
    enrolment_title=_l("Set up your authenticator app"),
    hint=_l("6-digit code from your app"),
    icon="clock",
    is_on_phone=True,
    form=TotpForm,
    scripts=("copy",),
    rules=("typed", "setup", "scan"),
    samples={
        "enrolled": FactorPrompt(kind=FactorKind.TOTP, is_enrolled=True),
        "to enrol": FactorPrompt(kind=FactorKind.TOTP, secret=_SECRET, uri=_URI),
    },
)
