"""Connected accounts: identities of other providers that open one's account. Which there are, one more, one less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

from flask import Response, request
from flask_babel import lazy_gettext as _l
from wtforms import HiddenField

from app.contract import errors as e
from app.contract import hub_identities as contract
from app.hub import journey, oidc_client
from app.hub.forms.account import (
    NEEDED,
    PasswordConfirmationForm,
    confirmation_data,
    refusal_notice,
    require_confirmation,
)
from app.hub.page import Notice, Page, provider_redirect_targets
from app.hub.pages import pages
from app.hub.parts import formatting
from app.hub.services import api
from app.hub.visit import current_visit
from app.kit.errors import ApiError

ADDRESS: Final = "/identities"
ADD: Final = f"{ADDRESS}/add"
REMOVE: Final = f"{ADDRESS}/remove"


class ConnectForm(PasswordConfirmationForm):
    """Goes to the provider."""

    provider = HiddenField()


class DisconnectForm(PasswordConfirmationForm):
    """Says yes."""

    identity = HiddenField()


@dataclass(frozen=True)
class Linked:
    """One identity, as a row."""

    id: str
    title: str
    who: str = ""
    """The address there, else the name."""
    since: str = ""
    used: str = ""

    @classmethod
    def sample(cls) -> Linked:
        """Return one for samples."""
        since, used = (formatting.format_day(f"2026-11-{day}T10:00:00+00:00") for day in (12, 20))
        return cls("a", "Google", "ada@example.com", since, used)


@dataclass(frozen=True)
class Connectable:
    """A provider where one may be had."""

    name: str
    title: str


@dataclass(frozen=True)
class IdentitiesPage(Page):
    """Which there are, and which there could be."""

    template = "pages/identities.html"
    query = {"done": 8, "problem": 8}

    linked: tuple[Linked, ...]
    offered: tuple[Connectable, ...] = ()
    said: str = ""
    """What the last click did, or what came back from the provider."""

    @property
    def notice(self) -> Notice | None:
        return _SAID.get(self.said)

    @classmethod
    def samples(cls) -> Mapping[str, IdentitiesPage]:
        google = Linked.sample()
        linked = (google, Linked("b", "GitHub", "ada-l", google.since))
        offered = (Connectable("google", "Google"), Connectable("live", "Microsoft"))
        return {
            "none": cls((), offered),
            "none possible": cls(()),
            "some": cls(linked, offered[1:]),
            "all": cls(linked),
            **{f"after {said}": cls(linked, offered[1:], said) for said in _SAID},
        }


_SAID: Final = {
    "linked": Notice(_l("It is connected"), _l("From now on it opens your account here."), "ok"),
    "removed": Notice(_l("It is disconnected"), _l("It opens nothing here any more."), "ok"),
    "taken": Notice(
        _l("That one is taken"),
        _l("It opens another account here. Sign in with it and disconnect it there first, or choose another one."),
    ),
    "denied": Notice(
        _l("Nothing was connected"),
        _l("You said no there, or you were not let in. You can try again whenever you like."),
        "note",
    ),
    "broken": Notice(
        _l("That did not work"), _l("No good answer came from there. Nothing was changed: try again in a while.")
    ),
}


@dataclass(frozen=True)
class AddIdentityPage(Page):
    """What happens next, before one leaves us for the provider."""

    template = "pages/add_identity.html"
    scripts = (*Page.scripts, "reveal")
    query = {"provider": 60}

    form: ConnectForm
    provider: str
    """Its title."""
    problem: Notice | None = None

    @property
    def form_targets(self) -> tuple[str, ...]:
        return (*super().form_targets, *provider_redirect_targets())

    @classmethod
    def samples(cls) -> Mapping[str, AddIdentityPage]:
        data = {"account": "ada@example.com", "provider": "google"}
        return {
            "fresh": cls(ConnectForm(data=data), "Google"),
            "with the password": cls(ConnectForm(data={**data, "asks": NEEDED}), "Google"),
            "not reached": cls(ConnectForm(data=data), "Google", _SAID["broken"]),
        }


@dataclass(frozen=True)
class RemoveIdentityPage(Page):
    """Do you mean it?"""

    template = "pages/remove_identity.html"
    scripts = (*Page.scripts, "reveal")
    query = {"id": 40}

    form: DisconnectForm
    one: Linked
    is_last_way: bool = False
    """Nothing else opens the account: then it stays."""
    problem: Notice | None = None

    @classmethod
    def samples(cls) -> Mapping[str, RemoveIdentityPage]:
        data, one = {"account": "ada@example.com", "identity": "a"}, Linked.sample()
        wrong = DisconnectForm(data={**data, "asks": NEEDED, "password": "x"})
        wrong.add_refusal(e.WrongCurrentPassword())
        return {
            "fresh": cls(DisconnectForm(data=data), one),
            "the only way in": cls(DisconnectForm(data=data), one, is_last_way=True),
            "with the password": cls(DisconnectForm(data={**data, "asks": NEEDED}), one),
            "wrong password": cls(wrong, one),
            "locked": cls(DisconnectForm(data=data), one, problem=refusal_notice(e.LockedForAWhile())),
        }


@pages.get(ADDRESS)
def show_identities() -> Response:
    known = read_identities()
    if known is None:
        return oidc_client.start_login(ADDRESS)
    said = request.args.get("done") or request.args.get("problem", "")
    offered = tuple(Connectable(one.name, one.title) for one in known.connections)
    return IdentitiesPage(tuple(_linked(one) for one in known.identities), offered, said).render()


@pages.get(ADD)
def show_add_identity() -> Response:
    wanted = request.args.get("provider", "")
    known, landing = read_identities(), f"{ADD}?{urlencode({'provider': wanted})}"
    if known is None:
        return _sign_in(landing)
    title = _title(known, wanted)
    if title is None:
        return journey.redirect_to(ADDRESS)
    if (first := require_confirmation(known, landing)) is not None:
        return first
    form = ConnectForm(formdata=None, data={**confirmation_data(known), "provider": wanted})
    return AddIdentityPage(form, title).render()


@pages.post(ADD)
def submit_add_identity() -> Response:
    """Go to the provider, whose answer comes back to /socialauth/validate.sauth."""
    form = ConnectForm()
    wanted = (form.provider.data or "")[:60]
    problem, status = None, form.error_status
    if form.validate():
        try:
            return journey.follow(api()(contract.connect, contract.IdentityBegun(provider=wanted, password=form.proof)))
        except e.NotAuthenticated:
            return _sign_in(f"{ADD}?{urlencode({'provider': wanted})}")
        except ApiError as refusal:
            problem, status = _problem(form, refusal), refusal.status
    known = read_identities()
    title = _title(known, wanted) if known is not None else None
    if title is None:
        return journey.redirect_to(ADDRESS)
    return AddIdentityPage(form, title, problem).render(status)


@pages.get(REMOVE)
def show_remove_identity() -> Response:
    known = read_identities()
    if known is None:
        return oidc_client.start_login(ADDRESS)
    wanted = request.args.get("id", "")
    page = _removing(
        known, DisconnectForm(formdata=None, data={**confirmation_data(known), "identity": wanted}), wanted
    )
    if page is None:
        return journey.redirect_to(ADDRESS)
    if (
        not page.is_last_way
        and (first := require_confirmation(known, f"{REMOVE}?{urlencode({'id': wanted})}")) is not None
    ):
        return first
    return page.render()


@pages.post(REMOVE)
def submit_remove_identity() -> Response:
    form = DisconnectForm()
    wanted = (form.identity.data or "")[:64]
    problem, status = None, form.error_status
    if form.validate():
        try:
            done = api()(contract.disconnect, contract.IdentityNamed(id=wanted, password=form.proof))
        except e.NotAuthenticated:
            return oidc_client.start_login(ADDRESS)
        except ApiError as refusal:
            problem, status = _problem(form, refusal), refusal.status
        else:
            current_visit().renew(done.session)
            return journey.redirect_to(f"{ADDRESS}?done=removed")
    known = read_identities()
    page = _removing(known, form, wanted) if known is not None else None
    if page is None:
        return journey.redirect_to(ADDRESS)  # a second click, or another tab
    return replace(page, problem=problem).render(status)


def read_identities() -> contract.OwnIdentities | None:
    """Return the identities that are linked to the signed-in person's account; None where nobody is signed in."""
    if not current_visit().session:
        return None
    try:
        known = api()(contract.read, contract.OwnIdentitiesRead())
    except e.NotAuthenticated:
        return None
    current_visit().use_account_language(known.person)
    return known


def _sign_in(landing: str) -> Response:
    """Send the browser to sign in, and then on to where it wanted."""
    return oidc_client.start_login(landing if oidc_client.is_own_page(landing) else ADDRESS)


def _title(known: contract.OwnIdentities, wanted: str) -> str | None:
    return next((one.title for one in known.connections if one.name == wanted), None)


def _removing(known: contract.OwnIdentities, form: DisconnectForm, wanted: str) -> RemoveIdentityPage | None:
    one = next((one for one in known.identities if one.id == wanted), None)
    return RemoveIdentityPage(form, _linked(one), one.is_last_way) if one is not None else None


def _problem(form: PasswordConfirmationForm, refusal: ApiError) -> Notice | None:
    return None if form.add_refusal(refusal) else refusal_notice(refusal)


def _linked(one: contract.LinkedView) -> Linked:
    day = formatting.format_day
    return Linked(one.id, one.title, one.email or one.name, day(one.since), day(one.used_at))
