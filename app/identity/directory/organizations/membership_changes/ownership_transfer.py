"""The rules by which an owner hands over an organization, or makes another member an owner too."""

from __future__ import annotations

from dataclasses import dataclass

from app.contract import errors
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account, can_sign_in
from app.identity.directory.organizations.membership_changes import departures
from app.identity.directory.organizations.memberships import managed_organization, membership_store, memberships
from app.identity.directory.organizations.memberships.managed_organization import ManagedOrganization
from app.identity.directory.organizations.organization import OWN, MemberRole, OrganizationRecord
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.platform.context import Context


@dataclass(frozen=True)
class Transferred:
    """A change of owners. `owner` is the new one; `is_new`: it was none before."""

    organization: OrganizationRecord
    owner: Account
    is_new: bool


def roles_after(context: Context, scope: ManagedOrganization) -> list[MemberRole]:
    """Return the roles of an owner who steps down: its others, else the role of new members; empty: it leaves."""
    owning = _owning(context, [role.role_id for role in scope.actor.roles])
    remaining = [role for role in scope.actor.roles if role.role_id not in owning]
    if remaining:
        return remaining
    default = memberships.default_role_ids(context, scope.organization)
    found = organization_role_store.by_ids(context, default) if default and not _owning(context, default) else []
    return [MemberRole(role.role_id, role.name) for role in found]


def transfer(context: Context, actor: Account, org_id: str, uid: str, *, steps_down: bool) -> Transferred:
    """Make a member an owner, and with `steps_down` take the ownership from the actor. Others cannot change owners meanwhile.

    The new owner gets the role through which the actor owns the organization: of several the one with the fewest permissions.

    Raises UnknownOrganization, NotAMember, OwnersOnly, OwnerCannotSignIn.
    """
    _may_transfer(context, actor, org_id, uid, for_change=True)
    for item in sorted((actor.uid, uid)):  # in one order, for the opposite transfer in another organization
        account_store.lock_unread(context, item)
    scope = _may_transfer(context, actor, org_id, uid)  # again: servers take roles under the account's lock alone
    owner = account_store.by_uid(context, uid)
    if owner is None:
        raise errors.NotAMember
    if not can_sign_in(owner):
        raise errors.OwnerCannotSignIn
    is_new = uid not in scope.owners.uids
    owning = _owning(context, [role.role_id for role in scope.actor.roles])
    if is_new:
        least = min(owning, key=lambda role_id: (len(owning[role_id]), role_id))
        memberships.join(context, owner, scope.organization, [least])
    if steps_down:
        _step_down(context, actor, scope, list(owning))
    context.audit.record(
        "organization.ownership_transferred", uid=actor.uid, org_id=org_id, owner=uid, steps_down=steps_down
    )
    return Transferred(scope.organization, owner, is_new)


def _may_transfer(
    context: Context, actor: Account, org_id: str, uid: str, *, for_change: bool = False
) -> ManagedOrganization:
    """Return the organization of which the actor may make this member an owner. Raises UnknownOrganization, NotAMember, OwnersOnly."""
    scope = managed_organization.load(context, actor, org_id, for_change=for_change)
    if not scope.is_owner:
        raise errors.OwnersOnly
    if uid == actor.uid or not membership_store.of_account(context, uid, org_id):
        raise errors.NotAMember
    return scope


def _step_down(context: Context, actor: Account, scope: ManagedOrganization, owning: list[str]) -> None:
    after = [role.role_id for role in roles_after(context, scope)]
    if not after:
        departures.leave(context, actor, scope.organization)
        return
    if missing := set(after) - memberships.held_role_ids(context, actor, scope.organization):
        memberships.join(context, actor, scope.organization, sorted(missing))
    departures.remove(context, actor, scope.organization, owning)


def _owning(context: Context, role_ids: list[str]) -> dict[str, set[str]]:
    """Return those of the roles that make an owner, with the names of their permissions."""
    found = organization_role_store.permissions_of(context, role_ids) if role_ids else {}
    named = {role_id: {permission.name for permission in permissions} for role_id, permissions in found.items()}
    return {role_id: item for role_id, item in named.items() if OWN in item}
