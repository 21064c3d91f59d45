"""The roles of a configuration file. The file sets the permissions of the roles that it lists."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from app.contract.roles.role_operations import MAX_ROLES
from app.identity.administration.configuration.file.yaml_document import KeyPath
from app.identity.administration.configuration.plan import ChangeAction, changed_values
from app.identity.administration.configuration.sections.section import FileSection
from app.identity.directory.roles import role_names, tenant_role_store, tenant_roles
from app.identity.directory.roles.tenant_roles import NewRole


class RoleSection(FileSection):
    """The roles of one tenant."""

    def plan(self) -> set[str]:
        """Plan the roles, and return the names of the tenant's roles after the run."""
        stored = {row.name: list(row.permissions) for row in tenant_role_store.all_roles(self.work)}
        requested = {role.name for role in self.declared.roles or ()}
        left = [] if self.declared.roles is None else [name for name in stored if name not in requested]
        for name in left:
            self.note_left("role", name, write=partial(tenant_role_store.remove_role, self.work, name))
        kept = stored.keys() - left if self.run.prune else stored.keys()
        names = {role_names.skeleton(name): name for name in kept}
        for number, role in enumerate(self.declared.roles or ()):
            path = (*self.path, "roles", number)
            new = NewRole(role.name, tuple(sorted(set(role.permissions))))
            if role.name in stored:
                self._change(path, stored[role.name], new)
            else:
                self._add(path, new, names)
                names.setdefault(role_names.skeleton(role.name), role.name)
        if len(names) > MAX_ROLES:
            self.add_problem(
                (*self.path, "roles"), f"expected at most {MAX_ROLES} roles, including those the tenant already has"
            )
        return requested | set(names.values())

    def _add(self, path: KeyPath, new: NewRole, names: Mapping[str, str]) -> None:
        if problem := tenant_roles.problem_with(new, names):
            self.add_problem(path, f"expected another value: {problem.description}")
        self.note(
            ChangeAction.CREATE, "role", new.name, write=partial(tenant_roles.add, self.work, [new], self.run.now)
        )

    def _change(self, path: KeyPath, before: list[str], new: NewRole) -> None:
        if problem := tenant_roles.problem_with_permissions(new.permissions):
            self.add_problem((*path, "permissions"), f"expected another value: {problem.description}")
        details = list(changed_values({"permissions": before}, {"permissions": list(new.permissions)}))
        write = partial(tenant_role_store.set_permissions, self.work, new.name, new.permissions, self.run.now)
        self.note_change("role", new.name, details, write=write)
