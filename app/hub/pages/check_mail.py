"""Check your mail: the address that was written to, the code from the mail, and another mail where none came.

Nothing here differs between an address that somebody has and one that nobody has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from flask import Response, request
from flask_babel import lazy_gettext as _l
from flask_babel import lazy_ngettext as _n
from wtforms import StringField
from wtforms.validators import InputRequired

from app.contract import errors as e
from app.contract import hub as contract
from app.contract import hub_verification as verification
from app.contract.hub import Step
from app.contract.mailed import MailedTo
from app.hub import journey, visit
from app.hub.arrival import api
from app.hub.forms import HubForm
from app.hub.page import Notice, Page
from app.kit.errors import ApiError

ADDRESS: Final = "/verify"


class CodeForm(HubForm):
    """The code, as people copy it: with spaces, dashes, in the digits of any script."""

    code = StringField(_l("Code from the mail"), [InputRequired(_l("Type the code from the mail."))])

    def to_request(self) -> verification.CodeRequest:
        attempt = visit.current().attempt
        return verification.CodeRequest(attempt=attempt.id if attempt else "", code=self.code.data or "")


class WishForm(HubForm):
    """Nothing but a click."""


class Outcome(StrEnum):
    """What the page says of the last click."""

    SENT = "sent"
    WRONG = "wrong"
    UNOPENED = "unopened"
    TOO_SOON = "too soon"
    ENOUGH = "enough"
    TOO_MANY = "too many"
    TOKEN = "token"


@dataclass(frozen=True)
class CheckMailPage(Page):
    """We wrote to you."""

    template = "pages/check_mail.html"
    scripts = (*Page.scripts, "wait")
    query = {**Page.query, "sent": 8}

    form: CodeForm
    sent_to: str
    resend_in_seconds: int = 0
    outcome: Outcome | None = None

    @property
    def notice(self) -> Notice | None:
        if self.outcome is Outcome.TOO_SOON:
            return Notice(_l("A mail is on its way"), self.wait, "note")
        return _NOTICES.get(self.outcome) if self.outcome else None

    @property
    def wait(self) -> Any:
        """When the next mail may be asked for."""
        seconds = max(1, self.resend_in_seconds)
        return _n(
            "You can have another one sent in %(num)d second.",
            "You can have another one sent in %(num)d seconds.",
            seconds,
        )

    @property
    def other(self) -> str:
        """Where another address can be given."""
        attempt = visit.current().attempt
        return f"/login?attempt={attempt.id}" if attempt else "/login"

    @classmethod
    def samples(cls) -> Mapping[str, CheckMailPage]:
        empty = CodeForm()
        empty.refuse("code", _l("Type the code from the mail."))
        return {
            "fresh": cls(CodeForm(), "ada@example.com"),
            "a moment ago": cls(CodeForm(), "ada@example.com", 27),
            "a long address": cls(CodeForm(), f"{'a.very.long.name.' * 3}@{'mail.' * 9}example.com"),
            "empty": cls(empty, "ada@example.com"),
            **{
                outcome.value: cls(CodeForm(data={"code": "123 456"}), "ada@example.com", 21, outcome)
                for outcome in Outcome
            },
        }


_NOTICES: Final = {
    Outcome.SENT: Notice(_l("We sent another mail"), _l("What was in the one before no longer works."), "ok"),
    Outcome.WRONG: Notice(
        _l("That code did not work"),
        _l("Only the newest code works, and only for a few minutes. Send another mail for a new one."),
    ),
    Outcome.UNOPENED: Notice(
        _l("Not confirmed yet"), _l("Open the link in the mail first, or type the code from it."), "note"
    ),
    Outcome.ENOUGH: Notice(
        _l("That is enough mail for now"),
        _l("We sent as many as we may. Look in your spam folder too, or come back in an hour."),
    ),
    Outcome.TOO_MANY: Notice(_l("That was a lot at once"), _l("Wait a few minutes, then try again.")),
    Outcome.TOKEN: Notice(
        _l("Please send that once more"),
        _l("We could not be sure that it came from this page. Cookies have to be allowed for it to work."),
        "note",
    ),
}
_REASONS: Final[dict[type[ApiError], Outcome]] = {
    e.EmailUnverified: Outcome.UNOPENED,
    e.MailLimitReached: Outcome.ENOUGH,
    e.TooManyRequests: Outcome.TOO_MANY,
}
"""Whatever is not named here, an account's lock among them, says no more than that the code did not work."""


def show() -> Response:
    """Draw the page of an attempt that waits; one that goes on elsewhere leads there."""
    here = visit.current()
    if here.attempt is None:
        return journey.start_again()
    step = api()(contract.resume, contract.AttemptRequest(attempt=here.attempt.id))
    if step.step is not Step.CHECK_MAIL:
        return journey.follow(step)
    outcome = Outcome.SENT if request.args.get("sent") else None
    return CheckMailPage(CodeForm(), step.sent_to or "", step.resend_in_seconds, outcome).render()


def take_code() -> Response:
    """Send what was typed on."""
    form = CodeForm()
    if visit.current().attempt is None:
        return journey.start_again()
    if not form.validate():
        return _again(form)
    return _asked(form, verification.enter_code, form.to_request())


def take_opened() -> Response:
    """The link was opened, here or elsewhere: go on."""
    form, attempt = WishForm(), visit.current().attempt
    if attempt is None:
        return journey.start_again()
    if not form.validate():
        return _again(form)
    return _asked(form, verification.enter_code, verification.CodeRequest(attempt=attempt.id))


def take_wish_for_mail() -> Response:
    """Have another mail sent."""
    form, attempt = WishForm(), visit.current().attempt
    if attempt is None:
        return journey.start_again()
    if not form.validate():
        return _again(form)
    return _asked(form, verification.mail_again, verification.AgainRequest(attempt=attempt.id))


def _asked(form: HubForm, operation: Any, asked: Any) -> Response:
    try:
        step: contract.Next = api()(operation, asked)
    except ApiError as refusal:
        return _refused(form, refusal)
    if step.step is Step.CHECK_MAIL and operation is verification.mail_again:
        return journey.follow(step, sent="again")
    return journey.follow(step)


def _refused(form: HubForm, refusal: ApiError) -> Response:
    said = MailedTo.model_validate(refusal.data or {})
    outcome = next((reason for kind, reason in _REASONS.items() if isinstance(refusal, kind)), Outcome.WRONG)
    if outcome is Outcome.TOO_MANY and said.resend_in_seconds and isinstance(form, WishForm):
        outcome = Outcome.TOO_SOON
    shown = form if isinstance(form, CodeForm) else CodeForm(formdata=None)
    response = CheckMailPage(shown, said.sent_to, said.resend_in_seconds, outcome).render(refusal.status)
    if refusal.retry_after_seconds:
        response.headers["Retry-After"] = str(refusal.retry_after_seconds)
    return response


def _again(form: HubForm) -> Response:
    """Draw the page after a form that was not complete, or not ours."""
    attempt = visit.current().attempt
    if attempt is None:
        return journey.start_again()
    step = api()(contract.resume, contract.AttemptRequest(attempt=attempt.id))
    if step.step is not Step.CHECK_MAIL:
        return journey.follow(step)
    shown = form if isinstance(form, CodeForm) else CodeForm(formdata=None)
    outcome = Outcome.TOKEN if form.is_token_refused else None
    return CheckMailPage(shown, step.sent_to or "", step.resend_in_seconds, outcome).render(form.refusal_status)
