"""The open invitations of an organization, by email and shared (“links” on the pages), as rows for those who manage it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from flask import Response
from flask_babel import format_timedelta
from wtforms import HiddenField

from app.contract import errors
from app.contract.organizations.pages import sent_invitation_pages
from app.contract.organizations.pages.open_invitations import ActiveSharedInvitation, PendingInvitation
from app.hub.forms.code import resend_hint
from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_ngettext as _n
from app.hub.pages.organizations.invitations.invitation_form import TOO_MANY
from app.hub.pages.organizations.managed_organization import LIST, MEMBERS, url_of
from app.hub.pages.organizations.presentation import listed
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Notice
from app.hub.web.responses import redirect_to
from app.hub.web.services import api, services
from app.kit.operations.errors import ApiError

_COOL_DOWN_SECONDS: Final = 60  # between two emails of one invitation


class InvitationForm(HubForm):
    """A button for one invitation. `invitation`: organization and invitation, as addresses and forms name them."""

    invitation = HiddenField()


@dataclass(frozen=True)
class SentInvitationRow:
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
        """A text such as `in 5 days`."""
        left = datetime.fromisoformat(self.expires_at) - services().clock.now()
        text: str = format_timedelta(max(left, timedelta(minutes=1)), threshold=2, add_direction=True)
        return text

    @classmethod
    def of(cls, organization: str, view: PendingInvitation) -> SentInvitationRow:
        key = f"{organization}-{view.id}"
        return cls(key, listed(view.roles), view.expires_at, view.can_change, view.email)

    @classmethod
    def of_link(cls, organization: str, view: ActiveSharedInvitation) -> SentInvitationRow:
        key, domains = f"{organization}-{view.id}", listed(view.domains)
        people = joined(view.uses, view.max_uses)
        return cls(key, listed(view.roles), view.expires_at, view.can_change, people=people, domains=domains)

    @classmethod
    def samples_of_list(cls) -> tuple[SentInvitationRow, ...]:
        soon = (services().clock.now() + timedelta(days=6, hours=1)).isoformat()
        return (
            cls("org_9-a", "Editor", soon, email="nina@example.com"),
            cls("org_9-b", "Editor, Buyer", soon, email="wilhelmina.featherstone@northern-horticulture.example.org"),
            cls("org_9-c", "Owner", soon, can_change=False, email="kit@example.com"),
        )

    @classmethod
    def samples_of_links(cls) -> tuple[SentInvitationRow, ...]:
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


def wait_notice(refusal: ApiError) -> Notice:
    """Return why an invitation cannot be resent yet: an email was just sent, or this member sent too many."""
    seconds = refusal.retry_after_seconds or _COOL_DOWN_SECONDS
    return too_soon(seconds) if seconds <= _COOL_DOWN_SECONDS else TOO_MANY


INVITATION_RESULTS: Final = {
    "resent": Notice(_l("Invitation resent"), _l("Only the latest email works."), "ok"),
    "revoked": Notice(_l("Invitation revoked"), _l("The link in the email no longer works."), "ok"),
    "off": Notice(_l("Link turned off"), _l("People who already joined stay members."), "ok"),
    "gone": Notice(
        _l("Invitation no longer valid"), _l("It was accepted, declined or revoked, or it expired."), "note"
    ),
}


def sent_notice(count: int) -> Notice:
    """Return a notice such as "3 invitations sent"."""
    return Notice(_n("%(num)d invitation sent", "%(num)d invitations sent", count), tone="ok")


def changed(operation: Any, organization: str, invitation: str, done: str) -> Response:
    """Change an invitation; redirect to the list with the result. Raises the refusals that the page explains."""
    change = sent_invitation_pages.ManagedInvitationRequest(organization=organization, invitation=invitation)
    try:
        api()(operation, change)
    except errors.UnknownOrganization:
        return redirect_to(LIST)
    except (errors.UnknownOrganizationInvitation, errors.ClosedInvitation):  # ended meanwhile, or by a double submit
        return redirect_to(url_of(MEMBERS, organization, done="gone"))
    return redirect_to(url_of(MEMBERS, organization, done=done))
