"""Sends invitations to organizations by email, and resends them (interface organizations.md section 8)."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from app.contract import errors as e
from app.contract.messages import MailKind
from app.identity.directory.accounts.account import full_name
from app.identity.directory.organizations import invitations
from app.identity.directory.organizations.invitation import LIFETIME, Invitation
from app.identity.directory.organizations.invitations import Wanted
from app.identity.directory.organizations.organization import Organization
from app.identity.directory.tenants import allowed_addresses
from app.identity.messaging import service as messaging
from app.identity.platform.context import Context

PAGE: Final = "/invitation"
PARAMETER: Final = "invitation_token"
COOL_DOWN: Final = timedelta(minutes=1)
"""Between two emails of one invitation."""


def create(context: Context, wanted: Wanted) -> Invitation:
    """Invite a person by email. Raises as `invitations.create` does, and InvitationUrlRefused, MailLimitReached."""
    refuse_url(context, wanted.url)
    invitation, organization, token = invitations.create(context, wanted)
    _send(context, invitation, organization, token)
    return invitation


def resend(
    context: Context, invitation: Invitation, organization: Organization, *, url: str | None = None
) -> Invitation:
    """Email a new link, which ends the earlier one.

    Raises:
        ClosedInvitation: it is no longer open.
        TooManyRequests: the last email was sent less than a minute ago.
        InvitationUrlRefused, MailLimitReached.
    """
    refuse_url(context, url)
    if invitation.is_open and invitation.resent_at is not None:
        wait = invitation.resent_at + COOL_DOWN - context.now
        if wait > timedelta():
            raise e.TooManyRequests(retry_after_seconds=max(1, round(wait.total_seconds())))
    renewed, token = invitations.renew_token(context, invitation, url)
    _send(context, renewed, organization, token)
    return renewed


def refuse_url(context: Context, url: str | None) -> None:
    """Raise InvitationUrlRefused for a page outside the tenant's allowed addresses."""
    if url and not allowed_addresses.is_allowed_in_mail(context, url):
        raise e.InvitationUrlRefused


def link(context: Context, invitation: Invitation, token: str) -> str:
    """Return the link of the email: to the hosted page, or to the application's own with `invitation_token`."""
    if invitation.url:
        return allowed_addresses.with_query(invitation.url, **{PARAMETER: token})
    return allowed_addresses.own_link(context, PAGE, token)


def _send(context: Context, invitation: Invitation, organization: Organization, token: str) -> None:
    inviter = invitations.inviter(context, invitation.inviter_uid)
    facts = {
        "url": link(context, invitation, token),
        "token": token,
        "minutes": str(int(LIFETIME.total_seconds()) // 60),
        "organization": organization.display_name,
        "organization_logo": organization.logo_url or "",
        "inviter": (full_name(inviter) or "") if inviter is not None else "",
    }
    account = invitations.holder(context, invitation)
    language = _requested_language(context) if account is None else None
    messaging.mail(
        context,
        MailKind.INVITATION,
        invitation.email,
        account=account,
        facts=facts,
        language=language,
        is_asked_for=True,
    )


def _requested_language(context: Context) -> str | None:
    """Return the first language of the request, for a person whose own is unknown."""
    first = context.raw.headers.get("accept-language", "").partition(",")[0].partition(";")[0].strip()
    return first if first and first != "*" else None
