"""The account's email addresses: add, remove, choose the primary one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from flask import Response
from wtforms import EmailField, HiddenField
from wtforms.validators import InputRequired

from app.contract import errors
from app.contract.accounts.pages import email_and_phone_pages
from app.contract.accounts.self_service_operations import RemoveEmail, remove_email
from app.contract.messages.short_link_paths import ALERT_LINK_DAYS
from app.hub.account_pages import ReauthenticationRequired, require_reauthentication
from app.hub.client.identity_client import SignInRequired
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.components.signed_in_account import read_profile
from app.hub.forms.code import resend_hint
from app.hub.forms.reauthentication import ReauthenticationForm, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.pages.account.email_forms import PrimaryEmailForm
from app.hub.pages.account.email_urls import EMAILS, email_code_url
from app.hub.rendering.page import Notice, Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

ADD, CHANGE = "/emails/add", "/emails/change"
REMOVE, PRIMARY = "remove", "primary"


class AddEmailForm(ReauthenticationForm):
    """A new address, with the password if required."""

    own_fields = ("email",)
    email = EmailField(
        _l("New email"),
        [InputRequired(_l("Enter an email."))],
        render_kw={"autocomplete": "email", "spellcheck": "false"},
    )
    refusals = {
        errors.MalformedEmail: ("email", _l("Enter a valid email address.")),
        errors.EmailTaken: ("email", _l("You’ve already added this email.")),
        errors.EmailRefused: ("email", _l("This email can’t be used here. Use another one.")),
        errors.EmailDomainRefused: ("email", _l("Emails from this domain can’t be used here. Use another one.")),
    }

    def to_request(self) -> email_and_phone_pages.EmailRequest:
        return email_and_phone_pages.EmailRequest(email=self.email.data or "")


class ChangeEmailForm(ReauthenticationForm):
    """Confirms the removal or the new primary address."""

    address = HiddenField()
    action = HiddenField()

    def to_request(self) -> email_and_phone_pages.EmailRequest:
        return email_and_phone_pages.EmailRequest(email=self.address.data or "")


@dataclass(frozen=True)
class EmailRow:
    """An address in the list."""

    email: str
    is_first: bool = False
    is_confirmed: bool = True
    is_pending: bool = False
    """Whether the address is added only once confirmed."""
    can_resend: bool = False
    resend_in_seconds: int = 0

    @property
    def wait(self) -> Any:
        return resend_hint(self.resend_in_seconds)

    @property
    def code_page(self) -> str:
        return email_code_url(self.email)


@dataclass(frozen=True)
class EmailsPage(Page):
    """Lists the addresses with their actions."""

    template = "pages/account/emails.html"
    own_rules = ("menu",)
    scripts = (*Page.scripts, "wait", "menu")
    query = {"done": 8}

    form: PrimaryEmailForm
    addresses: tuple[EmailRow, ...]
    done: str = ""

    @property
    def notice(self) -> Notice | None:
        return super().notice or _DONE.get(self.done)

    @property
    def confirmed_count(self) -> int:
        """The number of addresses that belong to the account already."""
        return sum(not address.is_pending for address in self.addresses)

    @classmethod
    def samples(cls) -> Mapping[str, EmailsPage]:
        new = EmailRow("ada@example.com", is_first=True, is_confirmed=False, can_resend=True)
        pending = EmailRow("countess@example.org", is_confirmed=False, is_pending=True, can_resend=True)
        first = EmailRow("ada@example.com", is_first=True)
        long_address = EmailRow(f"{'countess.of.' * 4}lovelace@example.org")
        return {
            "one": cls(PrimaryEmailForm(), (first,)),
            "three": cls(PrimaryEmailForm(), (first, EmailRow("countess@example.org"), long_address)),
            "not confirmed": cls(PrimaryEmailForm(), (new,)),
            "not confirmed, a moment ago": cls(PrimaryEmailForm(), (replace(new, resend_in_seconds=27),)),
            "not to be confirmed": cls(PrimaryEmailForm(), (replace(new, can_resend=False),)),
            "one is asked for": cls(PrimaryEmailForm(), (first, pending)),
            "all kinds": cls(
                PrimaryEmailForm(), (first, replace(new, email=long_address.email, is_first=False), pending)
            ),
            "none": cls(PrimaryEmailForm(), ()),
            **{done: cls(PrimaryEmailForm(), (first, EmailRow("countess@example.org")), done) for done in _DONE},
        }


_DONE: Final = {
    "added": Notice(_l("Email verified"), _l("It’s now part of your account."), "ok"),
    "not_sent": CHANGE_REFUSALS[errors.EmailNotAddable],
    REMOVE: Notice(_l("Email removed"), _l("We sent you an email about it."), "ok"),
    PRIMARY: Notice(_l("Primary email changed"), _l("We sent a notice to your previous primary email."), "ok"),
}


@dataclass(frozen=True)
class AddEmailPage(Page):
    """Adds an address."""

    template = "pages/account/add_email.html"
    scripts = (*Page.scripts, "reveal")
    refusals = CHANGE_REFUSALS

    form: AddEmailForm

    @classmethod
    def samples(cls) -> Mapping[str, AddEmailPage]:
        wrong = AddEmailForm(data={"email": "ada"})
        wrong.add_refusal(errors.MalformedEmail())
        pending = AddEmailForm(data={"email": "countess@example.org", "account": "ada@example.com"})
        pending.add_refusal(errors.WrongCurrentPassword())
        return {
            "fresh": cls(AddEmailForm()),
            "refused": cls(wrong),
            "with the password": cls(pending),
            "enough mail": cls(
                AddEmailForm(data={"email": "a@b.example"}), page_notice=CHANGE_REFUSALS[errors.MailLimitReached]
            ),
            "not confirmed": cls(
                AddEmailForm(data={"email": "a@b.example"}), page_notice=CHANGE_REFUSALS[errors.EmailNotAddable]
            ),
        }


@dataclass(frozen=True)
class ChangeEmailPage(Page):
    """Asks to confirm the change."""

    template = "pages/account/change_email.html"
    scripts = (*Page.scripts, "reveal")
    refusals = CHANGE_REFUSALS

    form: ChangeEmailForm
    days: int = field(default_factory=lambda: ALERT_LINK_DAYS)
    """How long the mailed link undoes the change."""

    @classmethod
    def samples(cls) -> Mapping[str, ChangeEmailPage]:
        common = {"address": "countess@example.org", "account": "ada@example.com"}
        pending = ChangeEmailForm(data={**common, "action": REMOVE})
        pending.add_refusal(errors.WrongCurrentPassword())
        return {
            "remove": cls(ChangeEmailForm(data={**common, "action": REMOVE})),
            "remove with the password": cls(pending),
            "undone within a day": cls(ChangeEmailForm(data={**common, "action": REMOVE}), days=1),
            "make first": cls(ChangeEmailForm(data={**common, "action": PRIMARY})),
            "only one": cls(
                ChangeEmailForm(data={**common, "action": REMOVE}), page_notice=CHANGE_REFUSALS[errors.LastEmail]
            ),
        }


@account_page(EMAILS)
def show_emails() -> Response:
    return _render_list(PrimaryEmailForm(formdata=None))


@pages.post(EMAILS)
def choose_email() -> Response:
    """Ask to confirm the chosen action, without an API call."""
    form, action = PrimaryEmailForm(), current_visit().form.get("action", "")
    if not form.validate() or action not in (REMOVE, PRIMARY):
        return _render_list(form, form.error_status)
    provided = {name: (form[name].data or "")[:320] for name in ("address", "reauthentication", "account")}
    return ChangeEmailPage(ChangeEmailForm(formdata=None, data={**provided, "action": action})).render()


@account_page(ADD)
def show_add_email() -> Response:
    view = read_profile()
    require_reauthentication(view)
    return AddEmailPage(AddEmailForm(data=reauthentication_data(view))).render()


@pages.post(ADD)
def submit_add_email() -> Response:
    form = AddEmailForm()
    if not form.validate():
        return AddEmailPage(form).render(form.error_status)
    try:
        api(form.current_password)(email_and_phone_pages.add_email, form.to_request())
    except ApiError as refusal:
        return AddEmailPage(form).render_refusal(refusal)
    return redirect_to(email_code_url(form.email.data or ""))


@account_page(CHANGE, landing=EMAILS)
def show_change_email() -> Response:
    """Redirect a reload to the list."""
    return redirect_to(EMAILS)


@pages.post(CHANGE)
def submit_change_email() -> Response:
    form = ChangeEmailForm()
    if not form.validate():
        return ChangeEmailPage(form).render(form.error_status)
    action = PRIMARY if form.action.data == PRIMARY else REMOVE
    try:
        if action == PRIMARY:
            api(form.current_password)(email_and_phone_pages.make_primary, form.to_request())
        else:
            api(form.current_password)(remove_email, RemoveEmail(email=form.to_request().email))
    except SignInRequired:
        raise ReauthenticationRequired from None  # the list itself needs no reauthentication
    except errors.EmailNotOnProfile:
        return redirect_to(EMAILS)  # already gone: the list shows it
    except ApiError as refusal:
        return ChangeEmailPage(form).render_refusal(refusal)
    return redirect_to(f"{EMAILS}?done={action}")


def _render_list(form: PrimaryEmailForm, status: int = 200) -> Response:
    view = read_profile(with_emails=True)
    initial = reauthentication_data(view)
    form.reauthentication.data, form.account.data = initial["reauthentication"], initial["account"]
    addresses = tuple(EmailRow(**address.model_dump(exclude={"carries"})) for address in view.addresses)
    return EmailsPage(form, addresses, current_visit().query.get("done", "")).render(status)
