"""The open invitations of an organization, by email and shared (“links” on the pages), for those who manage it: list, resend, revoke."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from flask import Response
from flask_babel import format_timedelta
from flask_babel import lazy_ngettext as _n
from wtforms import HiddenField

from app.contract import errors
from app.contract.organizations.pages import sent_invitation_pages
from app.hub.forms.code import resend_hint
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.invitations.invitation_form import PATH, TOO_MANY, read
from app.hub.pages.organizations.managed_organization import (
    LIST,
    ORGANIZATION_REFUSALS,
    OWNERS_ONLY,
    page_number,
    requested_organization,
    url_of,
)
from app.hub.pages.organizations.presentation import TABS, Tab, ids_in, listed, tabs_of
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Notice, Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

REVOKE: Final = f"{PATH}/revoke"
_COOL_DOWN_SECONDS: Final = 60  # between two emails of one invitation
_MAX_SENT: Final = 3  # digits


class InvitationForm(HubForm):
    """A button for one invitation. `invitation`: organization and invitation, as addresses and forms name them."""

    invitation = HiddenField()


@dataclass(frozen=True)
class Pending:
    """An open invitation, or an active link if it has no email."""

    key: str
    roles: str
    expires_at: str
    can_change: bool = True
    email: str = ""
    people: Any = ""
    domains: str = ""

    @property
    def expires_in(self) -> str:
        """A text such as "in 5 days"."""
        left = datetime.fromisoformat(self.expires_at) - services().clock.now()
        text: str = format_timedelta(max(left, timedelta(minutes=1)), threshold=2, add_direction=True)
        return text

    @classmethod
    def of(cls, organization: str, view: sent_invitation_pages.PendingInvitation) -> Pending:
        key = f"{organization}-{view.id}"
        return cls(key, listed(view.roles), view.expires_at, view.can_change, view.email)

    @classmethod
    def of_link(cls, organization: str, view: sent_invitation_pages.ActiveSharedInvitation) -> Pending:
        key, domains = f"{organization}-{view.id}", listed(view.domains)
        people = joined(view.uses, view.max_uses)
        return cls(key, listed(view.roles), view.expires_at, view.can_change, people=people, domains=domains)

    @classmethod
    def samples_of_list(cls) -> tuple[Pending, ...]:
        soon = (services().clock.now() + timedelta(days=6, hours=1)).isoformat()
        return (
            cls("org_9-a", "Editor", soon, email="grace@example.com"),
            cls("org_9-b", "Editor, Buyer", soon, email="countess.of.lovelace@analytical-engines.example.org"),
            cls("org_9-c", "Owner", soon, can_change=False, email="ada@example.com"),
        )

    @classmethod
    def samples_of_links(cls) -> tuple[Pending, ...]:
        soon = (services().clock.now() + timedelta(days=30)).isoformat()
        domains = "globex.example, gardens.example"
        return (
            cls("org_9-d", "Editor", soon, people=joined(3, 25), domains=domains),
            cls("org_9-e", "Buyer", soon, people=joined(0, None)),
        )


def joined(uses: int, most: int | None) -> Any:
    """Return a text such as "3 of 25 joined"."""
    return _l("%(uses)s of %(most)s joined", uses=uses, most=most) if most else _l("%(uses)s joined", uses=uses)


def too_soon(seconds: int) -> Notice:
    return Notice(_l("Email sent"), resend_hint(seconds), "note")


def _wait_notice(refusal: ApiError) -> Notice:
    """Return why an invitation cannot be resent yet: an email was just sent, or this member sent too many."""
    seconds = refusal.retry_after_seconds or _COOL_DOWN_SECONDS
    return too_soon(seconds) if seconds <= _COOL_DOWN_SECONDS else TOO_MANY


@dataclass(frozen=True)
class OrganizationInvitationsPage(Page):
    """Lists the open invitations, with pages, and the active links."""

    template = "pages/organizations/invitations/open_invitations.html"
    query = {"id": 64, "page": 6, "done": 8, "count": _MAX_SENT}
    refusals = {**ORGANIZATION_REFUSALS, errors.TooManyRequests: _wait_notice}

    form: InvitationForm
    organization: str
    """Its id."""
    name: str
    pending: tuple[Pending, ...]
    links: tuple[Pending, ...] = ()
    free_seats: int | None = None
    number: int = 1
    """Of the page."""
    has_more: bool = False
    tabs: tuple[Tab, ...] = TABS

    @property
    def seats(self) -> Any:
        """A text such as "3 seats left"."""
        free = self.free_seats
        return _n("%(num)d seat left.", "%(num)d seats left.", free) if free else _l("No seats left.")

    def address(self, number: int) -> str:
        """Return the address of another page of the list."""
        return url_of(PATH, self.organization, page=number)

    @classmethod
    def samples(cls) -> Mapping[str, OrganizationInvitationsPage]:
        globex = ("org_9", "Globex Gardens")
        some = cls(InvitationForm(), *globex, Pending.samples_of_list(), Pending.samples_of_links())
        notices = {f"after {name}": replace(some, page_notice=result(name, 3)) for name in (*_RESULTS, "sent")}
        return {
            "none": cls(InvitationForm(), *globex, ()),
            "some": some,
            "second page": replace(some, number=2, has_more=True),
            "few seats": replace(some, free_seats=2),
            "no seats": replace(some, free_seats=0),
            "too soon": replace(some, page_notice=too_soon(40)),
            "only owners": replace(some, page_notice=OWNERS_ONLY),
            **notices,
            "manager": replace(some, tabs=tuple(tab for tab in TABS if not tab.is_for_owners)),
            "token": replace(some, form=InvitationForm().with_token_error()),
        }


@dataclass(frozen=True)
class RevokeInvitationPage(Page):
    """Asks to confirm the end of an invitation or a link."""

    template = "pages/organizations/invitations/revoke_invitation.html"
    query = {"id": 140}

    form: InvitationForm
    organization: str
    name: str
    invitation: Pending

    @classmethod
    def samples(cls) -> Mapping[str, RevokeInvitationPage]:
        globex, invitation = ("org_9", "Globex Gardens"), Pending.samples_of_list()
        return {
            "invitation": cls(InvitationForm(), *globex, invitation[0]),
            "link": cls(InvitationForm(), *globex, Pending.samples_of_links()[0]),
            "of an owner": cls(InvitationForm(), *globex, invitation[2], page_notice=OWNERS_ONLY),
            "token": cls(InvitationForm().with_token_error(), *globex, invitation[0]),
        }


_RESULTS: Final = {
    "resent": Notice(_l("Invitation resent"), _l("Only the latest email works."), "ok"),
    "revoked": Notice(_l("Invitation revoked"), _l("The link in the email no longer works."), "ok"),
    "off": Notice(_l("Link turned off"), _l("People who already joined stay members."), "ok"),
    "gone": Notice(
        _l("Invitation no longer valid"), _l("It was accepted, declined or revoked, or it expired."), "note"
    ),
}


def result(name: str, count: int = 0) -> Notice | None:
    """Return the notice of the last change."""
    if name == "sent" and count:
        return Notice(_n("%(num)d invitation sent", "%(num)d invitations sent", count), tone="ok")
    return _RESULTS.get(name)


@account_page(PATH, parameter="id")
def show_organization_invitations() -> Response:
    count = current_visit().query.get("count", "")
    sent = int(count) if count.isascii() and count.isdecimal() and len(count) <= _MAX_SENT else 0
    notice = result(current_visit().query.get("done", ""), sent)
    return replace(_list_page(requested_organization()), page_notice=notice).render()


@pages.post(PATH)
def submit_organization_invitations() -> Response:
    """Email an invitation again."""
    form = InvitationForm()
    organization, invitation = ids_in(form.invitation.data or "")
    if not form.validate():
        return _list_page(organization, form).render(form.error_status)
    return _change(sent_invitation_pages.resend, organization, invitation, "resent")


@account_page(REVOKE, parameter="id", field="invitation")
def show_revoke_invitation() -> Response:
    requested = current_visit().query.get("id", "")
    return _confirm(InvitationForm(formdata=None, data={"invitation": requested}), *ids_in(requested))


@pages.post(REVOKE)
def submit_revoke_invitation() -> Response:
    form = InvitationForm()
    organization, invitation = ids_in(form.invitation.data or "")
    if not form.validate():
        return _confirm(form, organization, invitation, form.error_status)
    is_link = current_visit().form.get("kind") == "link"
    operation = sent_invitation_pages.revoke_shared_invitation if is_link else sent_invitation_pages.revoke
    return _change(operation, organization, invitation, "off" if is_link else "revoked")


def _change(operation: Any, organization: str, invitation: str, done: str) -> Response:
    change = sent_invitation_pages.ManagedInvitationRequest(organization=organization, invitation=invitation)
    try:
        api()(operation, change)
    except errors.UnknownOrganization:
        return redirect_to(LIST)
    except (errors.UnknownOrganizationInvitation, errors.ClosedInvitation):  # ended meanwhile, or by a double submit
        return redirect_to(url_of(PATH, organization, done="gone"))
    except ApiError as refusal:
        return _list_page(organization).render_refusal(refusal)
    return redirect_to(url_of(PATH, organization, done=done))


def _list_page(organization: str, form: InvitationForm | None = None) -> OrganizationInvitationsPage:
    number = page_number()
    view = read(organization, number)
    return OrganizationInvitationsPage(
        form or InvitationForm(formdata=None),
        organization,
        view.organization.name,
        tuple(Pending.of(organization, invitation) for invitation in view.invitations),
        tuple(Pending.of_link(organization, link) for link in view.links) if number == 1 else (),
        view.free_seats,
        number,
        view.has_more,
        tabs_of(view.organization),
    )


def _confirm(form: InvitationForm, organization: str, invitation: str, status: int = 200) -> Response:
    view = read(organization, 1, invitation or "-")
    pending = [Pending.of(organization, item) for item in view.invitations]
    pending += [Pending.of_link(organization, link) for link in view.links]
    if not pending:
        return redirect_to(url_of(PATH, organization, done="gone"))
    notice = None if pending[0].can_change else OWNERS_ONLY
    page = RevokeInvitationPage(form, organization, view.organization.name, pending[0], page_notice=notice)
    return page.render(status)
