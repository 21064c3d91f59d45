"""Passkeys as a second factor."""

import json
from typing import Any, Final

from wtforms import HiddenField
from wtforms.validators import InputRequired

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.pages.second_factor_pages import FactorAnswer, FactorPrompt
from app.hub.factors.presentation import FactorForm, FactorPresentation
from app.hub.locale import lazy_gettext as _l

_MAX_CHARACTERS: Final = 60_000


class PasskeyForm(FactorForm):
    """The browser's credential as JSON; empty if no script ran."""

    credential = HiddenField(validators=[InputRequired(_l("Turn on JavaScript to use a passkey, or try another way."))])
    wrong = _l("That passkey didn’t work. Use a different one, or try another way.")
    wrong_errors = (errors.PasskeyRefused,)
    error_field = ""  # the error belongs to the form: the field is hidden

    def to_answer(self, interaction_id: str) -> FactorAnswer:
        credential, self.credential.data = _read(self.credential.data or ""), ""
        kind, trust = FactorKind.PASSKEY, bool(self.trust.data)
        return FactorAnswer(interaction_id=interaction_id, kind=kind, credential=credential, trust=trust)


def _read(text: str) -> dict[str, Any]:
    if len(text) > _MAX_CHARACTERS:
        return {}
    try:
        credential = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return credential if isinstance(credential, dict) else {}


_OPTIONS: Final = {"challenge": "AAAA", "rpId": "acme.localhost", "timeout": 60000, "allowCredentials": []}
PRESENTATION: Final = FactorPresentation(
    kind=FactorKind.PASSKEY,
    name=_l("Passkey"),
    hint=_l("Fingerprint, face or screen lock"),
    icon="passkey",
    form=PasskeyForm,
    scripts=("passkey",),
    samples={
        "enrolled": FactorPrompt(kind=FactorKind.PASSKEY, is_enrolled=True, options=_OPTIONS),
        "to enrol": FactorPrompt(kind=FactorKind.PASSKEY, options=_OPTIONS),
    },
)
