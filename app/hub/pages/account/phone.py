"""The account's phone number: add, change, confirm by a texted code, remove."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Response
from wtforms import HiddenField, StringField
from wtforms.validators import InputRequired

from app.contract import errors
from app.contract.accounts import phone_operations
from app.contract.accounts.pages import email_and_phone_pages
from app.contract.page_models import SentTo
from app.hub.account_pages import require_reauthentication
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.components.signed_in_account import read_profile
from app.hub.forms import code
from app.hub.forms.code import AGAIN, CodePage, CodePageNotice
from app.hub.forms.reauthentication import ReauthenticationForm, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Notice, Page, with_retry_after
from app.hub.tenants.tenant import IdentifierKind
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

SHOWN, CHANGE, CODE, REMOVE = "/phone", "/phone/change", "/phone/confirm", "/phone/remove"
_NUMBER: Final = re.compile(r"\+[0-9 ()/.-]{5,40}")
_SAMPLE: Final = "+44 20 7946 0018"


class PhoneNumberForm(ReauthenticationForm):
    """A new number, with the password if required."""

    own_fields = ("phone",)
    phone = StringField(
        _l("Phone number"),
        [InputRequired(_l("Enter your phone number with + and the country code."))],
        render_kw={"type": "tel", "autocomplete": "tel", "dir": "ltr"},
    )
    refusals = {
        errors.MalformedPhone: ("phone", _l("Enter a valid phone number.")),
        errors.PhoneRegistered: ("phone", _l("You’ve already added this number.")),
    }

    def to_request(self) -> email_and_phone_pages.PhoneRequest:
        return email_and_phone_pages.PhoneRequest(phone=self.phone.data or "")


class PhoneCodeForm(code.CodeForm):
    """The texted code."""

    def to_request(self) -> email_and_phone_pages.PhoneCodeRequest:
        return email_and_phone_pages.PhoneCodeRequest(code=(self.code.data or "")[:64])


class ResendPhoneCodeForm(code.ButtonForm):
    """Resends the message."""

    phone = HiddenField()

    def to_request(self) -> email_and_phone_pages.PhoneRequest:
        return email_and_phone_pages.PhoneRequest(phone=(self.phone.data or "")[:64])


class RemovePhoneForm(ReauthenticationForm):
    """Confirms the removal."""


_ONLY_IDENTIFIER: Final = Notice(_l("Your only way to sign in"), _l("Add an email before removing the number."))


@dataclass(frozen=True)
class PhonePage(Page):
    """Shows the number with its actions."""

    template = "pages/account/phone.html"
    own_rules = ("menu",)
    scripts = (*Page.scripts, "menu")
    query = {"done": 8}

    number: str = ""
    is_confirmed: bool = False
    pending: str = ""
    """A number that waits for its code; empty if none."""
    done: str = ""

    @property
    def notice(self) -> Notice | None:
        return _DONE.get(self.done)

    @classmethod
    def samples(cls) -> Mapping[str, PhonePage]:
        return {
            "none": cls(),
            "none, and one is asked for": cls(pending=_SAMPLE),
            "confirmed": cls(_SAMPLE, is_confirmed=True),
            "not confirmed": cls(_SAMPLE),
            "another is asked for": cls(_SAMPLE, is_confirmed=True, pending="+4930 123456"),
            "just saved": cls(_SAMPLE, is_confirmed=True, done="saved"),
            "just removed": cls(done="removed"),
        }


_DONE: Final = {
    "saved": Notice(_l("Phone verified"), _l("You can now sign in with it."), "ok"),
    "removed": Notice(_l("Phone number removed"), _l("You can no longer sign in with it."), "ok"),
}


@dataclass(frozen=True)
class ChangePhonePage(Page):
    """Asks for a number."""

    template = "pages/account/change_phone.html"
    scripts = (*Page.scripts, "reveal")
    refusals = CHANGE_REFUSALS

    form: PhoneNumberForm

    @classmethod
    def samples(cls) -> Mapping[str, ChangePhonePage]:
        wrong, own = PhoneNumberForm(data={"phone": "12"}), PhoneNumberForm(data={"phone": _SAMPLE})
        wrong.add_refusal(errors.MalformedPhone())
        own.add_refusal(errors.PhoneRegistered())
        pending = PhoneNumberForm(data={"phone": _SAMPLE, "account": "ada@example.com"})
        pending.add_refusal(errors.WrongCurrentPassword())
        common = {"phone": _SAMPLE}
        return {
            "fresh": cls(PhoneNumberForm()),
            "no number": cls(wrong),
            "one's own": cls(own),
            "with the password": cls(pending),
            "enough messages": cls(PhoneNumberForm(data=common), page_notice=CHANGE_REFUSALS[errors.SmsLimitReached]),
            "no messages": cls(PhoneNumberForm(data=common), page_notice=CHANGE_REFUSALS[errors.NoSmsConfiguration]),
            "locked": cls(PhoneNumberForm(data=common), page_notice=CHANGE_REFUSALS[errors.LockedForAWhile]),
        }


@dataclass(frozen=True)
class PhoneCodePage(CodePage):
    """Asks for the texted code."""

    template = "pages/account/phone_code.html"
    is_text: bool = True

    address = CODE

    @classmethod
    def samples(cls) -> Mapping[str, PhoneCodePage]:
        code_notices = [
            CodePageNotice.SENT,
            CodePageNotice.WRONG,
            CodePageNotice.TOO_SOON,
            CodePageNotice.ENOUGH,
            CodePageNotice.TOO_MANY,
            CodePageNotice.TAKEN,
        ]
        return {
            "fresh": cls(PhoneCodeForm(), _SAMPLE),
            "empty": cls(code.sample_empty_form(), _SAMPLE),
            "token": cls(code.sample_filled_form().with_token_error(), _SAMPLE),
            "a moment ago": cls(PhoneCodeForm(), _SAMPLE, resend_in_seconds=27),
            **{
                code_notice.value: cls(code.sample_filled_form(), _SAMPLE, True, 21, code_notice)
                for code_notice in code_notices
            },
        }


@dataclass(frozen=True)
class RemovePhonePage(Page):
    """Asks to confirm the removal."""

    template = "pages/account/remove_phone.html"
    scripts = (*Page.scripts, "reveal")
    refusals = {**CHANGE_REFUSALS, errors.NotProcessable: _ONLY_IDENTIFIER}

    form: RemovePhoneForm

    @classmethod
    def samples(cls) -> Mapping[str, RemovePhonePage]:
        pending = RemovePhoneForm(data={"account": "ada@example.com"})
        pending.add_refusal(errors.WrongCurrentPassword())
        return {
            "fresh": cls(RemovePhoneForm()),
            "with the password": cls(pending),
            "only name": cls(RemovePhoneForm(), page_notice=_ONLY_IDENTIFIER),
        }


@account_page(SHOWN)
def show_phone() -> Response:
    view = read_profile(with_requested_phone=True)
    if not _has_phone_login():
        return redirect_to("/profile")
    is_confirmed, done = bool(view.profile.get("PhoneIdVerified")), current_visit().query.get("done", "")
    return PhonePage(view.phone or "", is_confirmed, view.requested_phone or "", done).render()


@account_page(CHANGE)
def show_change_phone() -> Response:
    view = read_profile()
    if not _has_phone_login():
        return redirect_to("/profile")
    unconfirmed = "" if view.profile.get("PhoneIdVerified") else view.phone or ""
    page = ChangePhonePage(PhoneNumberForm(data={"phone": unconfirmed, **reauthentication_data(view)}))
    require_reauthentication(view)
    return page.render()


@pages.post(CHANGE)
def submit_change_phone() -> Response:
    form = PhoneNumberForm()
    if not form.validate():
        return ChangePhonePage(form).render(form.error_status)
    try:
        api(form.current_password)(email_and_phone_pages.request_phone_change, form.to_request())
    except ApiError as refusal:
        return ChangePhonePage(form).render_refusal(refusal)
    return redirect_to(CODE)


@account_page(CODE, landing=SHOWN)
def show_phone_code() -> Response:
    """Render the code page in any browser of the account; the identity service knows the pending number."""
    view = read_profile(with_requested_phone=True)
    if not view.requested_phone:
        return redirect_to(SHOWN)
    code_notice = CodePageNotice.SENT if current_visit().query.get("sent") else None
    resend_seconds = view.resend_in_seconds
    return PhoneCodePage(PhoneCodeForm(formdata=None), view.requested_phone, True, resend_seconds, code_notice).render()


@pages.post(CODE)
def submit_phone_code() -> Response:
    """Verify the code, or resend the message."""
    form: Any = ResendPhoneCodeForm() if current_visit().form.get("do") == AGAIN else PhoneCodeForm()
    if not form.validate():
        return _render_code_page(form, None, form.error_status)
    operation: Any = (
        email_and_phone_pages.resend_phone_code
        if isinstance(form, ResendPhoneCodeForm)
        else email_and_phone_pages.confirm_phone
    )
    try:
        api()(operation, form.to_request())
    except (errors.NoPhoneOnProfile, errors.PhoneRegistered):
        return redirect_to(SHOWN)  # another tab changed or confirmed the number
    except ApiError as refusal:
        resend_seconds = SentTo.model_validate(refusal.data or {}).resend_in_seconds
        return with_retry_after(
            _render_code_page(form, code.code_notice_for(form, refusal), refusal.status, resend_seconds), refusal
        )
    return redirect_to(f"{CODE}?sent={AGAIN}" if isinstance(form, ResendPhoneCodeForm) else f"{SHOWN}?done=saved")


@account_page(REMOVE)
def show_remove_phone() -> Response:
    view = read_profile()
    if not (view.phone and _has_phone_login()):
        return redirect_to(SHOWN)
    require_reauthentication(view)
    return RemovePhonePage(RemovePhoneForm(data=reauthentication_data(view))).render()


@pages.post(REMOVE)
def submit_remove_phone() -> Response:
    form = RemovePhoneForm()
    if not form.validate():
        return RemovePhonePage(form).render(form.error_status)
    try:
        api(form.current_password)(phone_operations.remove, phone_operations.RemovePhone())
    except (errors.NoPhoneOnProfile, errors.NoPhoneRegistered):
        return redirect_to(f"{SHOWN}?done=removed")  # a double submit: already removed
    except ApiError as refusal:
        return RemovePhonePage(form).render_refusal(refusal)
    return redirect_to(f"{SHOWN}?done=removed")


def _has_phone_login() -> bool:
    """Return whether the tenant allows sign-in by phone number."""
    return IdentifierKind.PHONE in current_visit().tenant.identifiers


def _render_code_page(
    form: HubForm, code_notice: CodePageNotice | None, status: int, resend_seconds: int = 0
) -> Response:
    """Render the page for the posted number, after checking that it is a number and not injected text."""
    number = current_visit().form.get("phone", "")
    if not _NUMBER.fullmatch(number):
        return redirect_to(CODE)
    return PhoneCodePage(code.redisplayed(form), number, True, resend_seconds, code_notice).render(status)
