"""The page of an invitation to an organization: read, join, decline."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from app.contract import errors as e
from app.contract import hub_invitations as contract
from app.contract.hub import Next, Step
from app.contract.hub_invitations import InvitationState, InvitationView
from app.identity.authentication.sign_in import interactions, sessions
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.credentials.tokens import service as tokens
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account, full_name, is_verified
from app.identity.directory.organizations import (
    invitation_store,
    invitations,
    member_store,
    memberships,
    role_store,
)
from app.identity.directory.organizations import service as organizations
from app.identity.directory.organizations.invitation import ACCEPTED, EXPIRED, Invitation
from app.identity.directory.organizations.organization import Organization
from app.identity.hosted import invited_join, next_step
from app.identity.messaging.message import safe_name
from app.identity.platform.context import Context
from app.identity.protocols.oauth import views as oauth
from app.kit.clock import iso

_LIFETIME: Final = timedelta(hours=1)
"""Of the interaction: a new account may have to be created first."""
_SHOWN: Final = (InvitationState.OPEN, InvitationState.READY, InvitationState.OTHER)


@contract.read.implements
def read(context: Context, req: contract.InvitationReference) -> InvitationView:
    return _view(context, _find(context, req), sessions.current(context))


@contract.go_on.implements
def go_on(context: Context, req: contract.ContinueInvitation) -> Next:
    """Begin an interaction for the invitation and take its first step; with a session that joins, it is also the last one."""
    found, session = _find(context, req), sessions.current(context)
    if found is None or not found[0].is_open or not found[1].is_active or _is_full(context, found[1]):
        raise e.ClosedInvitation
    invitation, organization = found
    is_left = req.action == "switch" and session is not None
    if session is not None and is_left:
        sessions.end(context, session.uid, session.session_id)
        tokens.revoke_with_session(context, session.session_id)
        context.audit.record("session.ended", uid=session.uid, session=session.session_id)
        session = None
    earlier = interactions.find_open(context, req.attempt)
    return_url = req.return_url or (earlier.request.get("return_url") if earlier is not None else None)
    request = {"return_url": return_url} if return_url else {}
    interaction, binding = interactions.begin(
        context, next_step.RETURN, {**request, "action": req.action, invited_join.KEY: invitation.invitation_id}
    )
    interaction = interactions.add_facts(context, interaction, lifetime=_LIFETIME)
    if session is not None:
        step = next_step.advance(context, interaction, session)
    else:
        step = Next(step=Step.REGISTER if req.action == "register" else Step.LOGIN, attempt=interaction.interaction_id)
    return step.model_copy(
        update={
            "binding": binding,
            "login_hint": invitation.email,
            "invitation": organization.display_name,
            "relying_party": step.relying_party or next_step.return_target(context, return_url),
            "ends_session": is_left,
            "attempt_lifetime_seconds": int(_LIFETIME.total_seconds()),
        }
    )


@contract.decline.implements
def decline(context: Context, req: contract.InvitationReference) -> InvitationView:
    """Decline for the owner of the mailbox, which the token proves; the interaction of a browser is not enough."""
    _require_on(context)
    invitations.decline(context, req.token)
    return InvitationView(state=InvitationState.DECLINED)


def _require_on(context: Context) -> None:
    if not context.tenant.settings.organizations.enabled:
        raise e.ClosedInvitation


def _find(context: Context, req: contract.InvitationReference) -> tuple[Invitation, Organization] | None:
    """Return the invitation of a link, or of this browser's interaction; None if there is none, or the organization is gone."""
    if not req.token:
        interaction = interactions.find(context, req.attempt) if req.attempt else None
        return invited_join.invitation_of(context, interaction)
    if not context.tenant.settings.organizations.enabled:
        return None
    invitation = invitation_store.by_token(context, req.token)
    organization = organizations.by_id(context, invitation.org_id) if invitation is not None else None
    return (invitation, organization) if invitation is not None and organization is not None else None


def _view(
    context: Context, found: tuple[Invitation, Organization] | None, session: BrowserSession | None
) -> InvitationView:
    if found is None:
        return InvitationView(state=InvitationState.UNKNOWN)
    invitation, organization = found
    account = accounts.by_uid(context, session.uid) if session is not None else None
    label = oauth.person(account).label if account is not None else ""
    state = _state(context, invitation, organization, account)
    if state is not InvitationState.MEMBER and state not in _SHOWN:
        return InvitationView(state=state)
    view = InvitationView(
        state=state,
        organization=organization.display_name,
        organization_id=organization.org_id,
        logo=organization.logo_url,
        person=label,
    )
    return view if state is InvitationState.MEMBER else _with_details(context, view, invitation, organization)


def _with_details(
    context: Context, view: InvitationView, invitation: Invitation, organization: Organization
) -> InvitationView:
    inviter = invitations.inviter(context, invitation.inviter_uid)
    role_ids = invitation.role_ids or memberships.default_role_ids(context, organization)
    roles = [role for role in role_store.by_ids(context, role_ids) if role.fits(organization.org_id)]
    details = {
        "inviter": safe_name(full_name(inviter)) if inviter is not None else "",
        "email": invitation.email,
        "roles": [contract.InvitationRole(name=role.name, description=role.description) for role in roles],
        "expires_at": iso(invitation.ends_at) or "",
        "is_existing": invitations.holder(context, invitation) is not None,
    }
    return view.model_copy(update=details)


def _state(
    context: Context, invitation: Invitation, organization: Organization, account: Account | None
) -> InvitationState:
    if not organization.is_active:
        return InvitationState.INACTIVE
    if account is not None and memberships.in_organization(context, account, organization.org_id) is not None:
        return InvitationState.MEMBER
    if not invitation.is_open:
        return _ended(invitation)
    if _is_full(context, organization):
        return InvitationState.FULL
    if account is None:
        return InvitationState.OPEN
    return InvitationState.READY if is_verified(account, invitation.email_key) else InvitationState.OTHER


def _is_full(context: Context, organization: Organization) -> bool:
    return organization.seats is not None and member_store.count(context, organization.org_id) >= organization.seats


def _ended(invitation: Invitation) -> InvitationState:
    if invitation.status == ACCEPTED:
        return InvitationState.ACCEPTED
    if invitation.status == EXPIRED:
        return InvitationState.EXPIRED
    return InvitationState.DECLINED if invitation.is_declined else InvitationState.REVOKED
