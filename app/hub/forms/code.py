"""The form and the page that take a code from a mail or a text message."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Final

from app.contract import errors
from app.contract.page_models import SentTo
from app.hub.forms.code_field import OneTimeCodeField
from app.hub.forms.webmail import Webmail, webmail_of
from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_ngettext as _n
from app.hub.rendering.countdown import Countdown
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Notice, Page
from app.hub.web.errors import shown_for
from app.kit.operations.errors import ApiError

WRONG_CODE: Final = _l("Wrong or expired code. Use the newest one.")
LINK_CLOSED: Final = "over"
"""What the script of a waiting page reads once the interaction no longer waits."""
AGAIN: Final = "again"
"""Value of `do` of the resend button, and of `sent` in the address of the page after it."""
CLOSED: Final = "closed"
"""Query parameter of the page that follows a security alert: the account is closed to others."""


class CodeForm(HubForm):
    """The code that was sent."""

    first_fields: tuple[str, ...] = ("code",)
    code = OneTimeCodeField(_l("Enter the code we sent."))


class ButtonForm(HubForm):
    """A button without fields."""


class CodePageNotice(StrEnum):
    """The result of the last action, shown above the form."""

    SENT = "sent"
    WRONG = "wrong"
    UNOPENED = "unopened"
    TOO_SOON = "too soon"
    ENOUGH = "enough"
    TOO_MANY = "too many"
    TAKEN = "taken"
    CLOSED = "closed"
    NO_TEXTS = "no texts"


@dataclass(frozen=True)
class CodePage(Page):
    """Asks for the code that was sent."""

    form: HubForm
    sent_to: str
    is_text: bool = False
    """Whether it was sent by SMS, which has no link."""
    resend_in_seconds: int = 0
    code_notice: CodePageNotice | None = None
    number: str = ""
    """The number to type where the link is opened in another browser; empty if the message has no link of ours."""
    carries: str = "both"
    """What an email has: `link`, `otp` or `both`, by the tenant's template."""

    scripts: ClassVar[tuple[str, ...]] = (*Page.scripts, "wait", "code")
    query: ClassVar[dict[str, int]] = {**Page.query, "sent": 8}

    def __post_init__(self) -> None:
        if self.code_notice is CodePageNotice.WRONG and not self.form.errors:
            self.form.add_error("code", WRONG_CODE)

    @property
    def notice(self) -> Notice | None:
        if self.code_notice is CodePageNotice.TOO_SOON:
            return Notice(_l("Code sent") if self.is_text else _l("Email sent"), self.wait, "note")
        if self.code_notice is CodePageNotice.ENOUGH and self.is_text:
            return ENOUGH_TEXTS
        if self.code_notice is CodePageNotice.SENT and not self.is_text:
            return EMAIL_RESENT
        if self.code_notice is CodePageNotice.UNOPENED and self.carries == "link":
            return UNOPENED_LINK
        return _NOTICES.get(self.code_notice) or super().notice if self.code_notice else super().notice

    @property
    def wait(self) -> Any:
        return resend_hint(self.resend_in_seconds)

    @property
    def countdown(self) -> Countdown | None:
        return Countdown(self.resend_in_seconds) if self.resend_in_seconds else super().countdown

    @property
    def run(self) -> tuple[str, ...]:
        return (*self.scripts, "poll") if self.number else self.scripts

    @property
    def mailbox(self) -> Webmail | None:
        """The webmail service where the message arrives; None if unknown."""
        return None if self.is_text else webmail_of(self.sent_to)

    @property
    def polls(self) -> str:
        """The address that the script polls until the link was opened."""
        return ""


def resend_hint(seconds: int) -> Any:
    """Return the text that says when another message can be sent."""
    return _n(
        "You can resend it in %(num)d second.",
        "You can resend it in %(num)d seconds.",
        max(1, seconds),
    )


def sample_empty_form() -> CodeForm:
    """Return a sample form submitted without a code."""
    form = CodeForm()
    form.add_error("code", _l("Enter the code we sent."))
    return form


def sample_filled_form() -> CodeForm:
    """Return a sample form with a code."""
    return CodeForm(data={"code": "123 456"})


def redisplayed(form: HubForm) -> CodeForm:
    """Return the code form with its typed value, or a new one if another form of the page was sent."""
    if isinstance(form, CodeForm):
        return form
    fresh = CodeForm(formdata=None)
    return fresh.with_token_error() if form.is_token_invalid else fresh


def code_notice_for(form: HubForm, refusal: ApiError) -> CodePageNotice:
    """Return the notice of a refusal; those that could reveal the account, such as a lock, are WRONG."""
    if isinstance(refusal, errors.TooManyRequests):
        waits = SentTo.model_validate(refusal.data or {}).resend_in_seconds
        return CodePageNotice.TOO_SOON if waits and not isinstance(form, CodeForm) else CodePageNotice.TOO_MANY
    return shown_for(refusal, _REASONS) or CodePageNotice.WRONG


ENOUGH_TEXTS: Final = Notice(
    _l("Too many messages"),
    _l("Check whether the last one arrived, or try again in an hour."),
)
NO_TEXTS: Final = Notice(_l("We can’t send text messages right now"), _l("Try another way, or try again later."))
ENOUGH_MAILS: Final = Notice(
    _l("Too many emails"),
    _l("Check your spam folder, or try again in an hour."),
)
EMAIL_RESENT: Final = Notice(_l("Email resent"), _l("Only the latest email works."), "ok")
UNOPENED_LINK: Final = Notice(_l("Link not opened yet"), _l("Open the link in the email first."), "note")
"""Of an email without a code."""
_NOTICES: Final = {
    CodePageNotice.SENT: Notice(_l("Code resent"), _l("Only the latest code works."), "ok"),
    CodePageNotice.UNOPENED: Notice(
        _l("Link not opened yet"), _l("Open the link in the email first, or enter the code."), "note"
    ),
    CodePageNotice.ENOUGH: ENOUGH_MAILS,
    CodePageNotice.NO_TEXTS: NO_TEXTS,
    CodePageNotice.TOO_MANY: Notice(_l("Too many attempts"), _l("Try again in a few minutes.")),
    CodePageNotice.CLOSED: Notice(
        _l("Your account is secured"),
        _l("We signed everyone out. Reset your password to sign in again."),
        "ok",
    ),
    CodePageNotice.TAKEN: Notice(
        _l("Number already in use"),
        _l("It’s verified on another account. Use another number, or sign in to that account."),
    ),
}
_REASONS: Final[dict[type[ApiError], CodePageNotice]] = {
    errors.EmailUnverified: CodePageNotice.UNOPENED,
    errors.MailLimitReached: CodePageNotice.ENOUGH,
    errors.SmsLimitReached: CodePageNotice.ENOUGH,
    errors.SharedSmsLimitReached: CodePageNotice.ENOUGH,
    errors.NoSmsConfiguration: CodePageNotice.NO_TEXTS,
    errors.PhoneTaken: CodePageNotice.TAKEN,
}
