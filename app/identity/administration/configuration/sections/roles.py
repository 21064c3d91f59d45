"""The roles of a configuration file. The file sets the permissions of the roles that it lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from app.contract.roles.operations import MAX_ROLES
from app.identity.administration.configuration.file.document import Path
from app.identity.administration.configuration.plan import ChangeAction, differences
from app.identity.administration.configuration.sections.section import FileSection
from app.identity.directory.roles import names as role_names
from app.identity.directory.roles import service as roles
from app.identity.directory.roles import store as tenant_role_store
from app.identity.directory.roles.service import NewRole


@dataclass
class RoleSection(FileSection):
    """The roles of one tenant. `known`: the names of its roles after the run."""

    known: set[str] = field(default_factory=set)

    def plan(self) -> None:
        stored = {row.name: list(row.permissions) for row in tenant_role_store.all_roles(self.work)}
        requested = self.declared.roles
        left = [] if requested is None else [name for name in stored if name not in {role.name for role in requested}]
        for name in left:
            self._leave(name)
        self.known = set(stored) - (set(left) if self.run.prune else set())
        for number, role in enumerate(requested or ()):
            path = (*self.path, "roles", number)
            new = NewRole(role.name, tuple(sorted(set(role.permissions))))
            if role.name in stored:
                self._change(path, stored[role.name], new)
            else:
                self._add(path, new)
            self.known.add(role.name)
        if len(self.known) > MAX_ROLES:
            self.run.refuse(
                (*self.path, "roles"), f"expected at most {MAX_ROLES} roles, including those the tenant already has"
            )

    def _add(self, path: Path, new: NewRole) -> None:
        if problem := roles.problem_with(new, {role_names.skeleton(name): name for name in self.known}):
            self.run.refuse(path, f"expected another value: {problem.description}")
        write = partial(roles.add, self.work, [new], self.run.now)
        self.note(ChangeAction.CREATE, "role", new.name, write=write)

    def _change(self, path: Path, before: list[str], new: NewRole) -> None:
        if problem := roles.problem_with_permissions(new.permissions):
            self.run.refuse((*path, "permissions"), f"expected another value: {problem.description}")
        details = list(differences({"permissions": before}, {"permissions": list(new.permissions)}))
        write = partial(tenant_role_store.set_permissions, self.work, new.name, new.permissions, self.run.now)
        self.note_change("role", new.name, details, write=write)

    def _leave(self, name: str) -> None:
        self.note_left("role", name, write=partial(tenant_role_store.remove_role, self.work, name))
