"""The accounts and roles of a whole tenant, as a SCIM connection of it sees and changes them: with the rights of its servers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Select

from app.contract.accounts.account_operations import AccountUpdateFields
from app.contract.scim import scim_errors
from app.identity.directory.accounts import account_store, assigned_roles
from app.identity.directory.accounts.account import Account
from app.identity.directory.provisioning import provisioned_user_store
from app.identity.directory.provisioning.connection_store import TENANT
from app.identity.directory.provisioning.provisioned_user_store import ACTIVE, ListedUser
from app.identity.directory.roles import tenant_role_store, tenant_roles
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.context import Context
from app.identity.use_cases.accounts import server_accounts, server_update
from app.identity.use_cases.scim.scope import ScimGroup
from app.kit.randomness import base64url


class TenantScope:
    """All accounts of the tenant; its groups are the tenant's roles, whose names do not change."""

    org_id = TENANT

    def __init__(self, context: Context) -> None:
        self.context = context

    def lock(self) -> None:
        self.context.work.begin()

    def lock_groups(self) -> None:
        """Lock the tenant, as other changes of its roles do, so that no change of a group is lost; accounts are locked after it."""
        self.lock()
        tenant_writes.lock(self.context.work)

    def members(self) -> Select[Any] | None:
        return None

    def address_among(self, candidates: Sequence[str]) -> str | None:
        return next(iter(candidates), None)

    def owns(self, account: Account) -> bool:  # noqa: ARG002 - the signature of every scope
        return True

    def owns_primary_address(self, account: Account) -> bool:
        return self.owns(account)

    def may_link(self, account: Account) -> bool:  # noqa: ARG002 - as above
        """Return False: every account of the tenant is listed already."""
        return False

    def is_active(self, person: ListedUser) -> bool:
        return person.account.is_active

    def admit(self, account: Account, role_ids: Collection[str] = ()) -> None:
        """Do nothing: an account is in the tenant by itself."""

    def activate(self, person: ListedUser) -> dict[str, Any]:
        server_update.change(self.context, person.account, AccountUpdateFields(is_active=True), None)
        return {"state": ACTIVE}

    def close(self, person: ListedUser, state: str) -> dict[str, Any]:
        """Block the account, which ends its sessions and tokens."""
        server_update.change(self.context, person.account, AccountUpdateFields(is_active=False), None)
        return {"state": state}

    def delete(self, person: ListedUser) -> None:
        server_accounts.delete(self.context, person.account)

    def groups(self) -> list[ScimGroup]:
        shown = {id_: item.display_name for id_, item in provisioned_user_store.groups(self.context, TENANT).items()}
        return [
            ScimGroup(
                _id_of(row.name), shown.get(_id_of(row.name)) or row.name, row.name, row.created_at, row.modified_at
            )
            for row in tenant_role_store.all_roles(self.context.work)
        ]

    def group(self, group_id: str) -> ScimGroup | None:
        return next((group for group in self.groups() if group.id == group_id), None)

    def groups_of(self, uids: Collection[str]) -> dict[str, list[tuple[str, str]]]:
        names = {group.id: group.name for group in self.groups()}
        return {
            account.uid: [(_id_of(name), names.get(_id_of(name), name)) for name in account.roles or ()]
            for account in account_store.by_uids(self.context, uids)
        }

    def group_members(self, group_id: str) -> list[str]:
        return assigned_roles.holders(self.context.work, self._name(group_id))

    def add_group(self, name: str) -> ScimGroup:
        if any(group.name == name for group in self.groups()):
            raise scim_errors.ScimUniqueness("displayName: the tenant has a role with this name.")
        tenant_roles.create(self.context, [tenant_roles.NewRole(name, ())])
        return ScimGroup(_id_of(name), name, name, self.context.now, self.context.now)

    def rename_group(self, group: ScimGroup, name: str) -> str | None:
        """Return the name to show: programs know the role by its own, which stays."""
        return name if name != group.role_name else None

    def delete_group(self, group: ScimGroup) -> None:
        tenant_roles.delete(self.context, group.role_name)

    def add_member(self, group_id: str, account: Account) -> None:
        tenant_roles.assign(self.context, account, [self._name(group_id)])

    def remove_member(self, group_id: str, account: Account) -> None:
        tenant_roles.unassign(self.context, account, [self._name(group_id)])

    def _name(self, group_id: str) -> str:
        found = self.group(group_id)
        if found is None:
            raise scim_errors.ScimNotFound
        return found.role_name


def _id_of(name: str) -> str:
    """Return a role's id, which is its name in letters that an address may have."""
    return base64url(name.encode())
