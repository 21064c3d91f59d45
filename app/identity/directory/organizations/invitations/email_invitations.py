"""Invitations of one email address: the rules of their creation, renewal and end (decision 0190).

`use_cases/organizations/send_invitation.py` sends the emails.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from app.contract import errors
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.identifiers import normalize_email
from app.identity.directory.organizations import organization_names, organizations
from app.identity.directory.organizations.invitations import granted_roles, invitation_store, join_by_invitation
from app.identity.directory.organizations.invitations.invitation import (
    DECLINED,
    MANAGED,
    REVOKED,
    URL,
    AnyInvitation,
    EmailInvitation,
)
from app.identity.directory.organizations.memberships import membership_store
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context
from app.kit import randomness

_MAX_LENGTH: Final = 320


@dataclass(frozen=True)
class InvitationRequest:
    """A new invitation as a caller asked for it. `url` is the page of an application that the link opens."""

    email: str
    role_ids: Collection[str]
    inviter_uid: str
    url: str | None = None
    is_managed: bool = False


@dataclass(frozen=True)
class ValidInvitation:
    """An invitation that may be made: what is stored of it, and the account that has the address."""

    organization: OrganizationRecord
    email: str
    email_key: str
    role_ids: list[str]
    inviter: Account
    facts: dict[str, Any]
    holder: Account | None


class InvitationRules:
    """Checks new invitations to an organization by what was read once for all of them, with their normalized addresses."""

    def __init__(self, context: Context, organization: OrganizationRecord, keys: Collection[str]) -> None:
        self._context, self._organization = context, organization
        self._roles: dict[tuple[str, ...], list[str]] = {}
        self._inviters: dict[str, Account] = {}
        self._accounts = accounts.by_emails(context, keys)
        uids = {account.uid for account in self._accounts.values()}
        self._members = membership_store.members_among(context, organization.org_id, uids)
        self._invited = invitation_store.invited_among(context, organization.org_id, keys)
        self._taken = taken_seats(context, organization) if organization.seats is not None else 0

    def check(self, request: InvitationRequest) -> ValidInvitation:
        """Return the invitation if it may be made. Its address must be among those of `read_rules`.

        Raises:
            WrongInvitationEmail: the address is malformed.
            MalformedRoleId, UnknownOrganizationRole: also for a role of another organization.
            BadParameter: without roles, and there is no role of new members.
            WrongInviter: no account, or no member of the organization.
            AlreadyMember, InvitationExists, NoSeatLeft.
        """
        organization, email_key = self._organization, _key_of(request.email)
        if email_key is None:
            raise errors.WrongInvitationEmail
        role_ids, inviter = self._checked_roles(request.role_ids), self._inviter(request.inviter_uid)
        account = self._accounts.get(email_key)
        if account is not None and account.uid in self._members:
            raise errors.AlreadyMember
        if email_key in self._invited:
            raise errors.InvitationExists
        if organization.seats is not None and self._taken >= organization.seats:
            raise errors.NoSeatLeft
        facts = {**({URL: request.url} if request.url else {}), **({MANAGED: True} if request.is_managed else {})}
        holder = account if account is not None and is_verified(account, email_key) else None
        return ValidInvitation(organization, request.email.strip(), email_key, role_ids, inviter, facts, holder)

    def count(self, added: ValidInvitation) -> None:
        """Let the next checks know of an invitation that was added."""
        self._invited.add(added.email_key)
        self._taken += 1

    def _checked_roles(self, role_ids: Collection[str]) -> list[str]:
        key = tuple(role_ids)
        if key not in self._roles:
            self._roles[key] = granted_roles.validated_roles(self._context, self._organization, key)
        return self._roles[key]

    def _inviter(self, uid: str) -> Account:
        if uid not in self._inviters:
            self._inviters[uid] = granted_roles.require_inviter(self._context, self._organization, uid)
        return self._inviters[uid]


def read_rules(context: Context, organization: OrganizationRecord, emails: Iterable[str]) -> InvitationRules:
    """Return the rules for invitations to these addresses, and end their expired ones. The organization must be locked alone."""
    keys = {key for email in emails if (key := _key_of(email)) is not None}
    rules = InvitationRules(context, organization, keys)
    invitation_store.end_expired(context, organization.org_id, keys)
    return rules


def _key_of(email: str) -> str | None:
    """Return the normalized address; None for a malformed one."""
    key = normalize_email(email)
    return key if key is not None and len(key) <= _MAX_LENGTH else None


def taken_seats(context: Context, organization: OrganizationRecord) -> int:
    """Return the number of members and open invitations."""
    return membership_store.count(context, organization.org_id) + invitation_store.count_open(
        context, organization.org_id
    )


def add(context: Context, checked: ValidInvitation) -> tuple[EmailInvitation, str]:
    """Add an invitation; return it and the token of its link. Raises InvitationExists."""
    invitation, token = invitation_store.add(
        context, org_id=checked.organization.org_id, email=checked.email, email_key=checked.email_key,
        role_ids=checked.role_ids, inviter_uid=checked.inviter.uid, facts=checked.facts,
    )  # fmt: skip
    _record(context, "organization.invited", invitation)
    return invitation, token


def require(context: Context, invitation_id: str) -> tuple[EmailInvitation, OrganizationRecord]:
    """Return the invitation and its active organization.

    Raises ClosedInvitation for a malformed id, UnknownOrganizationInvitation, OrganizationInactive.
    """
    if not organization_names.is_id(organization_names.INVITATION, invitation_id):
        raise errors.ClosedInvitation
    invitation = invitation_store.by_id(context, invitation_id)
    organization = organizations.by_id(context, invitation.org_id) if invitation is not None else None
    if invitation is None or organization is None:
        raise errors.UnknownOrganizationInvitation
    return invitation, organizations.active(organization)


def require_open(context: Context, token: str) -> tuple[EmailInvitation, OrganizationRecord]:
    """Return the open invitation by email with this token. Raises ClosedInvitation, OrganizationInactive."""
    invitation, organization = join_by_invitation.find(context, randomness.digest(token)) or (None, None)
    if not isinstance(invitation, EmailInvitation) or organization is None or not invitation.is_open:
        raise errors.ClosedInvitation
    return invitation, organizations.active(organization)


def change_roles(
    context: Context, invitation: EmailInvitation, organization: OrganizationRecord, role_ids: Collection[str]
) -> EmailInvitation:
    """Change the roles of an open invitation. Raises ClosedInvitation, MalformedRoleId, UnknownOrganizationRole, BadParameter."""
    _require_open(invitation)
    checked = granted_roles.validated_roles(context, organization, role_ids)
    changed = _found(invitation_store.change(context, invitation, role_ids=checked))
    _record(context, "organization.invitation_changed", changed)
    return changed


def renew_token(
    context: Context, invitation: EmailInvitation, url: str | None, *, by: str | None = None
) -> tuple[EmailInvitation, str]:
    """Return the open invitation with a new token and lifetime; the earlier link ends. `by`: the member who invites from now on.

    Raises ClosedInvitation.
    """
    _require_open(invitation)
    if url:
        invitation = _found(invitation_store.change(context, invitation, facts={**invitation.facts, URL: url}))
    renewed = invitation_store.renew_token(context, invitation, **({"inviter_uid": by} if by else {}))
    if renewed is None:
        raise errors.ClosedInvitation
    _record(context, "organization.invitation_resent", renewed[0])
    return renewed


def revoke(context: Context, invitation: EmailInvitation, *, by: str | None = None) -> EmailInvitation:
    """End an open invitation; `by`: the member who does. Raises ClosedInvitation."""
    _require_open(invitation)
    revoked = _found(invitation_store.close(context, invitation, REVOKED))
    _record(context, "organization.invitation_revoked", revoked, by)
    return revoked


def decline(context: Context, invitation: EmailInvitation) -> EmailInvitation:
    """End an open invitation on behalf of the owner of its address. Raises ClosedInvitation."""
    _require_open(invitation)
    declined = _found(invitation_store.close(context, invitation, REVOKED, **{DECLINED: True}))
    _record(context, "organization.invitation_declined", declined)
    return declined


def holder(context: Context, invitation: AnyInvitation) -> Account | None:
    """Return the account that has verified the invited address; None for a shared invitation."""
    if not isinstance(invitation, EmailInvitation):
        return None
    account = accounts.by_email(context, invitation.email_key)
    return account if account is not None and is_verified(account, invitation.email_key) else None


def _require_open(invitation: EmailInvitation) -> None:
    if not invitation.is_open:
        raise errors.ClosedInvitation


def _found(invitation: EmailInvitation | None) -> EmailInvitation:
    if invitation is None:
        raise errors.ClosedInvitation
    return invitation


def _record(context: Context, event: str, invitation: EmailInvitation, uid: str | None = None) -> None:
    facts = {"org_id": invitation.org_id, "invitation_id": invitation.invitation_id}
    context.audit.record(event, uid=uid or invitation.inviter_uid, **facts)
