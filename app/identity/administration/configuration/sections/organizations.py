"""The organizations of a configuration file, and the roles of the tenant for their members.

A key in the file overwrites the value of the organization; an absent key leaves it. Nothing is removed, with `prune` neither:
organizations are the tenant's customers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from app.contract.organizations.file import OrganizationFile, OrganizationRoleFile, TenantRoleFile
from app.contract.tenants.file import TenantFile
from app.contract.tenants.settings import TenantSettings
from app.identity.administration.configuration.file.document import Path
from app.identity.administration.configuration.plan import Change, ChangeAction, Run, differences
from app.identity.administration.configuration.sections import organization_values as values
from app.identity.administration.configuration.tenant_context import context_of
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts import store as account_store
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.organizations import names, policies
from app.identity.directory.organizations import service as organizations
from app.identity.directory.organizations import store as organization_store
from app.identity.directory.organizations.domains import membership_domains
from app.identity.directory.organizations.domains import service as domains
from app.identity.directory.organizations.memberships import service as memberships
from app.identity.directory.organizations.organization import OrganizationRecord, RoleRecord
from app.identity.directory.organizations.roles import store as role_store
from app.identity.platform.context import Context
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.operations.errors import ApiError

_IDENTIFIERS = (identifiers.EMAIL, identifiers.USERNAME, identifiers.PHONE)


@dataclass
class OrganizationPass:
    """Applies the organizations of one tenant, after its accounts."""

    run: Run
    declared: TenantFile
    path: Path
    settings: TenantSettings
    is_new: bool

    @cached_property
    def context(self) -> Context:
        return context_of(self.run.services, self.run.work, self.declared.name, self.settings)

    def changes(self) -> Iterator[Change]:
        """Yield a change for each role and organization; with `run.writes`, write it before."""
        for number, role in enumerate(self.declared.organization_roles or ()):
            yield self._role(role, (*self.path, "organization_roles", number))
        for number, organization in enumerate(self.declared.organizations or ()):
            yield self._organization(organization, (*self.path, "organizations", number))
        if self.run.writes:
            if not self.is_new:
                membership_domains.forget(self.context)
            self.context.audit.write(self.context.work)

    def _role(self, declared: TenantRoleFile, path: Path) -> Change:
        stored, details = self._set_role(declared, "", path)
        if declared.default and (stored is None or not stored.is_default):
            details.append("default: false -> true")
            if self.run.writes:
                role_store.set_default(self.context, self._role_named(declared.name, "", path).role_id)
        action = ChangeAction.CREATE if stored is None else ChangeAction.CHANGE if details else ChangeAction.UNCHANGED
        return Change(action, self.declared.name, "organization role", declared.name, tuple(details) if stored else ())

    def _set_role(self, declared: OrganizationRoleFile, org_id: str, path: Path) -> tuple[RoleRecord | None, list[str]]:
        """Create or change a role. Return it as it was, and the differences."""
        name, stored = self._name(declared.name, path), None
        if not self.is_new:
            stored = next((role for role in role_store.by_name(self.context, declared.name, [org_id])), None)
        before = values.of_role(self.context, stored) if stored is not None else {}
        after = {"description": declared.description, "permissions": sorted(declared.permissions)}
        details = [*differences(before, after)]
        if self.run.writes and (stored is None or details):
            permissions = self._permissions(declared.permissions)
            if stored is None:
                role_store.add_role(self.context, org_id, name, declared.description, permissions)
            else:
                role_store.change_role(self.context, stored.role_id, stored.name, declared.description, permissions)
            self.context.audit.record("organization.role_applied", org_id=org_id, name=name, source="file")
        return stored, details

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

    def _organization(self, declared: OrganizationFile, path: Path) -> Change:
        name = self._name(declared.name, (*path, "name"))
        stored = None if self.is_new else organization_store.by_name(self.context, name)
        details = [*differences(values.stored(stored), values.declared(declared, stored))] if stored is not None else []
        try:
            columns = values.columns(declared, stored)
        except ApiError as refusal:
            self._refuse(path, refusal)
        organization = stored
        if self.run.writes and stored is None:
            organization = organization_store.add(self.context, name, columns["display"], columns["metadata"])
            self.context.audit.record("organization.created", org_id=organization.org_id, source="file")
        elif self.run.writes and stored is not None and details:
            organization_store.change(self.context, stored.org_id, columns)
            self.context.audit.record("organization.changed", org_id=stored.org_id, source="file")
        details += self._parts(declared, organization, path)
        if self.run.writes and organization is not None and "is_active" in declared.model_fields_set:
            organization_store.set_active(self.context, organization.org_id, declared.is_active)
        action = ChangeAction.CREATE if stored is None else ChangeAction.CHANGE if details else ChangeAction.UNCHANGED
        return Change(action, self.declared.name, "organization", declared.name, tuple(details) if stored else ())

    def _parts(self, declared: OrganizationFile, organization: OrganizationRecord | None, path: Path) -> list[str]:
        """Apply roles, domains, policies and members. Return the differences; of a new organization a plan has none."""
        details = []
        for number, role in enumerate(declared.roles):
            stored, found = None, [""]
            if organization is not None:
                stored, found = self._set_role(role, organization.org_id, (*path, "roles", number))
            details += (
                [f"roles: {role.name} added" if stored is None else f"roles: {role.name} changed"]
                if found or stored is None
                else []
            )
        details += self._domains(declared, organization, path)
        details += self._policies(declared, organization, path)
        for number, member in enumerate(declared.members):
            inner = (*path, "members", number)
            account = self._account(member.account, inner)
            if organization is None or account is None:
                continue
            details += self._member(organization, account, member.roles, inner, member.account)
        return details

    def _domains(self, declared: OrganizationFile, organization: OrganizationRecord | None, path: Path) -> list[str]:
        details = []
        for number, domain in enumerate(declared.domains):
            try:
                name = domains.checked(domain.name)
                stored = domains.by_name(self.context, organization, name) if organization is not None else None
                if stored is not None and (stored.is_verified or not domain.verified):
                    continue
                details.append(f"domains: {name} {'verified' if domain.verified else 'added'}")
                if self.run.writes and organization is not None:
                    if stored is not None:
                        domains.remove(self.context, stored, is_retained=True)
                    domains.add(self.context, organization, name, is_verified=domain.verified)
            except ApiError as refusal:
                self._refuse((*path, "domains", number), refusal)
        return details

    def _policies(self, declared: OrganizationFile, organization: OrganizationRecord | None, path: Path) -> list[str]:
        if declared.policies is None:
            return []
        inner = (*path, "policies")
        role_id = self._default_role(declared.policies.default_role, organization, inner)
        after = values.policies(declared.policies, role_id)
        try:
            policies.check(self.context, organization, after)
        except ApiError as refusal:
            self._refuse(inner, refusal)
        stored = values.stored_policies(after)
        before = organization.policies if organization is not None else {}
        if self.run.writes and organization is not None and stored != before:
            organization_store.change(self.context, organization.org_id, {"policies": stored})
        return [*differences(before, stored, "policies.")]

    def _default_role(self, name: str | None, organization: OrganizationRecord | None, path: Path) -> str | None:
        """Return the id of the role of new members; None if there is none, or if a plan finds it among those of the file."""
        if name is None or organization is None:
            return None
        found = role_store.by_name(self.context, name, ["", organization.org_id])
        if not found and not self.run.writes and self._is_planned([name]):
            return None
        return self._role_named(name, organization.org_id, path).role_id

    def _member(
        self, organization: OrganizationRecord, account: Account, requested: Sequence[str], path: Path, label: str
    ) -> list[str]:
        """Add the roles that the account lacks. Return one line if there are any."""
        found = self._roles_of(organization)
        unknown = [name for name in requested if names.key_of(name) not in found]
        if unknown and (self.run.writes or not self._is_planned(unknown)):
            self.run.refuse(path, f"expected roles of the organization or the tenant; found {unknown[0]}")
        ids = [found[names.key_of(name)].role_id for name in requested if names.key_of(name) in found]
        stored = memberships.held_role_ids(self.context, account, organization)
        if not set(ids) - stored and not unknown:
            return []
        if self.run.writes:
            try:
                memberships.join(self.context, account, organizations.active(organization), ids)
            except ApiError as refusal:
                self._refuse(path, refusal)
        return [f"members: {label} gets {', '.join(sorted(requested))}"]

    def _is_planned(self, requested: Iterable[str]) -> bool:
        """Return whether the file creates roles with these names."""
        listed = [*(self.declared.organization_roles or ())]
        listed += [role for organization in self.declared.organizations or () for role in organization.roles]  # type: ignore[misc] # roles of both levels
        return {names.key_of(item) for item in requested} <= {names.key_of(role.name) for role in listed}

    def _roles_of(self, organization: OrganizationRecord) -> dict[str, RoleRecord]:
        """Return the roles that members can have, by normalized name; the organization's own before the tenant's."""
        return {names.key_of(role.name): role for role in role_store.roles(self.context, ["", organization.org_id])}

    def _role_named(self, name: str, org_id: str, path: Path) -> RoleRecord:
        found = role_store.by_name(self.context, name, list({"", org_id}))
        if not found:
            self.run.refuse(path, f"expected a role of the organization or the tenant; found {name}")
        return found[0]

    def _account(self, text: str, path: Path) -> Account | None:
        """Return the account; None if a plan finds it among those that the file creates."""
        for kind in _IDENTIFIERS:
            form = identifiers.normalize(kind, text)
            stored = account_store.by_identifier(self.context, kind, form) if form else None
            if stored is not None:
                if form and not self._is_proven(stored, kind, form):
                    self.run.refuse(
                        (*path, "account"), f"expected a verified email or phone of an account; found {text}"
                    )
                return stored
        if self.run.writes or text not in {account.label for account in self.declared.accounts or ()}:
            self.run.refuse((*path, "account"), f"expected the email, username or phone of an account; found {text}")
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
        return not self.run.writes and any(  # a plan: the file verifies it
            switch and value and identifiers.normalize(kind, value) == form for value, switch in switches
        )

    def _name(self, name: str, path: Path) -> str:
        try:
            return names.checked(name)
        except ApiError as refusal:
            self._refuse(path, refusal)

    def _refuse(self, path: Path, refusal: ApiError) -> NoReturn:
        self.run.refuse(path, f"expected another value: {refusal.message}. {refusal.description}")


def exported(
    services: IdentityServices, work: UnitOfWork, name: str, settings: TenantSettings, *, has_all_members: bool
) -> dict[str, Any]:
    """Return the organizations and roles of a tenant as a file has them; the members as `values.exported` selects them."""
    return values.exported(context_of(services, work, name, settings), has_all_members=has_all_members)
