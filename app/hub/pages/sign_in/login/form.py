"""The login form: identifier, password, and the answer that unlocks a locked sign-in."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from wtforms import BooleanField, Field, HiddenField, PasswordField, StringField
from wtforms.validators import InputRequired, StopValidation

from app.contract import errors
from app.contract.captcha.models import CaptchaChallenge, LockChallenge
from app.contract.sign_in import sign_in_pages
from app.hub.forms import captcha
from app.hub.forms.captcha import CaptchaField
from app.hub.forms.carried_password import TypedPassword, decrypt, encrypt, typed_now
from app.hub.forms.identifier import IdentifierForm
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import HubForm
from app.hub.tenants.tenant import IdentifierKind
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

WRONG_ANSWER: Final = _l("Wrong answer.")
_UNANSWERED: Final = _l("Answer this question, too.")
EXPIRED: Final = _l("This check has expired.")


class FormStep(StrEnum):
    """What the page of an identifier-first tenant asks for."""

    IDENTIFIER = "identifier"
    PASSWORD = "password"


class MethodChoiceForm(HubForm):
    """The choice of another method or page on the login page, with the typed identifier."""

    identifier = StringField()
    to = StringField()


class _RequiredWhereAsked(InputRequired):
    """Requires the password, typed or encrypted, unless the form is the first of two steps."""

    def __call__(self, form: Any, field: Field) -> None:
        if form.is_identifier_alone or field.data:
            return
        if form.carried_password.data:
            raise StopValidation(EXPIRED)
        super().__call__(form, field)


class LoginForm(IdentifierForm):
    """Identifier, password, and captcha or security answer."""

    first_fields: tuple[str, ...] = ("identifier", "password")
    password = PasswordField(_l("Password"), [_RequiredWhereAsked(_l("Enter your password."))])
    carried_password = HiddenField()
    """The password that was typed before the captcha, encrypted."""
    captcha = CaptchaField()
    security_answer = StringField()
    security_question = HiddenField()
    remember = BooleanField(_l("Keep me signed in"))
    connects = HiddenField()
    direct = HiddenField()
    """Whether the page leads to no provider, because one just led back to it."""
    step = HiddenField()
    """The step of an identifier-first page, as its form or address names it."""
    shows_question = False
    _carried: TypedPassword | None = None
    refusals = {
        errors.LockedForSecurityQuestion: ("security_answer", _UNANSWERED),
        errors.WrongQuestionOrAnswer: ("security_answer", WRONG_ANSWER),
    }
    """Of a form that showed the challenge of a lock already."""
    request: sign_in_pages.SignInRequest

    def is_shown(self, field: Field) -> bool:
        """Return whether the reader sees a field; the security answer only with its question."""
        return super().is_shown(field) and (self.shows_question or field is not self.security_answer)

    @property
    def is_identifier_alone(self) -> bool:
        """Whether the form comes from the first of two steps. A password manager may have filled in the password there, too."""
        return self.step.data == FormStep.IDENTIFIER and not self.password.data

    def to_request(self) -> sign_in_pages.SignInRequest:
        question, answer = self.security_question.data or "", self.security_answer.data or ""
        return sign_in_pages.SignInRequest(
            interaction_id=current_visit().interaction_id,
            identifier=self.identifier.data or "",
            password=self.password.data or "",
            remember=bool(self.remember.data),
            security_answer={question: answer} if self.shows_question and answer.strip() else None,
            captcha=self.captcha.answer,
            connects=bool(self.connects.data),
            finds_connection=self.finds_connection,
        )

    @property
    def finds_connection(self) -> bool:
        """Whether an address whose domain leads to a provider goes there. A signed-in account, and one that connects, stays here."""
        visit = current_visit()
        return visit.tenant.finds_connections and not (self.direct.data or self.connects.data or visit.session)

    @property
    def is_password_expired(self) -> bool:
        """Whether the encrypted password does not count, so that the page asks for it again."""
        return EXPIRED in self.password.errors

    @property
    def encrypted_password(self) -> str:
        """The password encrypted for the page of the captcha that the form shows."""
        return encrypt(self._carried or typed_now(self.password.data or ""), *self._carried_for)

    @property
    def _carried_for(self) -> tuple[str, str]:
        return self.identifier.data or "", self.captcha.challenge.token if self.captcha.challenge else ""

    def add_refusal(self, refusal: ApiError) -> bool:
        """Add the error of the challenge's answer; return whether the refusal is about it."""
        if isinstance(refusal, errors.WrongCaptcha | errors.LockedForCaptcha):
            self.add_error(*captcha.FAILED)
            return True
        return super().add_refusal(refusal)

    def prompt(self, lock: LockChallenge, *, by_captcha: bool) -> None:
        """Show the challenge of a lock; previous answers are dropped."""
        if lock.captcha is not None or by_captcha:
            self.captcha.prompt(lock.captcha)
        if lock.question_id is not None:
            self.security_answer.data = ""
            self.show_question(lock.question_id, current_visit().tenant.security_questions)

    def show_question(self, question_id: str, questions: tuple[tuple[str, str], ...]) -> None:
        """Show one of these security questions; none if the id is unknown."""
        text = dict(questions).get(question_id)
        self.shows_question = text is not None
        self.security_question.data = question_id
        self.security_answer.label.text = text or ""

    @classmethod
    def of(cls, identifiers: tuple[IdentifierKind, ...], **form_arguments: Any) -> LoginForm:
        """Return the form for the tenant's kinds of identifiers."""
        form = cls(**form_arguments).accept_identifiers(identifiers)
        if form.security_question.data:
            form.show_question(form.security_question.data, current_visit().tenant.security_questions)
        if form.carried_password.data and not form.password.data:
            form._carried = decrypt(form.carried_password.data, *form._carried_for)
            form.password.data = form._carried.text if form._carried else ""
        return form


def locked_sample(challenge: CaptchaChallenge | None) -> LoginForm:
    """Return a sample form with this captcha, or with a security question."""
    form = LoginForm.of((IdentifierKind.EMAIL,), data={"identifier": "ada@example.com"})
    if challenge is not None:
        form.captcha.prompt(challenge)
    else:
        form.show_question("pet", (("pet", "What was the name of your first pet?"),))
    return form
