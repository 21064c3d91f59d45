"""The members of an organization and the people invited to it, for those who manage it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response
from flask_babel import format_decimal

from app.contract import errors
from app.contract.organizations.pages import member_pages, sent_invitation_pages
from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_ngettext as _n
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.invitations.invitation_form import PATH as INVITATIONS
from app.hub.pages.organizations.invitations.open_invitations import (
    INVITATION_RESULTS,
    InvitationForm,
    SentInvitationRow,
    changed,
    sent_notice,
    too_soon,
    wait_notice,
)
from app.hub.pages.organizations.managed_organization import (
    MEMBERS,
    ORGANIZATION_REFUSALS,
    OWNERS_ONLY,
    page_number,
    read,
    requested_organization,
    url_of,
)
from app.hub.pages.organizations.member_row import MemberRow
from app.hub.pages.organizations.presentation import TABS, Tab, ids_in, members, tabs_of
from app.hub.rendering.page import Notice, Page
from app.hub.web.responses import redirect_to
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

_MANY: Final = 10
"""A list of more people has a search."""


@dataclass(frozen=True)
class OrganizationMembersPage(Page):
    """Lists the members and the invited people, with pages and, where they are many, a search; and the active links."""

    template = "pages/organizations/members.html"
    scripts = (*Page.scripts, "menu")
    own_rules = ("titled", "people", "menu")
    query = {"id": 64, "search": 100, "page": 6, "done": 8, "count": 3}
    refusals = {**ORGANIZATION_REFUSALS, errors.TooManyRequests: wait_notice}

    form: InvitationForm
    organization: str
    """Its id."""
    name: str
    people: int
    members: tuple[MemberRow, ...]
    invitations: tuple[SentInvitationRow, ...] = ()
    links: tuple[SentInvitationRow, ...] = ()
    invited: int = 0
    free_seats: int | None = None
    search: str = ""
    number: int = 1
    """Of the page."""
    has_more: bool = False
    tabs: tuple[Tab, ...] = TABS

    @property
    def lead(self) -> Any:
        """A text such as "5 members"."""
        return members(self.people)

    @property
    def invited_count(self) -> str:
        return str(format_decimal(self.invited))

    @property
    def seats(self) -> Any:
        """A text such as `3 seats left.`; empty without a limit."""
        free = self.free_seats
        if free is None:
            return ""
        return _n("%(num)d seat left.", "%(num)d seats left.", free) if free else _l("No seats left.")

    @property
    def has_search(self) -> bool:
        return self.people + self.invited > _MANY or bool(self.search)

    def address(self, number: int) -> str:
        """Return the address of another page of the list."""
        search = {"search": self.search} if self.search else {}
        return url_of(MEMBERS, self.organization, **search, page=number)

    @classmethod
    def samples(cls) -> Mapping[str, OrganizationMembersPage]:
        people, invited, links = (
            MemberRow.samples_of_list(),
            SentInvitationRow.samples_of_list(),
            SentInvitationRow.samples_of_links(),
        )
        some = cls(InvitationForm(), "org_9", "Globex Gardens", 3, people)
        first = replace(some, invitations=invited, invited=len(invited), links=links)
        many = replace(first, people=1204, has_more=True)
        notices = {**_RESULTS, "sent": sent_notice(3)}
        return {
            "some": first,
            "nobody invited": some,
            "manager": replace(first, tabs=tuple(tab for tab in TABS if not tab.is_for_owners)),
            "many": many,
            "second page": replace(many, number=2),
            "found": replace(
                many, members=people[2:], invitations=invited[1:2], links=(), search="example.org", has_more=False
            ),
            "nothing found": replace(many, members=(), invitations=(), links=(), search="bob", has_more=False),
            "few seats": replace(first, free_seats=2),
            "no seats": replace(first, free_seats=0),
            "too soon": replace(first, page_notice=too_soon(40)),
            "only owners": replace(first, page_notice=OWNERS_ONLY),
            "token": replace(first, form=InvitationForm().with_token_error()),
            **{f"after {result}": replace(first, page_notice=notice) for result, notice in notices.items()},
        }


_RESULTS: Final = {
    "created": Notice(_l("Organization created"), _l("You’re its owner."), "ok"),
    "owner": Notice(_l("Ownership changed"), tone="ok"),
    "saved": Notice(_l("Roles saved"), tone="ok"),
    "removed": Notice(_l("Member removed"), _l("They no longer have access to the organization."), "ok"),
    **INVITATION_RESULTS,
}


@account_page(MEMBERS, parameter="id")
def show_organization_members() -> Response:
    query = current_visit().query
    result, count = query.get("done", ""), query.get("count", "")
    is_sent = result == "sent" and count.isascii() and count.isdecimal() and 0 < len(count) <= 3
    notice = sent_notice(int(count)) if is_sent else _RESULTS.get(result)
    page = _page(requested_organization(), query.get("search", "").strip()[:100], page_number())
    return replace(page, page_notice=notice).render()


@account_page(INVITATIONS, landing=MEMBERS, parameter="id")
def show_organization_invitations() -> Response:
    """Redirect the earlier address of the invitations, and a reload of a refused form, to the members."""
    return redirect_to(url_of(MEMBERS, requested_organization()))


@pages.post(INVITATIONS)
def submit_organization_invitations() -> Response:
    """Email an invitation again."""
    form = InvitationForm()
    organization, invitation = ids_in(form.invitation.data or "")
    if not form.validate():
        return _page(organization, form=form).render(form.error_status)
    try:
        return changed(sent_invitation_pages.resend, organization, invitation, "resent")
    except ApiError as refusal:
        return _page(organization).render_refusal(refusal)


def _page(
    organization: str, search: str = "", number: int = 1, form: InvitationForm | None = None
) -> OrganizationMembersPage:
    request = member_pages.MembersRequest(organization=organization or "-", search=search, page=number)
    view = read(member_pages.members, request)
    return OrganizationMembersPage(
        form or InvitationForm(formdata=None),
        organization,
        view.organization.name,
        view.organization.people,
        tuple(MemberRow.of(organization, member) for member in view.members),
        tuple(SentInvitationRow.of(organization, invitation) for invitation in view.invitations),
        tuple(SentInvitationRow.of_link(organization, link) for link in view.links)
        if number == 1 and not search
        else (),
        view.invited,
        view.free_seats,
        search,
        number,
        view.has_more,
        tabs_of(view.organization),
    )
