"""The people and groups of an organization, as a SCIM connection of it sees and changes them.

A person belongs to the organization, not the account: a deactivation ends the membership. An account that exists only because
this organization's identity provider created it is blocked with it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

from sqlalchemy import Select

from app.contract import errors
from app.contract.accounts.account_operations import AccountUpdateFields
from app.contract.scim import scim_errors
from app.identity.authentication.sign_in.sessions.revocation import end_sessions_and_tokens
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import normalize_email
from app.identity.directory.organizations import active_policies, organizations
from app.identity.directory.organizations.domains import domains
from app.identity.directory.organizations.membership_changes import departures
from app.identity.directory.organizations.memberships import membership_store, memberships
from app.identity.directory.organizations.organization import OrganizationRecord, RoleRecord
from app.identity.directory.organizations.roles import organization_role_store, organization_roles
from app.identity.directory.provisioning import provisioned_user_store
from app.identity.directory.provisioning.provisioned_user_store import ACTIVE, DELETED, ListedUser
from app.identity.platform.context import Context
from app.identity.use_cases.accounts import server_update
from app.identity.use_cases.scim.scope import ScimGroup


class OrganizationScope:
    """An organization."""

    def __init__(self, context: Context, org_id: str) -> None:
        self.context = context
        self.org_id = org_id

    @cached_property
    def organization(self) -> OrganizationRecord:
        """The organization, which must be active."""
        if not self.context.tenant.settings.organizations.enabled:
            raise scim_errors.ScimNotFound("Organizations are turned off.")
        try:
            return organizations.require_active(self.context, self.org_id)
        except (errors.UnknownOrganization, errors.OrganizationInactive):
            raise scim_errors.ScimNotFound("The organization was deleted or deactivated.") from None

    @cached_property
    def _domains(self) -> frozenset[str]:
        found = domains.of_organizations(self.context, [self.org_id])[self.org_id]
        return frozenset(domain.domain for domain in found if domain.is_verified)

    def lock(self) -> None:
        """Lock the organization until the commit; whoever gives roles locks it before accounts."""
        _ = self.organization
        organizations.lock_active(self.context, self.org_id, is_alone=True)

    def lock_groups(self) -> None:
        self.lock()

    def members(self) -> Select[Any] | None:
        _ = self.organization  # nobody sees those of an inactive one
        return membership_store.member_uids(self.context, self.org_id)

    # People.

    def address_among(self, candidates: Sequence[str]) -> str:
        """Return the first address of a verified domain. Raises ScimInvalidValue, whether or not an account has another one."""
        found = next((item for item in candidates if item.rpartition("@")[2] in self._domains), None)
        if found is None:
            raise scim_errors.ScimInvalidValue(
                "userName or emails: expected an address of a verified domain of the organization."
            )
        return found

    def owns(self, account: Account) -> bool:
        """Return whether the organization may change the account itself: it has a verified address of its domains."""
        return not self._domains.isdisjoint(account.email_list.verified_domains)

    def owns_primary_address(self, account: Account) -> bool:
        """Return whether the primary address is a verified one of the organization's domains: a private one stays the person's."""
        form = normalize_email(account.email or "")
        return form is not None and account.email_list.is_verified(form) and form.rpartition("@")[2] in self._domains

    def may_link(self, account: Account) -> bool:
        return self.owns(account)

    def is_active(self, person: ListedUser) -> bool:
        """Return whether the person is a member, or was not deactivated: whom people made a member again can be deactivated again."""
        return person.written is None or person.written.state == ACTIVE or person.is_member

    def admit(self, account: Account, role_ids: Collection[str] = ()) -> None:
        """Give the account its roles, or the role of new members. Raises ScimInvalidValue where every seat is taken."""
        existing = organization_role_store.by_ids(self.context, role_ids) if role_ids else []
        fitting = [role.role_id for role in existing if role.fits(self.org_id)]
        try:
            memberships.join(self.context, account, self.organization, fitting)
        except errors.NoSeatLeft:
            raise scim_errors.ScimInvalidValue("active: every seat of the organization is taken.") from None

    def activate(self, person: ListedUser) -> dict[str, Any]:
        """Let the person be a member again, with the roles from before. Return the values to store."""
        written = person.written
        account = person.account
        if written is not None and written.is_blocked:
            account = server_update.change(self.context, account, AccountUpdateFields(is_active=True), None)
        self.admit(account, written.role_ids if written is not None else ())
        return {"state": ACTIVE, "role_ids": [], "is_blocked": False}

    def close(self, person: ListedUser, state: str) -> dict[str, Any]:
        """End the membership with every session and token of the account. Return the values to store."""
        context, written = self.context, person.written
        account = account_store.lock(context, person.uid)
        if account is None:
            raise scim_errors.ScimNotFound
        active_policies.invalidate(context)  # another request may have changed them before the lock
        role_ids = sorted(active_policies.granted(context, person.uid).get(self.org_id, {}))
        if role_ids:
            departures.leave(context, account, self.organization)
        is_only_here = (
            written is not None and written.is_created and not membership_store.of_account(context, person.uid)
        )
        is_blocked = bool(written and written.is_blocked)
        if is_only_here and account.is_active:
            server_update.change(context, account, AccountUpdateFields(is_active=False), None)
            is_blocked = True
        end_sessions_and_tokens(context, account, reason="closed")
        kept = role_ids or (written.role_ids if written is not None else [])
        return {"state": state, "role_ids": kept if state != DELETED else [], "is_blocked": is_blocked}

    def delete(self, person: ListedUser) -> None:
        """Take the person out; what stays is that the person may not join on its own."""
        values = self.close(person, DELETED)
        provisioned_user_store.put(
            self.context, self.org_id, person.uid, **values, named=None, external_id=None, content={}
        )

    # Groups.

    def groups(self) -> list[ScimGroup]:
        """Return the roles of members, by id."""
        _ = self.organization
        found = organization_role_store.roles(self.context, ["", self.org_id])
        return sorted((_group(role) for role in found), key=lambda group: group.id)

    def group(self, group_id: str) -> ScimGroup | None:
        return next((group for group in self.groups() if group.id == group_id), None)

    def groups_of(self, uids: Collection[str]) -> dict[str, list[tuple[str, str]]]:
        """Return id and name of each person's groups."""
        found = membership_store.roles_of(self.context, self.org_id, uids)
        return {uid: [(role.role_id, role.name) for role in roles] for uid, roles in found.items()}

    def group_members(self, group_id: str) -> list[str]:
        found = self.context.work.all(membership_store.member_uids(self.context, self.org_id, group_id))
        return sorted(row.uid for row in found)

    def add_group(self, name: str) -> ScimGroup:
        """Create a role without permissions. Raises ScimUniqueness."""
        if organization_role_store.by_name(self.context, name, ["", self.org_id]):
            raise scim_errors.ScimUniqueness("displayName: the organization has a role with this name.")
        return _group(organization_roles.create(self.context, self.org_id, name, "", []))

    def rename_group(self, group: ScimGroup, name: str) -> str | None:
        """Rename the role; no other name is shown. Raises ScimMutability."""
        if not group.role_name:
            raise scim_errors.ScimMutability("displayName: the role belongs to the tenant.")
        role = organization_role_store.by_id(self.context, group.id)
        permissions = organization_role_store.permissions_of(self.context, [group.id])[group.id]
        organization_roles.update(
            self.context, group.id, name, role.description if role else "", [item.permission_id for item in permissions]
        )
        return None

    def delete_group(self, group: ScimGroup) -> None:
        if not group.role_name:
            raise scim_errors.ScimMutability("The role belongs to the tenant.")
        organization_roles.delete(self.context, group.id)

    def add_member(self, group_id: str, account: Account) -> None:
        memberships.join(self.context, account, self.organization, [group_id])

    def remove_member(self, group_id: str, account: Account) -> None:
        departures.remove(self.context, account, self.organization, [group_id])


def _group(role: RoleRecord) -> ScimGroup:
    return ScimGroup(role.role_id, role.name, role.name if role.org_id else "", role.created_at, role.modified_at)
