"""Codes by SMS."""

from typing import Final

from wtforms import StringField

from app.contract import errors
from app.contract.error_groups import SMS_CODE
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.pages.second_factor_pages import FactorPrompt
from app.hub.factors.presentation import FactorCodeForm, FactorPresentation
from app.hub.forms.code import WRONG_CODE
from app.hub.locale import lazy_gettext as _l


class SmsForm(FactorCodeForm):
    """The code, or the phone number before one is sent."""

    target = StringField(_l("Phone number"), render_kw={"type": "tel", "autocomplete": "tel", "dir": "ltr"})
    wrong = WRONG_CODE
    wrong_errors = SMS_CODE
    refusals = {
        errors.MalformedPhone: ("target", _l("Start with + and the country code.")),
        errors.PhoneRegistered: ("target", _l("You already sign in with this number. Use another one.")),
        errors.NoPhoneRegistered: ("target", _l("Enter your phone number with + and the country code.")),
    }


PRESENTATION: Final = FactorPresentation(
    kind=FactorKind.SMS,
    name=_l("Text message"),
    hint=_l("Get a code by text message"),
    icon="message",
    is_on_phone=True,
    form=SmsForm,
    needs_target=True,
    own_hint=lambda number: (
        _l("Phone ending in %(digits)s", digits=number.lstrip("*"))
        if number.startswith("*")
        else _l("Code to %(place)s", place=f"\u2066{number}\u2069")
    ),
    samples={
        "sent": FactorPrompt(kind=FactorKind.SMS, is_enrolled=True, sent_to="**********23", resend_in_seconds=24),
        "not sent": FactorPrompt(kind=FactorKind.SMS, is_enrolled=True, targets=["**********23"]),
        "number to type": FactorPrompt(kind=FactorKind.SMS),
        "code to type": FactorPrompt(kind=FactorKind.SMS, sent_to="**********23"),
    },
)
