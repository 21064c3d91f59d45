"""PIN reset by the answers to security questions.

The page asks all of the tenant's questions, so that it does not reveal which ones an account has answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Response

from app.contract import errors
from app.contract.pins import pin_pages
from app.contract.pins.settings import Pins
from app.hub import journey
from app.hub.components.sign_in_refusals import RefusalReason, sign_in_notice, too_many_notice
from app.hub.forms.identifier import IdentifierForm, identifier_attributes
from app.hub.forms.pin import PinForm, pin_hint
from app.hub.forms.security_questions import SecurityAnswersForm
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import pages
from app.hub.rendering.page import Notice, Page
from app.hub.tenants.tenant import IdentifierKind
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/forgot-pin/questions"
_WRONG: Final = Notice(_l("Wrong account or answers"), _l("Answer only the questions you set up."))


class PinAnswersForm(SecurityAnswersForm, IdentifierForm, PinForm):
    """The identifier, the answers and the new PIN."""

    def to_request(self) -> pin_pages.PinByAnswers:
        answers = {question: text for question, text in self.typed.items() if text.strip()}
        answered = dict(list(answers.items())[:10])
        return pin_pages.PinByAnswers(
            identifier=(self.identifier.data or "")[:320], answers=answered, pin=(self.pin.data or "")[:64]
        )


@dataclass(frozen=True)
class PinQuestionsPage(Page):
    """Asks for the answers and a new PIN."""

    template = "pages/recovery/pin_questions.html"
    scripts = (*Page.scripts, "reveal")
    refusals = {errors.TooManyRequests: too_many_notice, ApiError: _WRONG}

    form: PinAnswersForm
    rule: Any
    identifiers: tuple[IdentifierKind, ...] = (IdentifierKind.EMAIL,)

    @property
    def attributes(self) -> dict[str, str]:
        """The identifier field's HTML attributes for keyboards and password managers."""
        return identifier_attributes(self.identifiers)

    @classmethod
    def samples(cls) -> Mapping[str, PinQuestionsPage]:
        questions = (("pet", "What was the name of your first pet?"), ("town", "In which town did you grow up?"))
        rule, short = pin_hint(Pins()), PinAnswersForm.of(questions, data={"identifier": "ada@example.com"})
        short.add_refusal(errors.BadParameter())
        return {
            "fresh": cls(PinAnswersForm.of(questions), rule),
            "wrong": cls(PinAnswersForm.of(questions), rule, page_notice=_WRONG),
            "refused": cls(short, rule),
            "too many": cls(
                PinAnswersForm.of(questions), rule, page_notice=sign_in_notice(RefusalReason.TOO_MANY, 840)
            ),
        }


@pages.get(PATH)
def show_pin_questions() -> Response:
    journey.refuse_expired_interaction()
    return _redirect_if_unavailable() or journey.open_here_for_workflow() or _page(_form()).render()


@pages.post(PATH)
def submit_pin_questions() -> Response:
    journey.refuse_unknown_interaction()
    if (redirect := _redirect_if_unavailable()) is not None:
        return redirect
    form = _form()
    if not form.validate():
        return _page(form).render(form.error_status)
    try:
        api()(pin_pages.by_answers, form.to_request())
    except ApiError as refusal:
        return _page(form).render_refusal(refusal)
    return redirect_to("/reset-pin?done=1")


def _redirect_if_unavailable() -> Response | None:
    """Return a redirect if the tenant has no PINs or no security questions; else None."""
    tenant = current_visit().tenant
    if not tenant.pin.is_on:
        return redirect_to("/login")
    return None if tenant.every_question else redirect_to("/forgot-pin")


def _form() -> PinAnswersForm:
    tenant = current_visit().tenant
    return PinAnswersForm.of(tenant.every_question).accept_identifiers(tenant.identifiers)


def _page(form: PinAnswersForm) -> PinQuestionsPage:
    tenant = current_visit().tenant
    return PinQuestionsPage(form, pin_hint(tenant.pin), tenant.identifiers)
