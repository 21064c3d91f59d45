"""The invitations to the account's own email addresses: join or decline, from the account area or within a sign-in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from flask import Response
from flask_babel import format_timedelta
from wtforms import HiddenField

from app.contract import errors
from app.contract.organizations.pages import received_invitation_pages
from app.contract.page_models import NoParameters
from app.hub.account_pages import read_account
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.presentation import Tile, listed, logos
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Notice, Page
from app.hub.tenants.branding import initials
from app.hub.web.responses import redirect_to
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/invitations"
ORGANIZATIONS: Final = "/organizations"
SELECT: Final = "/select-organization"
_DECLINED: Final = Notice(_l("Invitation declined"), tone="ok")
_NOTICES: Final[dict[type[ApiError], Notice]] = {
    ApiError: Notice(
        _l("Invitation no longer valid"), _l("Ask the person who invited you for a new invitation."), "note"
    ),
    errors.NoSeatLeft: Notice(_l("No seats left"), _l("Ask the person who invited you to add a seat, then try again.")),
    errors.OrganizationInactive: Notice(
        _l("Organization not active"), _l("Nobody can join right now. Contact the person who invited you.")
    ),
}


class AnswerForm(HubForm):
    """The buttons of one invitation."""

    invitation = HiddenField()


@dataclass(frozen=True)
class ReceivedInvitationRow:
    """An invitation in the list."""

    id: str
    tile: Tile
    roles: str
    expires_at: str
    email: str
    inviter: str = ""

    @property
    def expires_in(self) -> str:
        """A text such as `in 5 days`."""
        left = datetime.fromisoformat(self.expires_at) - services().clock.now()
        text: str = format_timedelta(max(left, timedelta(minutes=1)), threshold=2, add_direction=True)
        return text

    @classmethod
    def of(cls, view: received_invitation_pages.OwnInvitation) -> ReceivedInvitationRow:
        tile = Tile(view.organization, view.organization_id, view.logo or "")
        return cls(view.id, tile, listed(view.roles), view.expires_at, view.email, view.inviter)


@dataclass(frozen=True)
class OwnInvitationsPage(Page):
    """Lists the invitations to the account's verified email addresses."""

    template = "pages/organizations/invitations/received_invitations.html"
    query = {**Page.query, "done": 8}
    refusals = _NOTICES

    form: AnswerForm
    account: str
    """The label of the account."""
    offers: tuple[ReceivedInvitationRow, ...]

    @property
    def initials(self) -> str:
        return initials(self.account)

    @property
    def pictures(self) -> tuple[str, ...]:
        return logos(offer.tile for offer in self.offers)

    @classmethod
    def samples(cls) -> Mapping[str, OwnInvitationsPage]:
        soon = (services().clock.now() + timedelta(days=6, hours=1)).isoformat()
        hazel = ReceivedInvitationRow(
            "a", Tile("Hazel Labs", "org_2"), "Editor", soon, "ada@example.com", "Grace Hopper"
        )
        long = ReceivedInvitationRow(
            "b",
            Tile("Northern Association of Independent Garden and Landscape Architects", "org_4"),
            "Billing administrator, Head of regional procurement",
            soon,
            "countess.of.lovelace@analytical-engines.example.org",
        )
        item = cls(AnswerForm(), "ada@example.com", (hazel,))
        return {
            "one": item,
            "several": replace(item, offers=(hazel, long)),
            "none": replace(item, offers=()),
            "after declining": replace(item, offers=(), page_notice=_DECLINED),
            "no seats": replace(item, page_notice=_NOTICES[errors.NoSeatLeft]),
            "ended": replace(item, offers=(), page_notice=_NOTICES[ApiError]),
            "token": replace(item, form=AnswerForm().with_token_error()),
        }


@account_page(PATH)
def show_own_invitations() -> Response:
    page, is_declined = _page(AnswerForm(formdata=None)), current_visit().query.get("done") == "declined"
    return (replace(page, page_notice=_DECLINED) if is_declined else page).render()


@pages.post(PATH)
def submit_own_invitations() -> Response:
    form = AnswerForm()
    if not form.validate():
        return _page(form).render(form.error_status)
    is_declined = current_visit().form.get("do") == "decline"
    answer = received_invitation_pages.OwnInvitationRequest(invitation=(form.invitation.data or "")[:64])
    try:
        api()(received_invitation_pages.decline if is_declined else received_invitation_pages.accept, answer)
    except ApiError as refusal:  # ended meanwhile, or by a double submit
        return _page(AnswerForm(formdata=None)).render_refusal(refusal)
    if is_declined:
        return redirect_to(_with_attempt(PATH, "done=declined"))
    return redirect_to(_with_attempt(SELECT) if _attempt() else f"{ORGANIZATIONS}?done=joined")


def _page(form: AnswerForm) -> OwnInvitationsPage:
    view = read_account(received_invitation_pages.read, NoParameters())
    offers = tuple(map(ReceivedInvitationRow.of, view.invitations))
    return OwnInvitationsPage(form, view.person.label, offers)


def _attempt() -> str:
    return current_visit().interaction_id or ""


def _with_attempt(address: str, query: str = "") -> str:
    more = [f"attempt={_attempt()}" if _attempt() else "", query]
    return f"{address}?{'&'.join(filter(None, more))}" if any(more) else address
