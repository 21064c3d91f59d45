"""The account's answers to security questions, which are never shown again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response

from app.contract import errors
from app.contract.accounts.pages.security_pages import AnswersEdit
from app.contract.accounts.pages.security_pages import edit_answers as operation
from app.hub.account_pages import require_reauthentication
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.components.signed_in_account import read_profile
from app.hub.forms.reauthentication import NEEDED, ReauthenticationForm, reauthentication_data
from app.hub.forms.security_questions import SecurityAnswersForm
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.rendering.page import Notice, Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/security-questions"


class AnswersForm(SecurityAnswersForm, ReauthenticationForm):
    """A field for each question, and the password if the last authentication is too old."""

    def to_request(self) -> AnswersEdit:
        return AnswersEdit(answers=self.typed)


@dataclass(frozen=True)
class SecurityQuestionsPage(Page):
    """Lists the questions and takes new answers."""

    template = "pages/security/security_questions.html"
    scripts = (*Page.scripts, "reveal")
    refusals = {
        **CHANGE_REFUSALS,
        errors.UnknownSecurityQuestion: Notice(
            _l("Nothing was changed"), _l("You can only change answers you’ve already given.")
        ),
    }

    form: AnswersForm
    answered: tuple[str, ...] = ()

    @property
    def hints(self) -> list[bool]:
        """For each question, whether it has an answer."""
        return [question in self.answered for question, _ in self.form.questions]

    @classmethod
    def samples(cls) -> Mapping[str, SecurityQuestionsPage]:
        questions = (("pet", "What was the name of your first pet?"), ("town", "In which town did you grow up?"))
        wrong = AnswersForm.of(questions, data={"reauthentication": NEEDED, "account": "ada@example.com"})
        wrong.add_refusal(errors.WrongCurrentPassword())
        return {
            "fresh": cls(AnswersForm.of(questions)),
            "answered": cls(AnswersForm.of(questions), ("pet", "town")),
            "with the password": cls(wrong, ("pet", "town")),
            "none to answer": cls(AnswersForm.of(())),
        }


@account_page(PATH)
def show_security_questions() -> Response:
    view = read_profile()
    form = AnswersForm.of(current_visit().tenant.every_question, data=reauthentication_data(view))
    require_reauthentication(view)
    return SecurityQuestionsPage(form, tuple(view.answered)).render()


@pages.post(PATH)
def submit_security_questions() -> Response:
    form = AnswersForm.of(current_visit().tenant.every_question)
    if not form.validate():
        return SecurityQuestionsPage(form).render(form.error_status)
    try:
        api(form.current_password)(operation, form.to_request())
    except ApiError as refusal:
        return SecurityQuestionsPage(form).render_refusal(refusal)
    return redirect_to("/security?done=saved")
