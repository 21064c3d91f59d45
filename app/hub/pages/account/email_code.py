"""The code that confirms a further email address of the account."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Response
from wtforms import HiddenField

from app.contract import errors
from app.contract.accounts.pages import email_and_phone_pages
from app.contract.page_models import SentTo
from app.hub.components.signed_in_account import read_profile
from app.hub.forms import code
from app.hub.forms.code import AGAIN, CodePage, CodePageNotice
from app.hub.pages import account_page, pages
from app.hub.pages.account.email_urls import EMAIL_CODE, EMAILS, email_code_url
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import with_retry_after
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

_CONFIRMED: Final = f"{EMAILS}?done=added"
_MAX_LENGTH: Final = 320
_PARTS: Final = frozenset({"link", "otp"})
_NOT_PENDING_ERRORS: Final = (errors.EmailNotOnProfile, errors.EmailVerificationOff, errors.MalformedEmail)


class EmailCodeForm(code.CodeForm):
    """The code from the mail."""

    email = HiddenField()
    carries = HiddenField()

    def to_request(self) -> email_and_phone_pages.EmailCodeRequest:
        return email_and_phone_pages.EmailCodeRequest(email=_address(self), code=(self.code.data or "")[:64])


class ResendEmailForm(code.ButtonForm):
    """Resends the mail."""

    email = HiddenField()
    carries = HiddenField()

    def to_request(self) -> email_and_phone_pages.EmailRequest:
        return email_and_phone_pages.EmailRequest(email=_address(self))


@dataclass(frozen=True)
class EmailCodePage(CodePage):
    """Asks for the code sent to an address."""

    template = "pages/account/email_code.html"
    query = {**CodePage.query, "email": _MAX_LENGTH}

    @property
    def address(self) -> str:
        """The form's action: this page's own address, so that the language links work after a post."""
        return email_code_url(self.sent_to)

    @classmethod
    def samples(cls) -> Mapping[str, EmailCodePage]:
        mail = "countess@example.org"
        code_notices = [CodePageNotice.SENT, CodePageNotice.WRONG, CodePageNotice.TOO_SOON, CodePageNotice.ENOUGH]
        return {
            "sent": cls(EmailCodeForm(), mail),
            "a moment ago": cls(EmailCodeForm(), mail, resend_in_seconds=27),
            "link only": cls(EmailCodeForm(), mail, carries="link"),
            "code only": cls(EmailCodeForm(), mail, carries="otp"),
            "a long address": cls(EmailCodeForm(), f"{'countess.of.' * 4}lovelace@example.org"),
            "empty": cls(code.sample_empty_form(), mail),
            "token": cls(code.sample_filled_form().with_token_error(), mail),
            **{
                code_notice.value: cls(code.sample_filled_form(), mail, False, 21, code_notice)
                for code_notice in code_notices
            },
        }


@account_page(EMAIL_CODE, landing=EMAILS)
def show_email_code() -> Response:
    """Render the code page in any browser of the account; the identity service knows the pending addresses."""
    view, requested = read_profile(with_emails=True), current_visit().query.get("email", "").lower()
    pending = next((entry for entry in view.addresses if entry.can_resend and entry.email.lower() == requested), None)
    if pending is None:
        return redirect_to(EMAILS)
    code_notice = CodePageNotice.SENT if current_visit().query.get("sent") else None
    form, seconds = EmailCodeForm(formdata=None), pending.resend_in_seconds
    return EmailCodePage(form, pending.email, False, seconds, code_notice, carries=pending.carries).render()


@pages.post(EMAIL_CODE)
def submit_email_code() -> Response:
    """Verify the code, or resend the mail."""
    form: Any = ResendEmailForm() if current_visit().form.get("do") == AGAIN else EmailCodeForm()
    if not form.validate():
        return _render_again(form, None, form.error_status)
    operation: Any = (
        email_and_phone_pages.resend_email if isinstance(form, ResendEmailForm) else email_and_phone_pages.confirm_email
    )
    try:
        api()(operation, form.to_request())
    except errors.EmailVerifiedBefore:
        return redirect_to(_CONFIRMED)
    except _NOT_PENDING_ERRORS:
        return redirect_to(EMAILS)
    except ApiError as refusal:
        return _refused(form, refusal)
    return redirect_to(email_code_url(_address(form), sent=AGAIN) if isinstance(form, ResendEmailForm) else _CONFIRMED)


def _refused(form: HubForm, refusal: ApiError) -> Response:
    if isinstance(form, ResendEmailForm) and not isinstance(refusal, (errors.TooManyRequests, errors.MailLimitReached)):
        return redirect_to(f"{EMAILS}?done=not_sent")
    mailed = SentTo.model_validate(refusal.data or {})
    page = _render_again(form, code.code_notice_for(form, refusal), refusal.status, mailed)
    return with_retry_after(page, refusal)


def _render_again(form: Any, code_notice: CodePageNotice | None, status: int, mailed: SentTo | None = None) -> Response:
    """Render the page for the posted address, after checking that it is an address and not injected text."""
    email = _address(form)
    if not re.fullmatch(r"[^\s@]+@[^\s@]+", email):
        return redirect_to(EMAILS)
    shown = mailed or SentTo(sent_to=email, carries=form.carries.data if form.carries.data in _PARTS else "both")
    seconds, carries = shown.resend_in_seconds, shown.carries
    return EmailCodePage(code.redisplayed(form), email, False, seconds, code_notice, carries=carries).render(status)


def _address(form: Any) -> str:
    return str(form.email.data or "")[:_MAX_LENGTH]
