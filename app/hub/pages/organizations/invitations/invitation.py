"""The page of an invitation to an organization: join, decline, or sign in first. A GET does not use the link up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response
from flask_babel import format_timedelta

from app.contract import errors
from app.contract.oauth.pages.authorization_pages import MAX_RETURN_URL
from app.contract.organizations.pages import invitation_pages
from app.contract.organizations.pages.invitation_pages import InvitationRole, InvitationState, InvitationView
from app.hub import journey
from app.hub.client.identity_client import AccountChanged
from app.hub.components import mailed_link
from app.hub.forms.code import ButtonForm
from app.hub.pages import pages
from app.hub.pages.organizations.presentation import Tile, listed, logos
from app.hub.rendering.formatting import format_day
from app.hub.rendering.page import Page, provider_redirect_targets
from app.hub.tenants.branding import PageBranding
from app.hub.web.services import api, services
from app.hub.web.short_links import link_url
from app.hub.web.visit import current_visit

PATH: Final = "/invitation"
_ACTIONS: Final = ("join", "login", "register", "switch", "verify")


@dataclass(frozen=True)
class InvitationPage(Page):
    """An invitation in its state for this visitor, by its link or by the interaction that it began."""

    template = "pages/organizations/invitations/invitation.html"
    own_rules = ("scopes",)
    query = {**Page.query, **mailed_link.QUERY, "return_url": MAX_RETURN_URL}

    form: ButtonForm
    invitation: InvitationView
    token: str = ""
    return_url: str = field(default="", repr=False)

    @property
    def tile(self) -> Tile:
        return Tile(self.invitation.organization, self.invitation.organization_id, self.invitation.logo or "")

    @property
    def expires_in(self) -> str:
        """A text such as `in 5 days`; empty without an invitation that can be answered."""
        if not self.invitation.expires_at:
            return ""
        left = datetime.fromisoformat(self.invitation.expires_at) - services().clock.now()
        text: str = format_timedelta(max(left, timedelta(minutes=1)), threshold=2, add_direction=True)
        return text

    @property
    def expires_on(self) -> str:
        return format_day(self.invitation.expires_at)

    @property
    def domains(self) -> str:
        """The domains of the addresses that a link admits, as one text; empty: all."""
        return listed(self.invitation.domains)

    @property
    def action(self) -> str:
        """The form's action with the link or the interaction, and the return address."""
        interaction = current_visit().interaction_id
        more = {"attempt": interaction if not self.token else None, "return_url": self.return_url}
        query = urlencode({name: value for name, value in more.items() if value})
        address = link_url(PATH, self.token)
        return f"{address}?{query}" if query else address

    @property
    def continue_url(self) -> str:
        """Where a member goes on; the identity service checks the return address."""
        return f"/auth?{urlencode({'return_url': self.return_url})}" if self.return_url else "/profile"

    @property
    def form_targets(self) -> tuple[str, ...]:
        return provider_redirect_targets() if self.return_url else super().form_targets

    @property
    def brand(self) -> PageBranding:
        """The tenant's branding in the organization's colour: the page shows its logo and its name by itself."""
        return current_visit().brand.for_organization("", "", self.invitation.color or "")

    @property
    def pictures(self) -> tuple[str, ...]:
        return logos([self.tile])

    @classmethod
    def samples(cls) -> Mapping[str, InvitationPage]:
        def page(state: InvitationState, **shown: Any) -> InvitationPage:
            return cls(ButtonForm(), InvitationView(state=state, **shown), "a-token")

        ends_at = (services().clock.now() + timedelta(days=5, hours=1)).isoformat()
        editor = InvitationRole(name="Editor", description="Create and change plans. Can’t manage people.")
        shown: dict[str, Any] = {
            "organization": "Globex Gardens", "organization_id": "org_9", "inviter": "Grace Hopper",
            "email": "ada@example.com", "roles": [editor], "expires_at": ends_at,
        }  # fmt: skip
        link = {**shown, "email": "", "is_link": True}
        named = {**link, "domains": ["globex.example", "gardens.example"]}
        several = {**shown, "inviter": "", "roles": [editor, InvitationRole(name="Billing")]}
        ended = [state for state in InvitationState if state not in _DETAILED]
        return {
            "ready": page(InvitationState.READY, **shown, person="ada@example.com"),
            "with a logo": page(InvitationState.READY, **{**shown, "logo": SAMPLE_LOGO}, person="ada@example.com"),
            "with a color": page(InvitationState.READY, **{**shown, "color": "#0a7d55"}, person="ada@example.com"),
            "several roles, no inviter": page(InvitationState.READY, **several, person="ada@example.com"),
            "new person": page(InvitationState.OPEN, **shown),
            "has an account": page(InvitationState.OPEN, **shown, is_existing=True),
            "another account": page(InvitationState.OTHER, **shown, person="bob@example.com"),
            "member": page(InvitationState.MEMBER, **{**shown, "email": "", "roles": []}, person="ada@example.com"),
            "link": page(InvitationState.OPEN, **link),
            "link for domains": page(InvitationState.OPEN, **named),
            "link, signed in": page(InvitationState.READY, **link, person="ada@example.com"),
            "link, other domain": page(
                InvitationState.DOMAIN, is_link=True, domains=named["domains"], person="ada@example.com"
            ),
            "link, email not verified": page(
                InvitationState.UNVERIFIED, **{**link, "email": "ada@example.com"}, person="ada@example.com"
            ),
            "link, no email": page(InvitationState.UNVERIFIED, **link, person="+49 151 23456789"),
            "link, expired": page(InvitationState.EXPIRED, is_link=True),
            "link, turned off": page(InvitationState.REVOKED, is_link=True),
            **{state.value: page(state) for state in ended},
            "token": replace(
                page(InvitationState.READY, **shown, person="ada@example.com"), form=ButtonForm().with_token_error()
            ),
        }


SAMPLE_LOGO: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E"
    "%3Crect width='8' height='8' fill='%230a7d55'/%3E%3C/svg%3E"
)
_DETAILED: Final = (
    InvitationState.OPEN, InvitationState.READY, InvitationState.OTHER, InvitationState.MEMBER, InvitationState.UNVERIFIED,
    InvitationState.DOMAIN,
)  # fmt: skip


@pages.get(PATH)
def show_invitation() -> Response:
    return _render(ButtonForm(formdata=None))


@pages.post(PATH)
def submit_invitation() -> Response:
    form = ButtonForm()
    if not form.validate():
        return _render(form, form.error_status)
    action, reference = current_visit().form.get("do", ""), _reference()
    try:
        if action == "decline":
            api()(invitation_pages.decline, reference)
        elif action in _ACTIONS:
            provided = {"action": action, "account": current_visit().form.get("account", "")[:64]}
            requested = invitation_pages.ContinueInvitation.model_validate(
                {**reference.model_dump(), **provided, "return_url": _return_url() or None}
            )
            return journey.follow(api()(invitation_pages.continue_invitation, requested))
    except errors.ClosedInvitation as refusal:
        return _render(ButtonForm(formdata=None), refusal.status)
    except AccountChanged:
        pass  # the page shows what the present account can do
    return _render(ButtonForm(formdata=None))


def _render(form: ButtonForm, status: int = 200) -> Response:
    view = api()(invitation_pages.read, _reference())
    return InvitationPage(form, view, mailed_link.link_token(), _return_url()).render(status)


def _reference() -> invitation_pages.InvitationReference:
    token = mailed_link.link_token()
    interaction_id = "" if token else current_visit().interaction_id or ""
    return invitation_pages.InvitationReference(token=token, interaction_id=interaction_id)


def _return_url() -> str:
    provided = current_visit().query.get("return_url", "")
    return provided if len(provided) <= MAX_RETURN_URL else ""
