"""Codes by email."""

from typing import Final

from app.contract.error_groups import EMAIL_CODE
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.pages.second_factor_pages import FactorPrompt
from app.hub.factors.presentation import FactorCodeForm, FactorPresentation
from app.hub.forms.code import WRONG_CODE
from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_pgettext


class EmailForm(FactorCodeForm):
    """The mailed code."""

    wrong = WRONG_CODE
    wrong_errors = EMAIL_CODE


_ONE, _TWO = "a•a@example.com", "l••••••e@example.org"
PRESENTATION: Final = FactorPresentation(
    kind=FactorKind.EMAIL,
    name=lazy_pgettext("verification method", "Email"),
    hint=_l("Get a code by email"),
    icon="mail",
    form=EmailForm,
    needs_target=True,
    own_hint=lambda address: _l("Code to %(place)s", place=f"\u2066{address}\u2069"),
    samples={
        "sent": FactorPrompt(
            kind=FactorKind.EMAIL, is_enrolled=True, sent_to=_ONE, targets=[_ONE], resend_in_seconds=24
        ),
        "not sent": FactorPrompt(kind=FactorKind.EMAIL, is_enrolled=True, targets=[_ONE]),
        "several": FactorPrompt(kind=FactorKind.EMAIL, is_enrolled=True, targets=[_ONE, _TWO]),
        "sent to one of several": FactorPrompt(kind=FactorKind.EMAIL, sent_to=_TWO, targets=[_ONE, _TWO]),
        "nowhere": FactorPrompt(kind=FactorKind.EMAIL, is_enrolled=True),
    },
)
