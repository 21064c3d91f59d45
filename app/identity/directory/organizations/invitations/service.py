"""The rules of invitations by email: creation, renewal, acceptance (decision 0190).

`public_api/organizations/invitations` sends the emails.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from app.contract import errors as e
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts import store as account_store
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.identifiers import normalize_email
from app.identity.directory.organizations import names, service
from app.identity.directory.organizations.invitations import invitation_rules, store
from app.identity.directory.organizations.invitations.invitation import (
    ACCEPTED,
    ACCEPTED_BY,
    DECLINED,
    MANAGED,
    REVOKED,
    URL,
    InvitationRecord,
)
from app.identity.directory.organizations.memberships import service as memberships
from app.identity.directory.organizations.memberships import store as member_store
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
    """A valid invitation: its stored values, and the account with the address."""

    organization: OrganizationRecord
    email: str
    email_key: str
    role_ids: list[str]
    inviter: Account
    facts: dict[str, Any]
    holder: Account | None


class InvitationRules:
    """Checks new invitations to a locked organization; reads the shared data once for all of them."""

    def __init__(self, context: Context, organization: OrganizationRecord, emails: Iterable[str]) -> None:
        keys = {key for email in emails if (key := _key_of(email)) is not None}
        self._context, self._organization = context, organization
        self._roles: dict[tuple[str, ...], list[str]] = {}
        self._inviters: dict[str, Account] = {}
        self._accounts = accounts.by_emails(context, keys)
        uids = {account.uid for account in self._accounts.values()}
        self._members = member_store.members_among(context, organization.org_id, uids)
        self._invited = store.invited_among(context, organization.org_id, keys)
        self._taken = taken_seats(context, organization) if organization.seats is not None else 0
        store.end_expired(context, organization.org_id, keys)

    def check(self, request: InvitationRequest) -> ValidInvitation:
        """Return the invitation if it may be made. Its address must be among those that were given at first.

        Raises:
            WrongInvitationEmail: the address is malformed.
            MalformedRoleId, UnknownOrganizationRole: also for a role of another organization.
            BadParameter: without roles, and there is no role of new members.
            WrongInviter: no account, or no member of the organization.
            AlreadyMember, InvitationExists, NoSeatLeft.
        """
        organization, email_key = self._organization, _key_of(request.email)
        if email_key is None:
            raise e.WrongInvitationEmail
        role_ids, inviter = self._checked_roles(request.role_ids), self._inviter(request.inviter_uid)
        account = self._accounts.get(email_key)
        if account is not None and account.uid in self._members:
            raise e.AlreadyMember
        if email_key in self._invited:
            raise e.InvitationExists
        if organization.seats is not None and self._taken >= organization.seats:
            raise e.NoSeatLeft
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
            self._roles[key] = invitation_rules.validated_roles(self._context, self._organization, key)
        return self._roles[key]

    def _inviter(self, uid: str) -> Account:
        if uid not in self._inviters:
            self._inviters[uid] = invitation_rules.require_inviter(self._context, self._organization, uid)
        return self._inviters[uid]


def _key_of(email: str) -> str | None:
    """Return the normalized address; None for a malformed one."""
    key = normalize_email(email)
    return key if key is not None and len(key) <= _MAX_LENGTH else None


def add(context: Context, checked: ValidInvitation) -> tuple[InvitationRecord, str]:
    """Add an invitation; return it and the token of its link. Raises InvitationExists."""
    invitation, token = store.add(
        context, org_id=checked.organization.org_id, email=checked.email, email_key=checked.email_key,
        role_ids=checked.role_ids, inviter_uid=checked.inviter.uid, facts=checked.facts,
    )  # fmt: skip
    _record(context, "organization.invited", invitation)
    return invitation, token


def taken_seats(context: Context, organization: OrganizationRecord) -> int:
    """Return the number of members and open invitations."""
    return member_store.count(context, organization.org_id) + store.count_open(context, organization.org_id)


def require(context: Context, invitation_id: str) -> tuple[InvitationRecord, OrganizationRecord]:
    """Return the invitation and its active organization.

    Raises ClosedInvitation for a malformed id, UnknownOrganizationInvitation, OrganizationInactive.
    """
    if not names.is_id(names.INVITATION, invitation_id):
        raise e.ClosedInvitation
    invitation = store.by_id(context, invitation_id)
    organization = service.by_id(context, invitation.org_id) if invitation is not None else None
    if invitation is None or organization is None:
        raise e.UnknownOrganizationInvitation
    return invitation, service.active(organization)


def require_open(context: Context, token: str) -> tuple[InvitationRecord, OrganizationRecord]:
    """Return the open invitation of a link. Raises ClosedInvitation, OrganizationInactive."""
    invitation = store.by_token_hash(context, randomness.digest(token))
    organization = service.by_id(context, invitation.org_id) if invitation is not None else None
    if not isinstance(invitation, InvitationRecord) or organization is None or not invitation.is_open:
        raise e.ClosedInvitation
    return invitation, service.active(organization)


def change_roles(
    context: Context, invitation: InvitationRecord, organization: OrganizationRecord, role_ids: Collection[str]
) -> InvitationRecord:
    """Change the roles of an open invitation. Raises ClosedInvitation, MalformedRoleId, UnknownOrganizationRole, BadParameter."""
    _require_open(invitation)
    checked = invitation_rules.validated_roles(context, organization, role_ids)
    changed = _found(store.change(context, invitation, role_ids=checked))
    _record(context, "organization.invitation_changed", changed)
    return changed


def renew_token(
    context: Context, invitation: InvitationRecord, url: str | None, *, by: str | None = None
) -> tuple[InvitationRecord, str]:
    """Return the open invitation with a new token and lifetime; the earlier link ends. `by`: the member who invites from now on.

    Raises ClosedInvitation.
    """
    _require_open(invitation)
    if url:
        invitation = _found(store.change(context, invitation, facts={**invitation.facts, URL: url}))
    renewed = store.renew_token(context, invitation, **({"inviter_uid": by} if by else {}))
    if renewed is None:
        raise e.ClosedInvitation
    _record(context, "organization.invitation_resent", renewed[0])
    return renewed


def revoke(context: Context, invitation: InvitationRecord, *, by: str | None = None) -> InvitationRecord:
    """End an open invitation; `by`: the member who does. Raises ClosedInvitation."""
    _require_open(invitation)
    revoked = _found(store.close(context, invitation, REVOKED))
    _record(context, "organization.invitation_revoked", revoked, by)
    return revoked


def decline(context: Context, invitation: InvitationRecord) -> InvitationRecord:
    """End an open invitation on behalf of the owner of its address. Raises ClosedInvitation."""
    _require_open(invitation)
    declined = _found(store.close(context, invitation, REVOKED, **{DECLINED: True}))
    _record(context, "organization.invitation_declined", declined)
    return declined


def accept(
    context: Context, invitation: InvitationRecord, account: Account, token_hash: str | None = None
) -> InvitationRecord:
    """Make the account a member, once: of simultaneous requests one succeeds.

    The invitation decides as it is now, not as the caller read it; `token_hash` must still be that of its link's token.

    Raises:
        ClosedInvitation: it is no longer open, has a newer link, no role of it is left, or its inviter may no longer give its roles.
        OrganizationInactive: of the invitation.
        WrongInvitationEmail: the account has not verified the invited address.
        NoSeatLeft: the organization is full.
    """
    _require_open(invitation)
    organization = service.lock_active(context, invitation.org_id, is_alone=True)
    # As it is now: the address may have been changed since the caller read the account.
    current = account_store.by_uid(context, account.uid) if account_store.lock(context, account.uid) else None
    if current is None or not is_verified(current, invitation.email_key):
        raise e.WrongInvitationEmail
    invitation = _found(store.locked(context, invitation.invitation_id, token_hash))
    _require_open(invitation)
    invitation_rules.require_inviter_rights(context, organization, invitation)
    role_ids = invitation_rules.remaining_roles(context, organization, invitation.role_ids)
    if not role_ids:
        raise e.ClosedInvitation
    is_member = bool(member_store.of_account(context, account.uid, organization.org_id))
    if not is_member and memberships.is_full(context, organization):
        raise e.NoSeatLeft
    accepted = _found(store.close(context, invitation, ACCEPTED, **{ACCEPTED_BY: account.uid}))
    invitation_rules.join(context, current, organization, role_ids)
    _record(context, "organization.invitation_accepted", accepted, uid=account.uid)
    return accepted


def holder(context: Context, invitation: InvitationRecord) -> Account | None:
    """Return the account that has verified the invited address."""
    account = accounts.by_email(context, invitation.email_key)
    return account if account is not None and is_verified(account, invitation.email_key) else None


def to_account(context: Context, account: Account, limit: int) -> list[InvitationRecord]:
    """Return the open invitations to the account's verified addresses, the newest first."""
    if not context.tenant.settings.organizations.enabled:
        return []
    verified = [str(entry["Value"]) for entry in account.emails if is_verified(account, str(entry["Value"]))]
    keys = {form for item in verified if (form := normalize_email(item))}
    return store.open_to(context, keys, limit) if keys else []


def require_to_account(context: Context, account: Account, invitation_id: str) -> InvitationRecord:
    """Return an invitation to one of the account's verified addresses, in any state. Raises UnknownOrganizationInvitation."""
    is_known = context.tenant.settings.organizations.enabled and names.is_id(names.INVITATION, invitation_id)
    invitation = store.by_id(context, invitation_id) if is_known else None
    if invitation is None or not is_verified(account, invitation.email_key):
        raise e.UnknownOrganizationInvitation
    return invitation


def _require_open(invitation: InvitationRecord) -> None:
    if not invitation.is_open:
        raise e.ClosedInvitation


def _found(invitation: InvitationRecord | None) -> InvitationRecord:
    if invitation is None:
        raise e.ClosedInvitation
    return invitation


def _record(context: Context, event: str, invitation: InvitationRecord, uid: str | None = None) -> None:
    facts = {"org_id": invitation.org_id, "invitation_id": invitation.invitation_id}
    context.audit.record(event, uid=uid or invitation.inviter_uid, **facts)
