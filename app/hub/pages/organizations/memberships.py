"""The account's organizations: list and leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response
from wtforms import HiddenField

from app.contract import errors
from app.contract.organizations.pages import account_organization_pages, join_request_pages
from app.contract.page_models import NoParameters
from app.hub.account_pages import read_account, require_reauthentication
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.forms.reauthentication import NEEDED, ReauthenticationForm, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.presentation import InvitationsRow, Joinable, Tile, listed, logos, people
from app.hub.rendering import formatting
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Notice, Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/organizations"
LEAVE: Final = f"{PATH}/leave"
ASK: Final = f"{PATH}/ask"


class LeaveForm(ReauthenticationForm):
    """Confirms leaving."""

    organization = HiddenField()

    def to_request(self) -> account_organization_pages.LeaveOrganizationRequest:
        return account_organization_pages.LeaveOrganizationRequest(organization=(self.organization.data or "")[:64])


@dataclass(frozen=True)
class OrganizationRow:
    """An organization in the list."""

    tile: Tile
    roles: str
    people: Any
    since: str
    can_manage: bool = False
    is_last_owner: bool = False

    @classmethod
    def of(cls, view: account_organization_pages.OwnOrganization) -> OrganizationRow:
        return cls(
            Tile(view.name, view.id, view.logo or ""),
            listed(view.roles),
            people(view.people),
            formatting.short_day(view.since),
            view.can_manage,
            view.is_last_owner,
        )

    @classmethod
    def samples_of_two(cls) -> tuple[OrganizationRow, OrganizationRow]:
        """Return two samples: an organization whose only owner is the account, and an organization that the account can leave."""
        day = formatting.short_day("2026-11-12T10:00:00+00:00")
        globex = cls(Tile("Globex Gardens", "org_9"), "Editor", people(3), day)
        return cls(Tile("Initech", "org_3"), "Owner", people(8), day, can_manage=True, is_last_owner=True), globex


@dataclass(frozen=True)
class OrganizationsPage(Page):
    """Lists the organizations."""

    template = "pages/organizations/memberships.html"
    own_rules = ("titled", "menu")
    scripts = (*Page.scripts, "menu")
    query = {"done": 8}

    organizations: tuple[OrganizationRow, ...]
    result: str = ""
    """The result of the last change: a key of `_RESULTS`."""
    can_create: bool = False
    invitations: InvitationsRow | None = None
    joinable: tuple[Joinable, ...] = ()
    form: HubForm | None = None
    """Asks to join."""

    @property
    def notice(self) -> Notice | None:
        return _RESULTS.get(self.result) or super().notice

    @property
    def pictures(self) -> tuple[str, ...]:
        return logos(
            [*(organization.tile for organization in self.organizations), *(item.tile for item in self.joinable)]
        )

    @classmethod
    def samples(cls) -> Mapping[str, OrganizationsPage]:
        both = OrganizationRow.samples_of_two()
        long = replace(both[1], tile=Tile("Northern Association of Independent Garden Architects", "org_4"))
        return {
            "some": cls(both),
            "none": cls(()),
            **{f"after {result}": cls(both[:1], result) for result in _RESULTS},
            "can create": cls(both, can_create=True),
            "none, can create": cls((), can_create=True),
            "invited": cls(both, invitations=InvitationsRow(1, ("Hazel Labs",))),
            "none, invited": cls((), invitations=InvitationsRow(2, ("Hazel Labs", "Lantern Studio"))),
            "can ask to join": cls(both[:1], joinable=Joinable.samples(), form=HubForm(), can_create=True),
            "none, can ask to join": cls((), joinable=Joinable.samples()[:1], form=HubForm()),
            "token": cls((), joinable=Joinable.samples()[:1], form=HubForm().with_token_error()),
            "long names": cls((replace(long, roles="Billing administrator, Head of regional procurement"),)),
        }


_RESULTS: Final = {
    "left": Notice(_l("You left the organization"), _l("You no longer have access to its apps and data."), "ok"),
    "joined": Notice(_l("You joined the organization"), tone="ok"),
    "deleted": Notice(_l("Organization deleted"), tone="ok"),
    "asked": Notice(_l("Request sent"), _l("We’ll email you when it’s approved or declined."), "ok"),
}


@dataclass(frozen=True)
class LeavePage(Page):
    """Asks to confirm leaving."""

    template = "pages/organizations/leave.html"
    scripts = (*Page.scripts, "reveal")
    query = {"id": 64}
    refusals = CHANGE_REFUSALS

    form: LeaveForm
    organization: OrganizationRow

    @classmethod
    def samples(cls) -> Mapping[str, LeavePage]:
        data, (own, other) = {"account": "ada@example.com", "organization": "org_9"}, OrganizationRow.samples_of_two()
        wrong = LeaveForm(data={**data, "reauthentication": NEEDED, "password": "x"})
        wrong.add_refusal(errors.WrongCurrentPassword())
        return {
            "fresh": cls(LeaveForm(data=data), other),
            "the only owner": cls(LeaveForm(data=data), own),
            "with the password": cls(LeaveForm(data={**data, "reauthentication": NEEDED}), other),
            "wrong password": cls(wrong, other),
            "locked": cls(LeaveForm(data=data), other, page_notice=CHANGE_REFUSALS[errors.LockedForAWhile]),
        }


@account_page(PATH)
def show_organizations() -> Response:
    view = _read()
    return _list(view, HubForm())


@account_page(ASK, landing=PATH)
def show_request_to_join() -> Response:
    """Redirect a reload of a refused form to the list."""
    return redirect_to(PATH)


@pages.post(ASK)
def submit_request_to_join() -> Response:
    form = HubForm()
    if not form.validate():
        view = _read()
        return _list(view, form, form.error_status)
    try:
        api()(
            join_request_pages.request_to_join,
            join_request_pages.RequestToJoin(organization=current_visit().form.get("organization", "")[:64]),
        )
    except (errors.UnknownOrganization, errors.JoinRequestRefused):  # changed meanwhile: the list shows how it is now
        return redirect_to(PATH)
    return redirect_to(f"{PATH}?done=asked")


def _list(view: account_organization_pages.OwnOrganizations, form: HubForm, status: int = 200) -> Response:
    organizations, joinable = tuple(map(OrganizationRow.of, view.organizations)), tuple(map(Joinable.of, view.joinable))
    result, invitations = current_visit().query.get("done", ""), InvitationsRow.of(view.invitations)
    return OrganizationsPage(organizations, result, view.can_create, invitations, joinable, form).render(status)


@account_page(LEAVE, parameter="id", field="organization")
def show_leave_organization() -> Response:
    requested, view = current_visit().query.get("id", "")[:64], _read()
    organization = _find(view, requested)
    if organization is None:
        return redirect_to(PATH)
    if not organization.is_last_owner:
        require_reauthentication(view)
    data = {**reauthentication_data(view), "organization": requested}
    return LeavePage(LeaveForm(formdata=None, data=data), organization).render()


@pages.post(LEAVE)
def submit_leave_organization() -> Response:
    form = LeaveForm()
    if not form.validate():
        return _leave_again(form)
    try:
        api(form.current_password)(account_organization_pages.leave, form.to_request())
    except ApiError as refusal:
        return _leave_again(form, refusal)
    return redirect_to(f"{PATH}?done=left")


def _leave_again(form: LeaveForm, refusal: ApiError | None = None) -> Response:
    organization = _find(_read(), form.organization.data or "")
    if organization is None:
        return redirect_to(PATH)  # left already, by a double submit or another tab
    page = LeavePage(form, organization)
    if isinstance(refusal, errors.UnknownOrganization | errors.LastOwner):
        return page.render(refusal.status)  # the page explains the only owner by itself
    return page.render_refusal(refusal)


def _read() -> account_organization_pages.OwnOrganizations:
    """Return the account's organizations. Raises SignInRequired."""
    return read_account(account_organization_pages.read, NoParameters())


def _find(view: account_organization_pages.OwnOrganizations, requested: str) -> OrganizationRow | None:
    return next(
        (OrganizationRow.of(organization) for organization in view.organizations if organization.id == requested), None
    )
