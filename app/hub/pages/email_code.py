"""The code that confirms an email address of the account: typed here, or sent again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response, request
from wtforms import HiddenField

from app.contract import errors as e
from app.contract import hub_self_service as contract
from app.contract.mailed import MailedTo
from app.hub import journey, oidc_client
from app.hub.forms import code
from app.hub.forms.base import HubForm
from app.hub.forms.code import AGAIN, CodePage, Outcome
from app.hub.pages import pages
from app.hub.pages.profile import read_own_profile
from app.hub.services import api
from app.kit.errors import ApiError

CODE: Final = "/emails/confirm"
LIST: Final = "/emails"
_CONFIRMED: Final = f"{LIST}?done=added"
_MOST_LETTERS: Final = 320
_GONE: Final = (e.EmailNotOnProfile, e.EmailVerificationOff, e.MalformedEmail)


class CodeForm(code.CodeForm):
    """The code from the mail."""

    email = HiddenField()

    def to_request(self) -> contract.EmailCode:
        return contract.EmailCode(email=_address(self), code=(self.code.data or "")[:64])


class AgainForm(code.ButtonForm):
    """Another mail, please."""

    email = HiddenField()

    def to_request(self) -> contract.EmailNamed:
        return contract.EmailNamed(email=_address(self))


@dataclass(frozen=True)
class EmailCodePage(CodePage):
    """Look into the mail of the address."""

    template = "pages/email_code.html"
    query = {**CodePage.query, "email": _MOST_LETTERS}

    @property
    def address(self) -> str:
        """Where the form is sent: this page's own address, so that it can be read in another language after all."""
        return address(self.sent_to)

    @classmethod
    def samples(cls) -> Mapping[str, EmailCodePage]:
        mail, said = "countess@example.org", [Outcome.SENT, Outcome.WRONG, Outcome.TOO_SOON, Outcome.ENOUGH]
        return {
            "sent": cls(CodeForm(), mail),
            "a moment ago": cls(CodeForm(), mail, resend_in_seconds=27),
            "a long address": cls(CodeForm(), f"{'countess.of.' * 4}lovelace@example.org"),
            "empty": cls(code.sample_empty_form(), mail),
            "token": cls(code.sample_filled_form().with_token_error(), mail),
            **{one.value: cls(code.sample_filled_form(), mail, False, 21, one) for one in said},
        }


def address(email: str, **more: str) -> str:
    """Return where the code for an address is typed."""
    return f"{CODE}?{urlencode({'email': email, **more}, errors='replace')}"


@pages.get(CODE)
def show_email_code() -> Response:
    """The page that waits for the code, in whichever browser: the service knows which addresses wait."""
    known, wanted = read_own_profile(with_addresses=True), request.args.get("email", "").lower()
    if known is None:
        return oidc_client.start_login(LIST)
    waits = next((one for one in known.addresses if one.can_resend and one.email.lower() == wanted), None)
    if waits is None:
        return journey.redirect_to(LIST)
    outcome = Outcome.SENT if request.args.get("sent") else None
    return EmailCodePage(CodeForm(formdata=None), waits.email, False, waits.resend_in_seconds, outcome).render()


@pages.post(CODE)
def submit_email_code() -> Response:
    """Take the code, or send another mail."""
    form: Any = AgainForm() if request.form.get("do") == AGAIN else CodeForm()
    if not form.validate():
        return _drawn_again(form, None, form.error_status)
    operation: Any = contract.mail_email_again if isinstance(form, AgainForm) else contract.confirm_email
    try:
        api()(operation, form.to_request())
    except e.NotAuthenticated:
        return oidc_client.start_login(LIST)
    except e.EmailVerifiedBefore:
        return journey.redirect_to(_CONFIRMED)
    except _GONE:
        return journey.redirect_to(LIST)
    except ApiError as refusal:
        return _refused(form, refusal)
    return journey.redirect_to(address(_address(form), sent=AGAIN) if isinstance(form, AgainForm) else _CONFIRMED)


def _refused(form: HubForm, refusal: ApiError) -> Response:
    if isinstance(form, AgainForm) and not isinstance(refusal, (e.TooManyRequests, e.MailLimitReached)):
        return journey.redirect_to(f"{LIST}?done=not_sent")
    left = MailedTo.model_validate(refusal.data or {}).resend_in_seconds
    response = _drawn_again(form, code.outcome_for(form, refusal), refusal.status, left)
    if refusal.retry_after_seconds:
        response.headers["Retry-After"] = str(refusal.retry_after_seconds)
    return response


def _drawn_again(form: Any, outcome: Outcome | None, status: int, left: int = 0) -> Response:
    """Draw the page with the address that it showed, so that nobody is asked for it: an address, and no words of others."""
    shown = _address(form)
    if not re.fullmatch(r"[^\s@]+@[^\s@]+", shown):
        return journey.redirect_to(LIST)
    return EmailCodePage(code.redisplayed(form), shown, False, left, outcome).render(status)


def _address(form: Any) -> str:
    return str(form.email.data or "")[:_MOST_LETTERS]
