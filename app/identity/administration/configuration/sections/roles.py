"""The roles of a configuration file. The file sets the permissions of the roles that it lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from app.contract.roles.operations import MAX_ROLES
from app.contract.tenants.file import TenantFile
from app.identity.administration.configuration.file.document import Path
from app.identity.administration.configuration.plan import Change, ChangeAction, Run, differences
from app.identity.directory.roles import names as role_names
from app.identity.directory.roles import service as roles
from app.identity.directory.roles import store as tenant_role_store
from app.identity.directory.roles.service import NewRole


@dataclass
class RolePass:
    """Applies the roles of one tenant. `known`: the names of its roles after the run."""

    run: Run
    declared: TenantFile
    path: Path
    is_new: bool
    known: set[str] = field(default_factory=set)

    def changes(self) -> Iterator[Change]:
        """Yield a change for each role; with `run.writes`, write it before."""
        stored = (
            {}
            if self.is_new
            else {row.name: list(row.permissions) for row in tenant_role_store.all_roles(self.run.work)}
        )
        requested = self.declared.roles
        left = [] if requested is None else [name for name in stored if name not in {role.name for role in requested}]
        for name in left:
            yield self._leave(name)
        self.known = set(stored) - (set(left) if self.run.prune else set())
        for number, role in enumerate(requested or ()):
            path = (*self.path, "roles", number)
            new = NewRole(role.name, tuple(sorted(set(role.permissions))))
            if role.name in stored:
                yield self._change(path, stored[role.name], new)
            else:
                yield self._add(path, new)
            self.known.add(role.name)
        if len(self.known) > MAX_ROLES:
            self.run.refuse(
                (*self.path, "roles"), f"expected at most {MAX_ROLES} roles, including those the tenant already has"
            )

    def _add(self, path: Path, new: NewRole) -> Change:
        if problem := roles.problem_with(new, {role_names.skeleton(name): name for name in self.known}):
            self.run.refuse(path, f"expected another value: {problem.description}")
        if self.run.writes:
            roles.add(self.run.work, [new], self.run.now)
        return self._noted(ChangeAction.CREATE, new.name)

    def _change(self, path: Path, before: list[str], new: NewRole) -> Change:
        if problem := roles.problem_with_permissions(new.permissions):
            self.run.refuse((*path, "permissions"), f"expected another value: {problem.description}")
        details = tuple(differences({"permissions": before}, {"permissions": list(new.permissions)}))
        if details and self.run.writes:
            tenant_role_store.set_permissions(self.run.work, new.name, new.permissions, self.run.now)
        return self._noted(ChangeAction.CHANGE if details else ChangeAction.UNCHANGED, new.name, *details)

    def _leave(self, name: str) -> Change:
        if not self.run.prune:
            return self._noted(ChangeAction.UNCHANGED, name, "not in the file; remove it with --prune")
        if self.run.writes:
            tenant_role_store.remove_role(self.run.work, name)
        return self._noted(ChangeAction.REMOVE, name)

    def _noted(self, action: ChangeAction, name: str, *details: str) -> Change:
        return Change(action, self.declared.name, "role", name, details)
