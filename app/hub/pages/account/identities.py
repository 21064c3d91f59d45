"""The account's linked identities of other providers: list, link, unlink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response
from wtforms import HiddenField

from app.contract import errors
from app.contract.federation.pages import identity_pages
from app.contract.page_models import NoParameters
from app.hub import journey
from app.hub.account_pages import read_account, require_reauthentication
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.forms.reauthentication import NEEDED, ReauthenticationForm, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.rendering import formatting
from app.hub.rendering.page import Notice, Page, provider_redirect_targets
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import FAILED_REFERENCE, current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/identities"
ADD: Final = f"{PATH}/add"
REMOVE: Final = f"{PATH}/remove"


class LinkIdentityForm(ReauthenticationForm):
    """Starts linking at the provider."""

    provider = HiddenField()


class UnlinkIdentityForm(ReauthenticationForm):
    """Confirms the unlinking."""

    identity = HiddenField()


@dataclass(frozen=True)
class LinkedIdentity:
    """A linked identity in the list."""

    id: str
    title: str
    name_there: str = ""
    """The email address at the provider, else the name."""
    since: str = ""
    used: str = ""
    mark: str = ""

    @classmethod
    def sample(cls) -> LinkedIdentity:
        """Return a sample."""
        since, used = (formatting.short_day(f"2026-11-{day}T10:00:00+00:00") for day in (12, 20))
        return cls("a", "Google", "ada@example.com", since, used, "google")


@dataclass(frozen=True)
class ProviderOption:
    """A provider whose identities can be linked."""

    name: str
    title: str
    mark: str = ""


@dataclass(frozen=True)
class IdentitiesPage(Page):
    """Lists the linked identities and the available providers."""

    template = "pages/account/identities.html"
    query = {"done": 8, "problem": 8, FAILED_REFERENCE: 64}

    linked: tuple[LinkedIdentity, ...]
    providers: tuple[ProviderOption, ...] = ()
    result: str = ""
    """The result of the last unlinking or of the provider's callback: a key of `_RESULTS`."""
    reference: str = ""
    """The reference of a callback that did not link."""

    @property
    def notice(self) -> Notice | None:
        notice = _RESULTS.get(self.result)
        return replace(notice, reference=self.reference) if notice and notice.tone != "ok" else notice

    @classmethod
    def samples(cls) -> Mapping[str, IdentitiesPage]:
        google = LinkedIdentity.sample()
        linked = (google, LinkedIdentity("b", "GitHub", "ada-l", google.since, mark="github"))
        providers = (ProviderOption("google", "Google", "google"), ProviderOption("initech", "Initech"))
        return {
            "none": cls((), providers),
            "none possible": cls(()),
            "some": cls(linked, providers[1:]),
            "all": cls(linked),
            **{f"after {result}": cls(linked, providers[1:], result, "BCDF-GHJK-LMNP") for result in _RESULTS},
        }


_RESULTS: Final = {
    "linked": Notice(_l("Account connected"), _l("You can now sign in with it."), "ok"),
    "removed": Notice(_l("Account disconnected"), _l("You can no longer sign in with it."), "ok"),
    "taken": Notice(
        _l("Already connected"),
        _l("It’s connected to a different account. Disconnect it from that account first, or connect another one."),
    ),
    "denied": Notice(
        _l("Account not connected"),
        _l("The sign-in was canceled or denied. You can try again anytime."),
        "note",
    ),
    "broken": Notice(_l("Account not connected"), _l("The provider isn’t responding. Try again later.")),
    "refused": Notice(_l("Account not connected"), _l("We couldn’t verify the provider’s response. Try again.")),
    "unusable": Notice(_l("Account not connected"), _l("This provider can’t be used right now.")),
}


_SHARED: Final[Mapping[identity_pages.Shared, Any]] = {
    "email": _l("Your email"),
    "name": _l("Your name"),
    "picture": _l("Your picture"),
    "details": _l("Other profile details"),
    "access": _l("Updates to these later, until you disconnect"),
}


@dataclass(frozen=True)
class AddIdentityPage(Page):
    """Explains the redirect to the provider, and what the provider will share."""

    template = "pages/account/add_identity.html"
    scripts = (*Page.scripts, "reveal")
    own_rules = ("effects",)
    query = {"provider": 60}
    refusals = CHANGE_REFUSALS

    form: LinkIdentityForm
    provider: str
    """The title of the provider."""
    shared: tuple[Any, ...] = ()
    """What the provider tells about the person."""

    @property
    def form_targets(self) -> tuple[str, ...]:
        return (*super().form_targets, *provider_redirect_targets())

    @classmethod
    def samples(cls) -> Mapping[str, AddIdentityPage]:
        data = {"account": "ada@example.com", "provider": "google"}
        return {
            "fresh": cls(LinkIdentityForm(data=data), "Google", tuple(_SHARED.values())),
            "with the password": cls(LinkIdentityForm(data={**data, "reauthentication": NEEDED}), "Google"),
            "not reached": cls(LinkIdentityForm(data=data), "Google", page_notice=_RESULTS["broken"]),
        }


@dataclass(frozen=True)
class RemoveIdentityPage(Page):
    """Asks to confirm the unlinking."""

    template = "pages/account/remove_identity.html"
    scripts = (*Page.scripts, "reveal")
    query = {"id": 40}
    refusals = CHANGE_REFUSALS

    form: UnlinkIdentityForm
    identity: LinkedIdentity
    is_last_method: bool = False
    """Whether it is the last sign-in method, which cannot be unlinked."""
    lacking: str = ""
    """What the account needs first, if it is the last one."""

    @classmethod
    def samples(cls) -> Mapping[str, RemoveIdentityPage]:
        data, identity = {"account": "ada@example.com", "identity": "a"}, LinkedIdentity.sample()
        wrong = UnlinkIdentityForm(data={**data, "reauthentication": NEEDED, "password": "x"})
        wrong.add_refusal(errors.WrongCurrentPassword())
        return {
            "fresh": cls(UnlinkIdentityForm(data=data), identity),
            "the only way in": cls(UnlinkIdentityForm(data=data), identity, is_last_method=True, lacking="password"),
            **{
                f"the only way in, without {name}": cls(UnlinkIdentityForm(data=data), identity, True, name)
                for name in ("username", "phone", "email", "connection")
            },
            "with the password": cls(UnlinkIdentityForm(data={**data, "reauthentication": NEEDED}), identity),
            "wrong password": cls(wrong, identity),
            "locked": cls(UnlinkIdentityForm(data=data), identity, page_notice=CHANGE_REFUSALS[errors.LockedForAWhile]),
        }


@account_page(PATH)
def show_identities() -> Response:
    view = read_identities()
    result = current_visit().query.get("done") or current_visit().query.get("problem", "")
    providers = tuple(ProviderOption(identity.name, identity.title, identity.mark) for identity in view.connections)
    linked = tuple(_identity_row(identity) for identity in view.identities)
    return IdentitiesPage(linked, providers, result, current_visit().failed_reference).render()


@account_page(ADD, parameter="provider")
def show_add_identity() -> Response:
    requested = current_visit().query.get("provider", "")
    view = read_identities()
    connection = _connection(view, requested)
    if connection is None:
        return redirect_to(PATH)
    require_reauthentication(view)
    form = LinkIdentityForm(formdata=None, data={**reauthentication_data(view), "provider": requested})
    return _link_page(form, connection).render()


@pages.post(ADD)
def submit_add_identity() -> Response:
    """Redirect to the provider, which calls back at /socialauth/validate.sauth."""
    form = LinkIdentityForm()
    requested = (form.provider.data or "")[:60]
    if not form.validate():
        return _add_again(form, requested)
    link = identity_pages.LinkIdentityRequest(provider=requested)
    try:
        return journey.follow(api(form.current_password)(identity_pages.connect, link))
    except ApiError as refusal:
        return _add_again(form, requested, refusal)


@account_page(REMOVE, parameter="id", field="identity")
def show_remove_identity() -> Response:
    view = read_identities()
    requested = current_visit().query.get("id", "")
    page = _removal_page(
        view, UnlinkIdentityForm(formdata=None, data={**reauthentication_data(view), "identity": requested}), requested
    )
    if page is None:
        return redirect_to(PATH)
    if not page.is_last_method:
        require_reauthentication(view)
    return page.render()


@pages.post(REMOVE)
def submit_remove_identity() -> Response:
    form = UnlinkIdentityForm()
    requested = (form.identity.data or "")[:64]
    if not form.validate():
        return _remove_again(form, requested)
    unlink = identity_pages.UnlinkIdentityRequest(id=requested)
    try:
        api(form.current_password)(identity_pages.disconnect, unlink)
    except ApiError as refusal:
        return _remove_again(form, requested, refusal)
    return redirect_to(f"{PATH}?done=removed")


def read_identities() -> identity_pages.OwnIdentities:
    """Return the account's linked identities. Raises SignInRequired."""
    return read_account(identity_pages.read, NoParameters())


def _connection(view: identity_pages.OwnIdentities, requested: str) -> identity_pages.LinkableConnection | None:
    return next((connection for connection in view.connections if connection.name == requested), None)


def _link_page(form: LinkIdentityForm, connection: identity_pages.LinkableConnection) -> AddIdentityPage:
    return AddIdentityPage(form, connection.title, tuple(_SHARED[kind] for kind in connection.shared))


def _add_again(form: LinkIdentityForm, requested: str, refusal: ApiError | None = None) -> Response:
    connection = _connection(read_identities(), requested)
    return _link_page(form, connection).render_refusal(refusal) if connection is not None else redirect_to(PATH)


def _remove_again(form: UnlinkIdentityForm, requested: str, refusal: ApiError | None = None) -> Response:
    page = _removal_page(read_identities(), form, requested)
    if page is None:
        return redirect_to(PATH)  # unlinked already, by a double submit or another tab
    return page.render_refusal(refusal)


def _removal_page(
    view: identity_pages.OwnIdentities, form: UnlinkIdentityForm, requested: str
) -> RemoveIdentityPage | None:
    identity = next((identity for identity in view.identities if identity.id == requested), None)
    if identity is None:
        return None
    return RemoveIdentityPage(form, _identity_row(identity), identity.lacking is not None, identity.lacking or "")


def _identity_row(identity: identity_pages.LinkedIdentityView) -> LinkedIdentity:
    return LinkedIdentity(
        identity.id,
        identity.title,
        identity.email or identity.name,
        formatting.short_day(identity.since),
        formatting.short_day(identity.used_at),
        identity.mark,
    )
