"""Duo, with its redirect to a page of its own."""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.pages.second_factor_pages import FactorAnswer, FactorPrompt
from app.hub.factors.presentation import FactorForm, FactorPresentation
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.page import Notice
from app.hub.web.visit import current_visit


class DuoForm(FactorForm):
    """A form without fields."""

    notices = {
        **dict.fromkeys(
            (errors.DuoFailed, errors.WrongDuoState),
            Notice(_l("Duo didn’t approve the sign-in"), _l("Try Duo again, or try another way.")),
        ),
        **dict.fromkeys(
            (errors.DuoMisconfigured, errors.DuoOff, errors.DuoNotEnrolled),
            Notice(
                _l("Duo isn’t responding"),
                _l("Try again later, or try another way."),
            ),
        ),
    }

    def to_answer(self, interaction_id: str) -> FactorAnswer:
        return FactorAnswer(interaction_id=interaction_id, kind=FactorKind.DUO)


def callback_answer(interaction_id: str = "") -> FactorAnswer:
    """Return the parameters of the redirect back from Duo."""
    code = current_visit().query.get("duo_code") or current_visit().query.get("code", "")
    state = current_visit().query.get("state", "")
    return FactorAnswer(interaction_id=interaction_id, kind=FactorKind.DUO, code=code[:1_000], state=state[:500])


PRESENTATION: Final = FactorPresentation(
    kind=FactorKind.DUO,
    name=_l("Duo"),
    hint=_l("Approve the sign-in with Duo"),
    icon="approve",
    form=DuoForm,
    samples={
        "enrolled": FactorPrompt(kind=FactorKind.DUO, is_enrolled=True),
        "to enrol": FactorPrompt(kind=FactorKind.DUO),
    },
)
