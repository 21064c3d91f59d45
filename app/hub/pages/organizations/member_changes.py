"""Changes the roles of a member of an organization, and removes one, for those who manage it."""

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
from app.hub.pages.organizations.managed_organization import MEMBERS, ORGANIZATION_REFUSALS, OWNERS_ONLY, read, url_of
from app.hub.pages.organizations.member_row import MemberRow
from app.hub.pages.organizations.presentation import ids_in
from app.hub.rendering.page import Notice, Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

EDIT: Final = f"{MEMBERS}/edit"
REMOVE: Final = f"{MEMBERS}/remove"
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
    own_rules = ("choices", "roles")
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
    return redirect_to(url_of(MEMBERS, change.organization, done=result))


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
    return read(member_pages.member, request, url_of(MEMBERS, organization))
