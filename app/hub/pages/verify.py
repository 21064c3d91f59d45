"""Where the link of a mail leads: a button that confirms the address. To look at the page uses nothing up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import urlencode

from flask import Response, request
from flask_babel import lazy_gettext as _l
from wtforms import PasswordField

from app.contract import errors as e
from app.contract import hub_verification as contract
from app.contract.hub import Next
from app.contract.mailed import MOST_TOKEN_LETTERS, LinkRead
from app.hub import journey
from app.hub.cookies import remembered_relying_party
from app.hub.forms.base import HubForm
from app.hub.page import Page
from app.hub.pages import check_mail, pages
from app.hub.parts import mailed_link
from app.hub.services import api, services
from app.hub.visit import current_visit
from app.kit.errors import ApiError


class LinkForm(HubForm):
    """The click; and the password, where more than one registered with the address."""

    password = PasswordField(_l("Password"), render_kw={"autocomplete": "current-password", "maxlength": 1000})


class LinkState(StrEnum):
    """Where a link stands."""

    OPEN = "open"
    PASSWORD = "password"
    USED = "used"
    EXPIRED = "expired"
    UNKNOWN = "unknown"
    CLOSED = "closed"


_NOT_THIS_ONE: Final = _l("That is not the password of the registration that this mail belongs to.")


@dataclass(frozen=True)
class LinkPage(Page):
    """Is this address yours?"""

    template = "pages/verify.html"
    scripts = (*Page.scripts, "reveal")
    query = {**Page.query, **mailed_link.QUERY}

    form: LinkForm
    state: LinkState
    sent_to: str = ""
    token: str = ""
    relying_party: str = ""
    added_by: str = ""

    @property
    def address(self) -> str:
        return mailed_link.form_address(check_mail.ADDRESS, self.token)

    @classmethod
    def samples(cls) -> Mapping[str, LinkPage]:
        token = "a-token"
        made = {state.value: cls(LinkForm(), state, "ada@example.com", token) for state in LinkState}
        wrong = LinkForm()
        wrong.add_error("password", _NOT_THIS_ONE)
        made["a wrong password"] = cls(wrong, LinkState.PASSWORD, "ada@example.com", token)
        made["open for an application"] = cls(LinkForm(), LinkState.OPEN, "ada@example.com", token, "Acme Shop")
        made["open for another account"] = cls(
            LinkForm(), LinkState.OPEN, "ada@example.com", token, added_by="g***@e***.com"
        )
        made["used for an application"] = cls(LinkForm(), LinkState.USED, "ada@example.com", token, "Acme Shop")
        return made


@dataclass(frozen=True)
class ConfirmedPage(Page):
    """The address is confirmed; from here on to where somebody was going."""

    template = "pages/confirmed.html"
    scripts = ("language",)
    query = {**Page.query, "confirmed": 8}

    continue_url: str
    relying_party: str = ""
    was_before: bool = False

    @classmethod
    def samples(cls) -> Mapping[str, ConfirmedPage]:
        return {
            "confirmed": cls("/login"),
            "confirmed for an application": cls("/login", "Acme Shop"),
            "confirmed before": cls("/login", "", was_before=True),
        }


@pages.get(check_mail.ADDRESS)
def show_verify() -> Response:
    """The link of a mail, the page that waits for it, or the one that says that it is done."""
    if token := request.args.get("vtoken", ""):
        return _show_link(token)
    if said := request.args.get("confirmed", ""):
        return _confirmed(was_before=said == "before")
    return check_mail.show() if request.args.get("attempt") else journey.redirect_to("/login")


@pages.post(check_mail.ADDRESS)
def submit_verify() -> Response:
    view = _CLICKS.get(request.form.get("do", ""))
    return view() if view else check_mail.take_code()


def _show_link(token: str) -> Response:
    link = api()(contract.read_link, mailed_link.link_read(token))
    if link.state == LinkState.USED and not _waiting_attempt():
        return _confirmed(was_before=True)
    return _page(LinkForm(), LinkState(link.state), token, link).render()


def _confirm() -> Response:
    return _clicked(lambda asked: api()(contract.open_link, asked))


def _renew() -> Response:
    return _clicked(lambda asked: api()(contract.renew_link, asked))


def _clicked(ask: Callable[[contract.LinkRequest], Next]) -> Response:
    form, token, visit = LinkForm(), mailed_link.link_token(), current_visit()
    if not form.validate():
        link = api()(contract.read_link, LinkRead(token=token))
        return _page(form, LinkState(link.state), token, link).render(form.error_status)
    try:
        typed = (form.password.data or "")[:1000]
        step = ask(
            contract.LinkRequest(
                token=token, attempt=visit.interaction.id if visit.interaction else None, password=typed
            )
        )
    except (e.PasswordMissing, e.WrongCredentials) as refusal:
        return _ask_password(token, refusal)
    except ApiError as refusal:
        state = next((state for kind, state in _REFUSED.items() if isinstance(refusal, kind)), None)
        if state is None:
            raise
        return _page(LinkForm(formdata=None), state, token).render(refusal.status)
    return journey.follow(step)


def _ask_password(token: str, refusal: ApiError) -> Response:
    """Ask for the password of the registration: on the first click as a question, then as a mistake."""
    form, link = LinkForm(formdata=None), api()(contract.read_link, LinkRead(token=token))
    is_wrong = isinstance(refusal, e.WrongCredentials) or "password" in request.form
    if is_wrong:
        form.add_error(
            "password", _NOT_THIS_ONE if isinstance(refusal, e.WrongCredentials) else _l("Enter your password.")
        )
    return _page(form, LinkState.PASSWORD, token, link).render(refusal.status if is_wrong else 200)


def _page(form: LinkForm, state: LinkState, token: str, link: contract.LinkView | None = None) -> LinkPage:
    interaction, link = current_visit().interaction, link or contract.LinkView(state=state)
    name = interaction.relying_party if interaction else ""
    return LinkPage(form, state, link.sent_to, token[:MOST_TOKEN_LETTERS], name, link.added_by)


def _waiting_attempt() -> str:
    """The attempt of this browser, as long as it may go on."""
    interaction = current_visit().interaction
    return interaction.id if interaction and interaction.expires_at > services().now() else ""


def _confirmed(*, was_before: bool) -> Response:
    interaction, waiting = current_visit().interaction, _waiting_attempt()
    name = interaction.relying_party if interaction else ""
    if waiting:
        return ConfirmedPage(f"/login?{urlencode({'attempt': waiting})}", name, was_before).render()
    if interaction and interaction.home:
        return ConfirmedPage(interaction.home, name, was_before).render()
    name, home = remembered_relying_party()
    return ConfirmedPage(home or "/login", name if home else "", was_before).render()


_CLICKS: Final[Mapping[str, Callable[[], Response]]] = {
    "link": _confirm,
    "renew": _renew,
    "opened": check_mail.take_opened,
    "mail": check_mail.take_wish_for_mail,
}
_REFUSED: Final[dict[type[ApiError], LinkState]] = {
    e.UnknownLink: LinkState.UNKNOWN,
    e.ExpiredLink: LinkState.EXPIRED,
    e.ClosedLink: LinkState.CLOSED,
    e.EmailRegistered: LinkState.CLOSED,
}
