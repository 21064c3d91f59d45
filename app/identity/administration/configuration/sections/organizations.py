"""The organizations of a configuration file, and the roles of the tenant for their members.

A key in the file overwrites the value of the organization; an absent key leaves it. Nothing is removed, with `prune` neither:
organizations are the tenant's customers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from app.contract.organizations.file import (
    OrganizationFile,
    OrganizationMemberFile,
    OrganizationPolicies,
    OrganizationRoleFile,
    TenantRoleFile,
)
from app.identity.administration.configuration.file.yaml_document import KeyPath
from app.identity.administration.configuration.plan import ChangeAction, changed_values
from app.identity.administration.configuration.sections import organization_values
from app.identity.administration.configuration.sections.organization_members import MemberAccounts
from app.identity.administration.configuration.sections.section import ItemSection
from app.identity.directory.organizations import organization_names, organization_store, organizations, policies
from app.identity.directory.organizations.domains import domains, membership_domains
from app.identity.directory.organizations.domains.domains import OrganizationDomain
from app.identity.directory.organizations.memberships import membership_store, memberships
from app.identity.directory.organizations.organization import OrganizationRecord, RoleRecord
from app.identity.directory.organizations.roles import organization_role_store
from app.kit.operations.errors import ApiError

_Write = Callable[[OrganizationRecord], object]
_Parts = Iterator[tuple[list[str], _Write]]
"""What a part of an organization changes, as details of the plan, and what writes it once the organization is stored."""


@dataclass
class OrganizationSection(ItemSection):
    """The organizations of one tenant, after its accounts."""

    def plan(self) -> None:
        for number, role in enumerate(self.declared.organization_roles or ()):
            with self.collecting_problems():
                self._tenant_role(role, (*self.path, "organization_roles", number))
        for number, organization in enumerate(self.declared.organizations or ()):
            self._organization(organization, (*self.path, "organizations", number))

    def _tenant_role(self, declared: TenantRoleFile, path: KeyPath) -> None:
        stored, details = self._role(declared, "", path)
        is_changed = stored is None or bool(details)
        is_default = declared.default and (stored is None or not stored.is_default)
        details += ["default: false -> true"] if is_default else []
        write = partial(self._write_tenant_role, declared, is_changed=is_changed, is_default=is_default)
        if stored is None:
            self.note(ChangeAction.CREATE, "organization role", declared.name, write=write)
        else:
            self.note_change("organization role", declared.name, details, write=write)

    def _write_tenant_role(self, declared: TenantRoleFile, *, is_changed: bool, is_default: bool) -> None:
        if is_changed:
            self._write_role(declared, "")
        if is_default:
            organization_role_store.set_default(
                self.context, organization_role_store.by_name(self.context, declared.name, [""])[0].role_id
            )
        self._forget_domains()

    def _role(
        self, declared: OrganizationRoleFile, org_id: str | None, path: KeyPath
    ) -> tuple[RoleRecord | None, list[str]]:
        """Return the stored role, and the differences. `org_id`: empty for the tenant, None for a new organization."""
        self._name(declared.name, path)
        found = organization_role_store.by_name(self.context, declared.name, [org_id]) if org_id is not None else []
        before = organization_values.of_role(self.context, found[0]) if found else {}
        after = {"description": declared.description, "permissions": sorted(declared.permissions)}
        return (found[0] if found else None), [*changed_values(before, after)]

    def _write_role(self, declared: OrganizationRoleFile, org_id: str) -> None:
        name, permissions = organization_names.checked(declared.name), self._permissions(declared.permissions)
        stored = organization_role_store.by_name(self.context, name, [org_id])
        if stored:
            organization_role_store.change_role(
                self.context, stored[0].role_id, stored[0].name, declared.description, permissions
            )
        else:
            organization_role_store.add_role(self.context, org_id, name, declared.description, permissions)
        self.context.audit.record("organization.role_applied", org_id=org_id, name=name, source="file")

    def _permissions(self, requested: Iterable[str]) -> list[str]:
        """Return the ids of the permissions; those that do not exist are created."""
        known = {
            organization_names.key_of(permission.name): permission.permission_id
            for permission in organization_role_store.permissions(self.context, None, 0)
        }
        ids = []
        for name in sorted(set(requested)):
            key = organization_names.key_of(name)
            if key not in known:
                known[key] = organization_role_store.add_permission(self.context, name, "").permission_id
            ids.append(known[key])
        return list(dict.fromkeys(ids))

    def _organization(self, declared: OrganizationFile, path: KeyPath) -> None:
        name, stored = declared.name, None
        with self.collecting_problems():
            name = self._name(declared.name, (*path, "name"))
            stored = organization_store.by_name(self.context, name)
        details = (
            [*changed_values(organization_values.stored(stored), organization_values.declared(declared, stored))]
            if stored is not None
            else []
        )
        columns: dict[str, Any] = {}
        with self.collecting_problems(), self._refusing(path):
            columns = organization_values.columns(declared, stored)
        writes: list[_Write] = (
            [lambda row: self._change_columns(row, columns)] if stored is not None and details else []
        )
        for part in (self._roles, self._domains, self._policies, self._members):
            for shown, write in part(declared, stored, path):
                details += shown
                writes.append(write)
        if "is_active" in declared.model_fields_set:
            writes.append(lambda row: organization_store.set_active(self.context, row.org_id, declared.is_active))
        if stored is None:
            create = partial(self._add, name, columns, writes)
            self.note(ChangeAction.CREATE, "organization", declared.name, write=create)
        else:
            self.note_change("organization", declared.name, details, write=partial(self._write, stored, writes))

    def _add(self, name: str, columns: dict[str, Any], writes: Iterable[_Write]) -> None:
        added = organization_store.add(self.context, name, columns["display"], columns["metadata"])
        self.context.audit.record("organization.created", org_id=added.org_id, source="file")
        self._write(added, writes)

    def _write(self, organization: OrganizationRecord, writes: Iterable[_Write]) -> None:
        for write in writes:
            write(organization)
        self._forget_domains()

    def _change_columns(self, organization: OrganizationRecord, columns: dict[str, Any]) -> None:
        organization_store.change(self.context, organization.org_id, columns)
        self.context.audit.record("organization.changed", org_id=organization.org_id, source="file")

    def _forget_domains(self) -> None:
        if self.stored is not None:
            membership_domains.forget(self.context)

    def _roles(self, declared: OrganizationFile, stored: OrganizationRecord | None, path: KeyPath) -> _Parts:
        for number, role in enumerate(declared.roles):
            with self.collecting_problems():
                found, details = self._role(role, stored.org_id if stored else None, (*path, "roles", number))
                if found is None or details:
                    detail = f"roles: {role.name} {'added' if found is None else 'changed'}"
                    yield [detail], lambda row, role=role: self._write_role(role, row.org_id)  # type: ignore[misc]  # bound now

    def _domains(self, declared: OrganizationFile, stored: OrganizationRecord | None, path: KeyPath) -> _Parts:
        for number, domain in enumerate(declared.domains):
            inner = (*path, "domains", number)
            with self.collecting_problems(), self._refusing(inner):
                name = domains.checked(domain.name)
                found = domains.by_name(self.context, stored, name) if stored is not None else None
                if found is None or (domain.verified and not found.is_verified):
                    detail = f"domains: {name} {'verified' if domain.verified else 'added'}"
                    yield [detail], partial(self._write_domain, found, name, domain.verified, inner)

    def _write_domain(
        self,
        domain: OrganizationDomain | None,
        name: str,
        is_verified: bool,
        path: KeyPath,
        organization: OrganizationRecord,
    ) -> None:
        with self._refusing(path):
            if domain is not None:
                domains.remove(self.context, domain, is_retained=True)
            domains.add(self.context, organization, name, is_verified=is_verified)

    def _policies(self, declared: OrganizationFile, stored: OrganizationRecord | None, path: KeyPath) -> _Parts:
        if declared.policies is None:
            return
        before, role = stored.policies if stored is not None else {}, declared.policies.default_role
        with self.collecting_problems():
            role_id = self._default_role(declared, stored, path)
            after = self._policies_of(declared.policies, stored, role_id, path)
            if role is not None and role_id is None:
                after.setdefault("MemberPolicy", {})["DefaultMemberRole"] = role  # the file adds it
            details = [*changed_values(before, after, "policies.")]
            if details or stored is None:
                yield details, partial(self._write_policies, declared, declared.policies, path)

    def _write_policies(
        self,
        declared: OrganizationFile,
        requested: OrganizationPolicies,
        path: KeyPath,
        organization: OrganizationRecord,
    ) -> None:
        role_id = self._default_role(declared, organization, path)
        after = self._policies_of(requested, organization, role_id, path)
        organization_store.change(self.context, organization.org_id, {"policies": after})

    def _policies_of(
        self,
        requested: OrganizationPolicies,
        organization: OrganizationRecord | None,
        role_id: str | None,
        path: KeyPath,
    ) -> dict[str, Any]:
        """Return the policies as the store has them. `role_id`: the role of new members, unless the file adds it."""
        after = organization_values.policies(requested, role_id)
        with self._refusing((*path, "policies")):
            policies.check(self.context, organization, after)
        return organization_values.stored_policies(after)

    def _default_role(
        self, declared: OrganizationFile, organization: OrganizationRecord | None, path: KeyPath
    ) -> str | None:
        """Return the id of the role of new members; None if there is none, or if the file adds it."""
        name = declared.policies.default_role if declared.policies is not None else None
        if name is None:
            return None
        found = organization_role_store.by_name(self.context, name, _levels(organization))
        if not found and not self._adds_role(declared, name):
            self.refuse((*path, "policies"), f"expected a role of the organization or the tenant; found {name}")
        return found[0].role_id if found else None

    def _members(self, declared: OrganizationFile, stored: OrganizationRecord | None, path: KeyPath) -> _Parts:
        roles, held_roles = self._roles_of(stored), self._held_roles(declared.members, stored)
        details, lacking = [], []
        for number, member in enumerate(declared.members):
            inner = (*path, "members", number)
            self._check_member_roles(declared, member, roles, inner)
            with self.collecting_problems():
                account = self._accounts.find(member, inner)
                requested = {_role_id(roles, name) for name in member.roles}
                if account is None or not requested <= held_roles.get(account.uid, set()):
                    details.append(f"members: {member.account} gets {', '.join(sorted(member.roles))}")
                    lacking.append((member, inner))
        if lacking:
            yield details, partial(self._write_members, lacking)

    def _check_member_roles(
        self,
        declared: OrganizationFile,
        member: OrganizationMemberFile,
        roles: Mapping[str, RoleRecord],
        path: KeyPath,
    ) -> None:
        for name in member.roles:
            if organization_names.key_of(name) not in roles and not self._adds_role(declared, name):
                self.add_problem(path, f"expected roles of the organization or the tenant; found {name}")

    def _held_roles(
        self, members: Iterable[OrganizationMemberFile], organization: OrganizationRecord | None
    ) -> dict[str, set[str | None]]:
        """Return the ids of the roles that the members have in the organization, by account."""
        if organization is None:
            return {}
        uids = self._accounts.uids_of(members)
        roles = membership_store.roles_of(self.context, organization.org_id, uids) if uids else {}
        return {uid: {role.role_id for role in held} for uid, held in roles.items()}

    def _write_members(
        self, members: Sequence[tuple[OrganizationMemberFile, KeyPath]], organization: OrganizationRecord
    ) -> None:
        """Add the roles that the accounts lack."""
        accounts = self._accounts.as_stored_now(member for member, _ in members)
        roles = self._roles_of(organization)
        for member, path in members:
            account = self._accounts.find(member, path, accounts)
            ids = [roles[organization_names.key_of(name)].role_id for name in member.roles]
            with self._refusing(path):
                if account is not None:
                    memberships.join(self.context, account, organizations.active(organization), ids)

    def _adds_role(self, declared: OrganizationFile, name: str) -> bool:
        """Return whether the file has a role with this name, of the organization or of the tenant."""
        key = organization_names.key_of(name)
        return key in self._added_roles or key in {organization_names.key_of(role.name) for role in declared.roles}

    @cached_property
    def _added_roles(self) -> Set[str]:
        """The normalized names of the tenant's roles in the file."""
        return {organization_names.key_of(role.name) for role in self.declared.organization_roles or ()}

    def _roles_of(self, organization: OrganizationRecord | None) -> dict[str, RoleRecord]:
        """Return the stored roles that members can have, by normalized name; the organization's own before the tenant's."""
        return {
            organization_names.key_of(role.name): role
            for role in organization_role_store.roles(self.context, _levels(organization))
        }

    @cached_property
    def _accounts(self) -> MemberAccounts:
        return MemberAccounts(self)

    def _name(self, name: str, path: KeyPath) -> str:
        with self._refusing(path):
            return organization_names.checked(name)

    @contextmanager
    def _refusing(self, path: KeyPath) -> Generator[None, None, None]:
        """Report the refusal of an operation at a key of the file."""
        try:
            yield
        except ApiError as refusal:
            self.refuse(path, f"expected another value: {refusal.message}. {refusal.description}")


def _levels(organization: OrganizationRecord | None) -> list[str]:
    """Return the levels of roles that members can have: the tenant's, and the organization's once it is stored."""
    return ["", organization.org_id] if organization is not None else [""]


def _role_id(roles: Mapping[str, RoleRecord], name: str) -> str | None:
    """Return the id of a role; None if the file adds it."""
    found = roles.get(organization_names.key_of(name))
    return found.role_id if found is not None else None
