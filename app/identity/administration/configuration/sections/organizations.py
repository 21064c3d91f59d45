"""The organizations of a configuration file, and the roles of the tenant for their members.

A key in the file overwrites the value of the organization; an absent key leaves it. Nothing is removed, with `prune` neither:
organizations are the tenant's customers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.contract.organizations.file import (
    OrganizationFile,
    OrganizationMemberFile,
    OrganizationPolicies,
    OrganizationRoleFile,
    TenantRoleFile,
)
from app.contract.tenants.settings import TenantSettings
from app.identity.administration.configuration.file.document import Path
from app.identity.administration.configuration.plan import ChangeAction, differences
from app.identity.administration.configuration.sections import organization_values as values
from app.identity.administration.configuration.sections.section import ItemSection
from app.identity.administration.configuration.tenant_context import context_of
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts import store as account_store
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.organizations import names, policies
from app.identity.directory.organizations import service as organizations
from app.identity.directory.organizations import store as organization_store
from app.identity.directory.organizations.domains import membership_domains
from app.identity.directory.organizations.domains import service as domains
from app.identity.directory.organizations.domains.service import OrganizationDomain
from app.identity.directory.organizations.memberships import service as memberships
from app.identity.directory.organizations.organization import OrganizationRecord, RoleRecord
from app.identity.directory.organizations.roles import store as role_store
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.operations.errors import ApiError

_IDENTIFIERS = (identifiers.EMAIL, identifiers.USERNAME, identifiers.PHONE)


_Write = Callable[[OrganizationRecord], object]
_Parts = Iterator[tuple[list[str], _Write]]
"""What a part of an organization changes, as details of the plan, and what writes it once the organization is stored."""


@dataclass
class OrganizationSection(ItemSection):
    """The organizations of one tenant, after its accounts."""

    def plan(self) -> None:
        for number, role in enumerate(self.declared.organization_roles or ()):
            self._tenant_role(role, (*self.path, "organization_roles", number))
        for number, organization in enumerate(self.declared.organizations or ()):
            self._organization(organization, (*self.path, "organizations", number))

    def _tenant_role(self, declared: TenantRoleFile, path: Path) -> None:
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
            role_store.set_default(self.context, role_store.by_name(self.context, declared.name, [""])[0].role_id)
        self._forget_domains()

    def _role(self, declared: OrganizationRoleFile, org_id: str, path: Path) -> tuple[RoleRecord | None, list[str]]:
        """Return the stored role, and the differences."""
        self._name(declared.name, path)
        stored = next((role for role in role_store.by_name(self.context, declared.name, [org_id])), None)
        before = values.of_role(self.context, stored) if stored is not None else {}
        after = {"description": declared.description, "permissions": sorted(declared.permissions)}
        return stored, [*differences(before, after)]

    def _write_role(self, declared: OrganizationRoleFile, org_id: str) -> None:
        name, permissions = names.checked(declared.name), self._permissions(declared.permissions)
        stored = role_store.by_name(self.context, name, [org_id])
        if stored:
            role_store.change_role(self.context, stored[0].role_id, stored[0].name, declared.description, permissions)
        else:
            role_store.add_role(self.context, org_id, name, declared.description, permissions)
        self.context.audit.record("organization.role_applied", org_id=org_id, name=name, source="file")

    def _permissions(self, requested: Iterable[str]) -> list[str]:
        """Return the ids of the permissions; those that do not exist are created."""
        known = {
            names.key_of(permission.name): permission.permission_id
            for permission in role_store.permissions(self.context, None, 0)
        }
        ids = []
        for name in sorted(set(requested)):
            key = names.key_of(name)
            if key not in known:
                known[key] = role_store.add_permission(self.context, name, "").permission_id
            ids.append(known[key])
        return list(dict.fromkeys(ids))

    def _organization(self, declared: OrganizationFile, path: Path) -> None:
        name = self._name(declared.name, (*path, "name"))
        stored = organization_store.by_name(self.context, name)
        details = [*differences(values.stored(stored), values.declared(declared, stored))] if stored is not None else []
        with self._refusing(path):
            columns = values.columns(declared, stored)
        writes: list[_Write] = []
        if stored is not None and details:
            writes.append(lambda organization: self._change_columns(organization, columns))
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

    def _roles(self, declared: OrganizationFile, stored: OrganizationRecord | None, path: Path) -> _Parts:
        for number, role in enumerate(declared.roles):
            found, is_changed = None, True
            if stored is not None:
                found, changed = self._role(role, stored.org_id, (*path, "roles", number))
                is_changed = found is None or bool(changed)
            if is_changed:
                detail = f"roles: {role.name} {'added' if found is None else 'changed'}"
                yield [detail], lambda row, role=role: self._write_role(role, row.org_id)  # type: ignore[misc]  # bound now

    def _domains(self, declared: OrganizationFile, stored: OrganizationRecord | None, path: Path) -> _Parts:
        for number, domain in enumerate(declared.domains):
            inner = (*path, "domains", number)
            with self._refusing(inner):
                name = domains.checked(domain.name)
                found = domains.by_name(self.context, stored, name) if stored is not None else None
            if found is None or (domain.verified and not found.is_verified):
                detail = f"domains: {name} {'verified' if domain.verified else 'added'}"
                yield [detail], partial(self._write_domain, found, name, domain.verified, inner)

    def _write_domain(
        self,
        found: OrganizationDomain | None,
        name: str,
        is_verified: bool,
        path: Path,
        organization: OrganizationRecord,
    ) -> None:
        with self._refusing(path):
            if found is not None:
                domains.remove(self.context, found, is_retained=True)
            domains.add(self.context, organization, name, is_verified=is_verified)

    def _policies(self, declared: OrganizationFile, stored: OrganizationRecord | None, path: Path) -> _Parts:
        if declared.policies is None:
            return
        before = stored.policies if stored is not None else {}
        after, role = self._policies_of(declared, stored, path), declared.policies.default_role
        if role is not None and self._default_role(declared, stored, path) is None:
            after.setdefault("MemberPolicy", {})["DefaultMemberRole"] = role  # the file adds it
        details = [*differences(before, after, "policies.")]
        if details or stored is None:
            yield details, partial(self._write_policies, declared, path)

    def _write_policies(self, declared: OrganizationFile, path: Path, organization: OrganizationRecord) -> None:
        after = self._policies_of(declared, organization, path)
        organization_store.change(self.context, organization.org_id, {"policies": after})

    def _policies_of(
        self, declared: OrganizationFile, organization: OrganizationRecord | None, path: Path
    ) -> dict[str, Any]:
        """Return the policies as the store has them, without a default role that the file adds."""
        requested = declared.policies or OrganizationPolicies()
        after = values.policies(requested, self._default_role(declared, organization, path))
        with self._refusing((*path, "policies")):
            policies.check(self.context, organization, after)
        return values.stored_policies(after)

    def _default_role(
        self, declared: OrganizationFile, organization: OrganizationRecord | None, path: Path
    ) -> str | None:
        """Return the id of the role of new members; None if there is none, or if the file adds it."""
        name = declared.policies.default_role if declared.policies is not None else None
        if name is None or organization is None:
            return None
        found = role_store.by_name(self.context, name, ["", organization.org_id])
        if not found and not self._adds_roles(declared, [name]):
            self.refuse((*path, "policies"), f"expected a role of the organization or the tenant; found {name}")
        return found[0].role_id if found else None

    def _members(self, declared: OrganizationFile, stored: OrganizationRecord | None, path: Path) -> _Parts:
        for number, member in enumerate(declared.members):
            inner = (*path, "members", number)
            account = self._account(member.account, inner)
            if stored is None or account is None or self._lacks(declared, stored, account, member.roles, inner):
                detail = f"members: {member.account} gets {', '.join(sorted(member.roles))}"
                yield [detail], partial(self._write_member, declared, member, inner)

    def _lacks(
        self,
        declared: OrganizationFile,
        organization: OrganizationRecord,
        account: Account,
        requested: Sequence[str],
        path: Path,
    ) -> bool:
        """Return whether the account lacks any of the roles, or the file adds one."""
        found = self._roles_of(organization)
        unknown = [name for name in requested if names.key_of(name) not in found]
        if unknown and not self._adds_roles(declared, unknown):
            self.refuse(path, f"expected roles of the organization or the tenant; found {unknown[0]}")
        ids = {found[names.key_of(name)].role_id for name in requested if name not in unknown}
        return bool(unknown or ids - memberships.held_role_ids(self.context, account, organization))

    def _write_member(
        self, declared: OrganizationFile, member: OrganizationMemberFile, path: Path, organization: OrganizationRecord
    ) -> None:
        """Add the roles that the account lacks."""
        account = self._account(member.account, path)
        if account is None or not self._lacks(declared, organization, account, member.roles, path):
            return
        found = self._roles_of(organization)
        ids = [found[names.key_of(name)].role_id for name in member.roles]
        with self._refusing(path):
            memberships.join(self.context, account, organizations.active(organization), ids)

    def _adds_roles(self, declared: OrganizationFile, requested: Iterable[str]) -> bool:
        """Return whether the file has roles with these names, of the organization or of the tenant."""
        listed = [*(self.declared.organization_roles or ()), *declared.roles]
        return {names.key_of(item) for item in requested} <= {names.key_of(role.name) for role in listed}

    def _roles_of(self, organization: OrganizationRecord) -> dict[str, RoleRecord]:
        """Return the roles that members can have, by normalized name; the organization's own before the tenant's."""
        return {names.key_of(role.name): role for role in role_store.roles(self.context, ["", organization.org_id])}

    def _account(self, text: str, path: Path) -> Account | None:
        """Return the account; None if the file adds it."""
        for kind in _IDENTIFIERS:
            form = identifiers.normalize(kind, text)
            stored = account_store.by_identifier(self.context, kind, form) if form else None
            if stored is not None:
                if form and not self._is_proven(stored, kind, form):
                    self.refuse((*path, "account"), f"expected a verified email or phone of an account; found {text}")
                return stored
        if text not in {account.label for account in self.declared.accounts or ()}:
            self.refuse((*path, "account"), f"expected the email, username or phone of an account; found {text}")
        return None

    def _is_proven(self, stored: Account, kind: str, form: str) -> bool:
        """Return whether the identifier is surely its owner's: anyone can register with another person's address."""
        if kind == identifiers.USERNAME or stored.private.get(account_store.FROM_FILE):
            return True
        is_email = kind == identifiers.EMAIL
        if is_verified(stored, form) if is_email else stored.phone_verified:
            return True
        switches = [
            (getattr(account, kind), getattr(account, f"{kind}_verified")) for account in self.declared.accounts or ()
        ]
        return any(switch and value and identifiers.normalize(kind, value) == form for value, switch in switches)

    def _name(self, name: str, path: Path) -> str:
        with self._refusing(path):
            return names.checked(name)

    @contextmanager
    def _refusing(self, path: Path) -> Generator[None, None, None]:
        """Report the refusal of an operation at a key of the file."""
        try:
            yield
        except ApiError as refusal:
            self.refuse(path, f"expected another value: {refusal.message}. {refusal.description}")


def exported(
    services: IdentityServices, work: UnitOfWork, name: str, settings: TenantSettings, *, has_all_members: bool
) -> dict[str, Any]:
    """Return the organizations and roles of a tenant as a file has them; the members as `values.exported` selects them."""
    return values.exported(context_of(services, work, name, settings), has_all_members=has_all_members)
