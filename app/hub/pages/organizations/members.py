"""The members of an organization, for those who manage it: list, roles, removal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response
from wtforms import HiddenField

from app.contract import errors
from app.contract.organizations.pages import member_pages
from app.hub.account_pages import require_reauthentication
from app.hub.forms.reauthentication import NEEDED, ReauthenticationForm, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.managed_organization import (
    LIST,
    ORGANIZATION_REFUSALS,
    OWNERS_ONLY,
    page_number,
    read,
    requested_organization,
    url_of,
)
from app.hub.pages.organizations.presentation import TABS, Tab, ids_in, listed, people, tabs_of
from app.hub.rendering import formatting
from app.hub.rendering.page import Notice, Page
from app.hub.tenants.branding import initials
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = f"{LIST}/members"
EDIT: Final = f"{PATH}/edit"
REMOVE: Final = f"{PATH}/remove"
_ROLE: Final = "role-"
_NONE_CHOSEN: Final = Notice(_l("Choose at least one role"))
_LAST_OWNER: Final = Notice(_l("An organization needs an owner"), _l("Make another member an owner first."))
_MAX_ROLES: Final = 50


class RolesForm(ReauthenticationForm):
    """The member's roles: a checkbox named `role-` and its id for each."""

    member = HiddenField()

    @property
    def chosen(self) -> list[str]:
        names = [name.removeprefix(_ROLE) for name in current_visit().form if name.startswith(_ROLE)]
        return [name[:64] for name in names if name][:_MAX_ROLES]


class RemovalForm(ReauthenticationForm):
    """Confirms the removal."""

    member = HiddenField()


@dataclass(frozen=True)
class MemberRow:
    """A member in the list. `key`: organization and account, as addresses and forms name them."""

    key: str
    label: str
    roles: str
    since: str
    is_self: bool = False
    is_owner: bool = False
    can_change: bool = True
    is_last_owner: bool = False

    @property
    def initials(self) -> str:
        return initials(self.label)

    @classmethod
    def of(cls, organization: str, view: member_pages.MemberView) -> MemberRow:
        return cls(
            f"{organization}-{view.uid}",
            view.label,
            listed(view.roles),
            formatting.short_day(view.since),
            view.is_self,
            view.is_owner,
            view.can_change,
            view.is_last_owner,
        )

    @classmethod
    def samples_of_list(cls) -> tuple[MemberRow, ...]:
        """Return an owner, the account itself, and a member."""
        day = formatting.short_day("2026-11-12T10:00:00+00:00")
        return (
            cls("org_9-a", "grace@example.com", "Owner", day, is_owner=True, can_change=False, is_last_owner=True),
            cls("org_9-b", "ada@example.com", "Manager", day, is_self=True),
            cls("org_9-c", "countess.of.lovelace@analytical-engines.example.org", "Editor, Buyer", day),
        )


@dataclass(frozen=True)
class OrganizationMembersPage(Page):
    """Lists the members, with a search and pages."""

    template = "pages/organizations/members.html"
    query = {"id": 64, "search": 100, "page": 6, "done": 8}

    organization: str
    """Its id."""
    name: str
    people: Any
    members: tuple[MemberRow, ...]
    search: str = ""
    number: int = 1
    """Of the page."""
    has_more: bool = False
    result: str = ""
    """The result of the last change: a key of `_RESULTS`."""
    tabs: tuple[Tab, ...] = TABS

    @property
    def notice(self) -> Notice | None:
        return _RESULTS.get(self.result)

    def address(self, number: int) -> str:
        """Return the address of another page of the list."""
        search = {"search": self.search} if self.search else {}
        return url_of(PATH, self.organization, **search, page=number)

    @classmethod
    def samples(cls) -> Mapping[str, OrganizationMembersPage]:
        listed_people = MemberRow.samples_of_list()
        globex = ("org_9", "Globex Gardens")
        first = cls(*globex, people(3), listed_people)
        return {
            "some": first,
            "manager": replace(first, tabs=tuple(tab for tab in TABS if not tab.is_for_owners)),
            "second page": replace(first, people=people(1204), number=2, has_more=True),
            "found": replace(first, members=listed_people[2:], search="countess"),
            "nothing found": replace(first, members=(), search="bob"),
            **{f"after {result}": replace(first, result=result) for result in _RESULTS},
        }


_RESULTS: Final = {
    "created": Notice(_l("Organization created"), _l("You’re its owner."), "ok"),
    "owner": Notice(_l("Ownership changed"), tone="ok"),
    "saved": Notice(_l("Roles saved"), tone="ok"),
    "removed": Notice(_l("Member removed"), _l("They no longer have access to the organization."), "ok"),
}


@dataclass(frozen=True)
class RoleChoice:
    """A checkbox."""

    id: str
    name: str
    description: str = ""
    is_checked: bool = False
    can_change: bool = True


@dataclass(frozen=True)
class MemberRolesPage(Page):
    """Chooses the roles of a member."""

    template = "pages/organizations/member_roles.html"
    scripts = (*Page.scripts, "reveal")
    query = {"id": 140}
    refusals = {**ORGANIZATION_REFUSALS, errors.LastOwner: _LAST_OWNER}

    form: RolesForm
    organization: str
    name: str
    member: MemberRow
    roles: tuple[RoleChoice, ...]
    can_transfer: bool = False
    """Whether the account can make the member an owner."""

    @classmethod
    def samples(cls) -> Mapping[str, MemberRolesPage]:
        data, (owner, _, member) = {"account": "ada@example.com", "member": "org_9-c"}, MemberRow.samples_of_list()
        roles = (
            RoleChoice("a", "Editor", "Plans gardens and orders plants.", is_checked=True),
            RoleChoice("b", "Manager", "Invites and removes people."),
            RoleChoice("c", "Owner", can_change=False),
        )
        globex = ("org_9", "Globex Gardens")
        return {
            "fresh": cls(RolesForm(data=data), *globex, member, roles),
            "seen by an owner": cls(RolesForm(data=data), *globex, member, roles[:2], can_transfer=True),
            "an owner": cls(RolesForm(data=data), *globex, owner, roles, page_notice=OWNERS_ONLY),
            "none chosen": cls(RolesForm(data=data), *globex, member, roles[1:], page_notice=_NONE_CHOSEN),
            "the only owner": cls(RolesForm(data=data), *globex, member, roles, page_notice=_LAST_OWNER),
            "with the password": cls(RolesForm(data={**data, "reauthentication": NEEDED}), *globex, member, roles),
        }


@dataclass(frozen=True)
class RemoveMemberPage(Page):
    """Asks to confirm the removal."""

    template = "pages/organizations/remove_member.html"
    scripts = (*Page.scripts, "reveal")
    query = {"id": 140}
    refusals = {**ORGANIZATION_REFUSALS, errors.LastOwner: _LAST_OWNER}

    form: RemovalForm
    organization: str
    name: str
    member: MemberRow

    @classmethod
    def samples(cls) -> Mapping[str, RemoveMemberPage]:
        data, (owner, _, member) = {"account": "ada@example.com", "member": "org_9-c"}, MemberRow.samples_of_list()
        globex = ("org_9", "Globex Gardens")
        return {
            "fresh": cls(RemovalForm(data=data), *globex, member),
            "an owner": cls(RemovalForm(data=data), *globex, owner, page_notice=OWNERS_ONLY),
            "with the password": cls(RemovalForm(data={**data, "reauthentication": NEEDED}), *globex, member),
        }


@account_page(PATH, parameter="id")
def show_organization_members() -> Response:
    requested, number = requested_organization(), page_number()
    search = current_visit().query.get("search", "").strip()[:100]
    request = member_pages.MembersRequest(organization=requested, search=search, page=number)
    view = read(member_pages.members, request)
    return OrganizationMembersPage(
        requested,
        view.organization.name,
        people(view.organization.people),
        tuple(MemberRow.of(requested, member) for member in view.members),
        search,
        number,
        view.has_more,
        current_visit().query.get("done", ""),
        tabs_of(view.organization),
    ).render()


@account_page(EDIT, parameter="id", field="member")
def show_member_roles() -> Response:
    return _show(EDIT)


@account_page(REMOVE, parameter="id", field="member")
def show_remove_member() -> Response:
    return _show(REMOVE)


@pages.post(EDIT)
def submit_member_roles() -> Response:
    form = RolesForm()
    chosen = form.chosen
    organization, uid = ids_in(form.member.data or "")
    if not chosen and form.validate():
        return replace(_page(EDIT, form, _read(organization, uid)), page_notice=_NONE_CHOSEN).render(422)
    change = member_pages.SetMemberRolesRequest(organization=organization, uid=uid, role_ids=chosen or ["-"])
    return _submit(EDIT, form, member_pages.set_roles, change, "saved")


@pages.post(REMOVE)
def submit_remove_member() -> Response:
    form = RemovalForm()
    organization, uid = ids_in(form.member.data or "")
    change = member_pages.RemoveMemberRequest(organization=organization, uid=uid)
    return _submit(REMOVE, form, member_pages.remove, change, "removed")


def _show(address: str) -> Response:
    requested = current_visit().query.get("id", "")
    organization, uid = ids_in(requested)
    view = _read(organization, uid)
    if view.member.can_change:
        require_reauthentication(view)
    kind = RolesForm if address == EDIT else RemovalForm
    form = kind(formdata=None, data={**reauthentication_data(view), "member": requested})
    notice = None if view.member.can_change else OWNERS_ONLY
    return replace(_page(address, form, view), page_notice=notice).render()


def _submit(address: str, form: ReauthenticationForm, operation: Any, change: Any, result: str) -> Response:
    """Make the change; return to the list, or show the page again with the reason."""
    if not form.validate():
        return _page(address, form, _read(change.organization, change.uid)).render(form.error_status)
    try:
        api(form.current_password)(operation, change)
    except ApiError as refusal:
        return _page(address, form, _read(change.organization, change.uid)).render_refusal(refusal)
    return redirect_to(url_of(PATH, change.organization, done=result))


def _page(address: str, form: Any, view: member_pages.MemberResponse) -> MemberRolesPage | RemoveMemberPage:
    organization, member = view.organization, MemberRow.of(view.organization.id, view.member)
    if address == REMOVE:
        return RemoveMemberPage(form, organization.id, organization.name, member)
    chosen = form.chosen if current_visit().is_post else view.member.role_ids
    roles = tuple(
        RoleChoice(role.id, role.name, role.description, role.id in chosen, role.can_change and view.member.can_change)
        for role in view.roles
    )
    can_transfer = organization.is_owner and not member.is_self
    return MemberRolesPage(form, organization.id, organization.name, member, roles, can_transfer)


def _read(organization: str, uid: str) -> member_pages.MemberResponse:
    """Return the member; redirect to the members if there is none that the account may see, or another tab removed it."""
    request = member_pages.MemberRequest(organization=organization or "-", uid=uid or "-")
    return read(member_pages.member, request, url_of(PATH, organization))
