"""Revokes an invitation to an organization, or turns off a link, for those who manage it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response

from app.contract.organizations.pages import sent_invitation_pages
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.invitations.invitation_form import PATH, read
from app.hub.pages.organizations.invitations.open_invitations import InvitationForm, SentInvitationRow, changed
from app.hub.pages.organizations.managed_organization import MEMBERS, ORGANIZATION_REFUSALS, OWNERS_ONLY, url_of
from app.hub.pages.organizations.presentation import ids_in
from app.hub.rendering.page import Page
from app.hub.web.responses import redirect_to
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

REVOKE: Final = f"{PATH}/revoke"


@dataclass(frozen=True)
class RevokeInvitationPage(Page):
    """Asks to confirm the end of an invitation or a link."""

    template = "pages/organizations/invitations/revoke_invitation.html"
    query = {"id": 140}
    refusals = ORGANIZATION_REFUSALS

    form: InvitationForm
    organization: str
    name: str
    invitation: SentInvitationRow

    @classmethod
    def samples(cls) -> Mapping[str, RevokeInvitationPage]:
        globex, invitation = ("org_9", "Globex Gardens"), SentInvitationRow.samples_of_list()
        return {
            "invitation": cls(InvitationForm(), *globex, invitation[0]),
            "link": cls(InvitationForm(), *globex, SentInvitationRow.samples_of_links()[0]),
            "of an owner": cls(InvitationForm(), *globex, invitation[2], page_notice=OWNERS_ONLY),
            "token": cls(InvitationForm().with_token_error(), *globex, invitation[0]),
        }


@account_page(REVOKE, parameter="id", field="invitation")
def show_revoke_invitation() -> Response:
    requested = current_visit().query.get("id", "")
    page = _page(InvitationForm(formdata=None, data={"invitation": requested}), *ids_in(requested))
    return page if isinstance(page, Response) else page.render()


@pages.post(REVOKE)
def submit_revoke_invitation() -> Response:
    form = InvitationForm()
    organization, invitation = ids_in(form.invitation.data or "")
    is_link = current_visit().form.get("kind") == "link"
    operation = sent_invitation_pages.revoke_shared_invitation if is_link else sent_invitation_pages.revoke
    refusal: ApiError | None = None
    if form.validate():
        try:
            return changed(operation, organization, invitation, "off" if is_link else "revoked")
        except ApiError as error:
            refusal = error
    page = _page(form, organization, invitation)
    return page if isinstance(page, Response) else page.render_refusal(refusal)


def _page(form: InvitationForm, organization: str, invitation: str) -> RevokeInvitationPage | Response:
    """Return the page, or a redirect to the list if the invitation is no longer open."""
    view = read(organization, invitation or "-")
    if view.invitation is not None:
        item = SentInvitationRow.of(organization, view.invitation)
    elif view.link is not None:
        item = SentInvitationRow.of_link(organization, view.link)
    else:
        return redirect_to(url_of(MEMBERS, organization, done="gone"))
    notice = None if item.can_change else OWNERS_ONLY
    return RevokeInvitationPage(form, organization, view.organization.name, item, page_notice=notice)
