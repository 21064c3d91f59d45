"""Email addresses: add, remove, and choose the first one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response, request
from flask_babel import lazy_gettext as _l
from wtforms import EmailField, HiddenField
from wtforms.validators import InputRequired

from app.contract import errors as e
from app.contract import hub_self_service as contract
from app.hub import journey, oidc_client
from app.hub.forms.account import (
    PasswordConfirmationForm,
    confirmation_data,
    redirect_to_confirmation,
    refusal_notice,
    require_confirmation,
)
from app.hub.forms.base import HubForm
from app.hub.forms.code import resend_hint
from app.hub.page import Notice, Page
from app.hub.pages import email_code, pages
from app.hub.pages.email_code import LIST
from app.hub.pages.profile import read_own_profile
from app.hub.services import api
from app.hub.visit import current_visit
from app.kit.errors import ApiError

ADD, CHANGE = "/emails/add", "/emails/change"
REMOVE, PRIMARY = "remove", "primary"


class ChooseForm(HubForm):
    """A button beside an address."""

    address = HiddenField()
    asks = HiddenField()
    account = HiddenField()


class AddForm(PasswordConfirmationForm):
    """A further address."""

    email = EmailField(
        _l("New email"),
        [InputRequired(_l("Enter an email."))],
        render_kw={"autocomplete": "email", "spellcheck": "false"},
    )

    def to_request(self) -> contract.EmailEdit:
        return contract.EmailEdit(email=self.email.data or "", password=self.proof)

    def add_refusal(self, refusal: ApiError) -> bool:
        """Lay what was refused on its field; returns whether it has one."""
        sentence = next((words for kind, words in _ON_THE_EMAIL.items() if isinstance(refusal, kind)), None)
        if sentence is not None:
            self.add_error("email", sentence)
        return sentence is not None or super().add_refusal(refusal)


class ChangeForm(PasswordConfirmationForm):
    """Says yes to what a button began."""

    address = HiddenField()
    action = HiddenField()

    def to_request(self) -> contract.EmailEdit:
        return contract.EmailEdit(email=self.address.data or "", password=self.proof)


_ON_THE_EMAIL: Final[dict[type[ApiError], Any]] = {
    e.MalformedEmail: _l("This is not an email address."),
    e.EmailTaken: _l("You have this address already."),
    e.EmailRefused: _l("This address is not accepted here."),
    e.EmailDomainRefused: _l("Addresses of this domain are not accepted here."),
}


@dataclass(frozen=True)
class Address:
    """One address of the account."""

    email: str
    is_first: bool = False
    is_confirmed: bool = True
    is_asked: bool = False
    """It is added once it is confirmed."""
    can_resend: bool = False
    resend_in_seconds: int = 0

    @property
    def wait(self) -> Any:
        return resend_hint(self.resend_in_seconds)

    @property
    def code_page(self) -> str:
        return email_code.address(self.email)


@dataclass(frozen=True)
class EmailsPage(Page):
    """The addresses, each with what can be done with it."""

    template = "pages/emails.html"
    scripts = (*Page.scripts, "wait")
    query = {"done": 8}

    form: ChooseForm
    addresses: tuple[Address, ...]
    done: str = ""

    @property
    def notice(self) -> Notice | None:
        return super().notice or _DONE.get(self.done)

    @property
    def held(self) -> int:
        """How many addresses are the account's own by now."""
        return sum(not address.is_asked for address in self.addresses)

    @classmethod
    def samples(cls) -> Mapping[str, EmailsPage]:
        new = Address("ada@example.com", is_first=True, is_confirmed=False, can_resend=True)
        asked = Address("countess@example.org", is_confirmed=False, is_asked=True, can_resend=True)
        first, long = Address("ada@example.com", is_first=True), Address(f"{'countess.of.' * 4}lovelace@example.org")
        return {
            "one": cls(ChooseForm(), (first,)),
            "three": cls(ChooseForm(), (first, Address("countess@example.org"), long)),
            "not confirmed": cls(ChooseForm(), (new,)),
            "not confirmed, a moment ago": cls(ChooseForm(), (replace(new, resend_in_seconds=27),)),
            "not to be confirmed": cls(ChooseForm(), (replace(new, can_resend=False),)),
            "one is asked for": cls(ChooseForm(), (first, asked)),
            "all kinds": cls(ChooseForm(), (first, replace(new, email=long.email, is_first=False), asked)),
            "none": cls(ChooseForm(), ()),
            **{done: cls(ChooseForm(), (first, Address("countess@example.org")), done) for done in _DONE},
        }


_DONE: Final = {
    "added": Notice(_l("Address confirmed"), _l("From now on it is yours here."), "ok"),
    "not_sent": refusal_notice(e.EmailNotAddable()),
    REMOVE: Notice(_l("Address removed"), _l("We told both addresses by mail."), "ok"),
    PRIMARY: Notice(_l("Main address changed"), _l("We told the one before it by mail."), "ok"),
}


@dataclass(frozen=True)
class AddEmailPage(Page):
    """Add an address."""

    template = "pages/add_email.html"
    scripts = (*Page.scripts, "reveal")

    form: AddForm
    problem: Notice | None = None

    @classmethod
    def samples(cls) -> Mapping[str, AddEmailPage]:
        wrong = AddForm(data={"email": "ada"})
        wrong.add_refusal(e.MalformedEmail())
        asked = AddForm(data={"email": "countess@example.org", "account": "ada@example.com"})
        asked.add_refusal(e.WrongCurrentPassword())
        return {
            "fresh": cls(AddForm()),
            "refused": cls(wrong),
            "with the password": cls(asked),
            "enough mail": cls(AddForm(data={"email": "a@b.example"}), refusal_notice(e.MailLimitReached())),
            "not confirmed": cls(AddForm(data={"email": "a@b.example"}), refusal_notice(e.EmailNotAddable())),
        }


@dataclass(frozen=True)
class ChangeEmailPage(Page):
    """Do you mean it?"""

    template = "pages/change_email.html"
    scripts = (*Page.scripts, "reveal")

    form: ChangeForm
    problem: Notice | None = None

    @classmethod
    def samples(cls) -> Mapping[str, ChangeEmailPage]:
        given = {"address": "countess@example.org", "account": "ada@example.com"}
        asked = ChangeForm(data={**given, "action": REMOVE})
        asked.add_refusal(e.WrongCurrentPassword())
        return {
            "remove": cls(ChangeForm(data={**given, "action": REMOVE})),
            "remove with the password": cls(asked),
            "make first": cls(ChangeForm(data={**given, "action": PRIMARY})),
            "only one": cls(ChangeForm(data={**given, "action": REMOVE}), refusal_notice(e.LastEmail())),
        }


@pages.get(LIST)
def show_emails() -> Response:
    return _list(ChooseForm(formdata=None))


@pages.post(LIST)
def choose_email() -> Response:
    """A button was pressed: ask whether it is meant. This asks nobody else."""
    form, action = ChooseForm(), request.form.get("action", "")
    if not form.validate() or action not in (REMOVE, PRIMARY):
        return _list(form, form.error_status)
    given = {name: (form[name].data or "")[:320] for name in ("address", "asks", "account")}
    return ChangeEmailPage(ChangeForm(formdata=None, data={**given, "action": action})).render()


@pages.get(ADD)
def show_add_email() -> Response:
    known = read_own_profile()
    if known is None:
        return oidc_client.start_login(ADD)
    return require_confirmation(known, ADD) or AddEmailPage(AddForm(data=confirmation_data(known))).render()


@pages.post(ADD)
def submit_add_email() -> Response:
    form = AddForm()
    if not form.validate():
        return AddEmailPage(form).render(form.error_status)
    try:
        current_visit().renew(api()(contract.add_email, form.to_request()).session)
    except e.NotAuthenticated:
        return oidc_client.start_login(ADD)
    except ApiError as refusal:
        problem = None if form.add_refusal(refusal) else refusal_notice(refusal)
        return AddEmailPage(form, problem).render(refusal.status)
    return journey.redirect_to(email_code.address(form.email.data or ""))


@pages.get(CHANGE)
def show_change_email() -> Response:
    """A change begins with a button of the list."""
    return journey.redirect_to(LIST)


@pages.post(CHANGE)
def submit_change_email() -> Response:
    form = ChangeForm()
    if not form.validate():
        return ChangeEmailPage(form).render(form.error_status)
    action = PRIMARY if form.action.data == PRIMARY else REMOVE
    operation = contract.make_primary if action == PRIMARY else contract.remove_email
    try:
        current_visit().renew(api()(operation, form.to_request()).session)
    except e.NotAuthenticated:
        return redirect_to_confirmation(LIST)  # the list asks for no proof by itself
    except e.EmailNotOnProfile:
        return journey.redirect_to(LIST)  # gone already: the list without it is the answer
    except ApiError as refusal:
        problem = None if form.add_refusal(refusal) else refusal_notice(refusal)
        return ChangeEmailPage(form, problem).render(refusal.status)
    return journey.redirect_to(f"{LIST}?done={action}")


def _list(form: ChooseForm, status: int = 200) -> Response:
    known = read_own_profile(with_addresses=True)
    if known is None:
        return oidc_client.start_login(LIST)
    form.asks.data, form.account.data = confirmation_data(known).values()
    listed = tuple(Address(**dict(one)) for one in known.addresses)
    return EmailsPage(form, listed, request.args.get("done", "")).render(status)
