"""Wait for the verification of an address or number: take the code, or resend the message.

The page answers known and unknown addresses alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Response

from app.contract.page_models import InteractionOnly, SentTo
from app.contract.step_reasons import Channel
from app.contract.steps import CheckMailStep, StepResponse
from app.contract.verification import verification_pages
from app.hub import journey
from app.hub.forms.code import (
    LINK_CLOSED,
    ButtonForm,
    CodeForm,
    CodePage,
    CodePageNotice,
    code_notice_for,
    redisplayed,
    sample_empty_form,
    sample_filled_form,
)
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import with_retry_after
from app.hub.web.services import api
from app.hub.web.visit import current_visit, interaction_url
from app.kit.operations.errors import ApiError

PATH: Final = "/verify"
WAITING: Final = "/verify/waiting"
CHANGE: Final = "/change-address"


@dataclass(frozen=True)
class CheckMailPage(CodePage):
    """A verification message was sent."""

    template = "pages/registration/check_mail.html"

    can_change: bool = False
    """Whether this browser registered and may correct the address or number."""

    @property
    def minutes(self) -> int:
        """How long the code works."""
        return verification_pages.CODE_MINUTES

    @property
    def polls(self) -> str:
        return interaction_url(WAITING)

    @property
    def other(self) -> str:
        """The address of the page that takes another address or number."""
        page = CHANGE if self.can_change else "/login"
        return interaction_url(page)

    @classmethod
    def samples(cls) -> Mapping[str, CheckMailPage]:
        mail, number = "ada@example.com", "+44 20 7946 0018"
        return {
            "fresh": cls(CodeForm(), mail, can_change=True, number="47"),
            "at a webmail service": cls(CodeForm(), "ada@gmail.com", False, 27, number="47", can_change=True),
            "after a sign-in": cls(CodeForm(), mail),
            "link only": cls(CodeForm(), mail, number="47", carries="link"),
            "link only, not opened": cls(CodeForm(), mail, False, 21, CodePageNotice.UNOPENED, "47", carries="link"),
            "code only": cls(CodeForm(), mail, carries="otp"),
            "token": cls(sample_filled_form().with_token_error(), mail, can_change=True),
            "a moment ago": cls(CodeForm(), mail, resend_in_seconds=27),
            "a long address": cls(CodeForm(), f"{'a.very.long.name.' * 3}@{'mail.' * 9}example.com"),
            "empty": cls(sample_empty_form(), mail),
            **{code_notice.value: cls(sample_filled_form(), mail, False, 21, code_notice) for code_notice in _BY_MAIL},
            "to a phone": cls(CodeForm(), number, is_text=True, can_change=True),
            "to a phone, a moment ago": cls(CodeForm(), number, True, 27),
            "to a phone, empty": cls(sample_empty_form(), number, True),
            **{
                f"to a phone, {code_notice.value}": cls(sample_filled_form(), number, True, 21, code_notice)
                for code_notice in _BY_TEXT
            },
        }


_BY_MAIL: Final = [
    code_notice
    for code_notice in CodePageNotice
    if code_notice not in (CodePageNotice.TAKEN, CodePageNotice.CLOSED, CodePageNotice.NO_TEXTS)
]
_BY_TEXT: Final = [
    code_notice for code_notice in CodePageNotice if code_notice not in (CodePageNotice.UNOPENED, CodePageNotice.CLOSED)
]


def show() -> Response:
    """Render the page of a waiting interaction; redirect any other to its step."""
    response = journey.present_step()
    if not isinstance(response.step, CheckMailStep):
        return journey.follow(response)
    code_notice = CodePageNotice.SENT if current_visit().query.get("sent") else None
    return _page(CodeForm(), response.step, code_notice).render()


def submit_code() -> Response:
    """Verify the typed code."""
    form, interaction = CodeForm(), journey.require_interaction()
    if not form.validate():
        return _render_invalid(form)
    typed = (form.code.data or "")[:64]
    return _call(
        form,
        verification_pages.enter_code,
        verification_pages.OptionalCodeRequest(interaction_id=interaction.id, code=typed),
    )


def waiting_state() -> str:
    """Return the state as one word for the page's script."""
    if current_visit().interaction is None:
        return LINK_CLOSED
    step = journey.present_step().step
    return step.state if isinstance(step, CheckMailStep) else LINK_CLOSED


def submit_link_opened() -> Response:
    """Continue after the emailed link was opened in this browser, or in another browser with the number of this page."""
    form, interaction = ButtonForm(), journey.require_interaction()
    if not form.validate():
        return _render_invalid(form)
    return _call(
        form, verification_pages.enter_code, verification_pages.OptionalCodeRequest(interaction_id=interaction.id)
    )


def submit_resend() -> Response:
    """Resend the message."""
    form, interaction = ButtonForm(), journey.require_interaction()
    if not form.validate():
        return _render_invalid(form)
    return _call(form, verification_pages.mail_again, InteractionOnly(interaction_id=interaction.id))


def _call(form: HubForm, operation: Any, body: Any) -> Response:
    try:
        response: StepResponse = api()(operation, body)
    except ApiError as refusal:
        return _refused(form, refusal)
    if isinstance(response.step, CheckMailStep) and operation is verification_pages.mail_again:
        return journey.follow(response, sent="again")
    return journey.follow_home(response) if operation is verification_pages.enter_code else journey.follow(response)


def _refused(form: HubForm, refusal: ApiError) -> Response:
    mailed = SentTo.model_validate(refusal.data or {})
    is_text, code_notice = mailed.channel is Channel.SMS, code_notice_for(form, refusal)
    number, can_change = "" if is_text else mailed.number, mailed.can_change
    page = CheckMailPage(
        redisplayed(form), mailed.sent_to, is_text, mailed.resend_in_seconds, code_notice, number,
        can_change=can_change, carries=mailed.carries,
    )  # fmt: skip
    return with_retry_after(page.render(refusal.status), refusal)


def _render_invalid(form: HubForm) -> Response:
    """Render the page after an incomplete form or an invalid form token."""
    response = journey.present_step()
    if not isinstance(response.step, CheckMailStep):
        return journey.follow(response)
    return _page(redisplayed(form), response.step, None).render(form.error_status)


def _page(form: CodeForm, step: CheckMailStep, code_notice: CodePageNotice | None) -> CheckMailPage:
    is_text = step.channel is Channel.SMS
    number = "" if is_text else step.number
    return CheckMailPage(
        form, step.sent_to, is_text, step.resend_in_seconds, code_notice, number,
        can_change=step.can_change, carries=step.carries,
    )  # fmt: skip
