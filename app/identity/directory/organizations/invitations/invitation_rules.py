"""The rules that invitations by email and by link share: locks, roles, inviters, seats."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from app.contract import errors
from app.identity.directory.accounts import account_store, accounts
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.identifiers import normalize_email
from app.identity.directory.organizations import organization_names
from app.identity.directory.organizations.invitations import invitation_store
from app.identity.directory.organizations.invitations.invitation import MANAGED, URL, AnyInvitation
from app.identity.directory.organizations.memberships import managed_organization, membership_store, memberships
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.platform.context import Context

_MAX_LENGTH: Final = 320


def require_inviter(context: Context, organization: OrganizationRecord, uid: str) -> Account:
    """Return the member who invites. Raises WrongInviter."""
    account = inviter(context, uid)
    if account is None or not membership_store.of_account(context, account.uid, organization.org_id):
        raise errors.WrongInviter
    return account


def inviter(context: Context, uid: str) -> Account | None:
    """Return the account that invited, also under an id that it had; None if it is gone."""
    if not uid.strip() or len(uid) > 64:
        return None
    account = account_store.by_uid(context, uid)
    if account is None and (current := account_store.current_uid(context, uid)):
        account = account_store.by_uid(context, current)
    return account if account is not None and not account.is_deleted else None


def inviter_can_grant(context: Context, organization: OrganizationRecord, invitation: AnyInvitation) -> bool:
    """Return whether the member who invited on the account pages may still give these roles; True for those of servers.

    Otherwise a manager who lost the role could return by an invitation made before, and one whose account was blocked could go on
    letting people in. A link gives no role that became one of owners.
    """
    if not invitation.is_managed:
        return True
    account = inviter(context, invitation.inviter_uid)
    if account is None or not account.is_active or account.login_disabled:
        return False
    try:
        scope = managed_organization.load(context, account, organization.org_id)
    except errors.UnknownOrganization:
        return False
    role_ids = remaining_roles(context, organization, invitation.role_ids)
    if invitation.is_link:
        return all(managed_organization.can_share_role(context, scope, role_id) for role_id in role_ids)
    return managed_organization.can_give_roles(context, scope, role_ids)


def validated_roles(context: Context, organization: OrganizationRecord, role_ids: Collection[str]) -> list[str]:
    """Return the roles without repetitions. Raises MalformedRoleId, UnknownOrganizationRole, BadParameter."""
    requested = list(dict.fromkeys(role_ids))
    if not all(organization_names.is_id(organization_names.ROLE, role_id) for role_id in requested):
        raise errors.MalformedRoleId
    if not requested and not memberships.default_role_ids(context, organization):
        raise errors.BadParameter("The roleIds is a required parameter: the organization has no role of new members.")
    if requested and len(remaining_roles(context, organization, requested)) < len(requested):
        raise errors.UnknownOrganizationRole
    return requested


def remaining_roles(context: Context, organization: OrganizationRecord, role_ids: Collection[str]) -> list[str]:
    """Return those of the roles that still exist and fit the organization; the role of new members for none."""
    if not role_ids:
        return memberships.default_role_ids(context, organization)
    return _existing(context, organization, role_ids, is_locked=False)


def lock_remaining_roles(context: Context, organization: OrganizationRecord, role_ids: Collection[str]) -> list[str]:
    """Return the roles that an acceptance gives, as `remaining_roles`; they cannot be deleted before the commit.

    Call it before the first write: pages show a refusal that comes later, and what was written stays.

    Raises:
        ClosedInvitation: no role is left.
    """
    requested = role_ids or memberships.default_role_ids(context, organization)
    remaining = _existing(context, organization, requested, is_locked=True) if requested else []
    if not remaining:
        raise errors.ClosedInvitation
    return remaining


def _existing(
    context: Context, organization: OrganizationRecord, role_ids: Collection[str], *, is_locked: bool
) -> list[str]:
    found = organization_role_store.by_ids(context, set(role_ids), is_locked=is_locked)
    fitting = {role.role_id for role in found if role.fits(organization.org_id)}
    return [role_id for role_id in role_ids if role_id in fitting]


def join(context: Context, account: Account, organization: OrganizationRecord, role_ids: Collection[str]) -> None:
    """Make the account a member. Raises NoSeatLeft, and ClosedInvitation if a role was deleted in the meantime."""
    try:
        memberships.join(context, account, organization, role_ids)
    except errors.MalformedRoleId:
        raise errors.ClosedInvitation from None


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
            self._roles[key] = validated_roles(self._context, self._organization, key)
        return self._roles[key]

    def _inviter(self, uid: str) -> Account:
        if uid not in self._inviters:
            self._inviters[uid] = require_inviter(self._context, self._organization, uid)
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
