"""Applies the resource items of a configuration file, and exports items into one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final

from pydantic import BaseModel

from app.contract.configuration_model import STORED
from app.identity.administration.configuration.file.declared_resources import id_of, listed, wrong
from app.identity.administration.configuration.file.yaml_document import KeyPath
from app.identity.administration.configuration.plan import ChangeAction
from app.identity.administration.configuration.sections import shared_domains
from app.identity.administration.configuration.sections.section import ItemSection
from app.identity.administration.configuration.value_origins import Marks, changes_with_origins, marks, merged, unnamed
from app.identity.administration.resource_operations.resource_registry import rules_of, store_of
from app.identity.administration.resource_operations.write_resources import Writer
from app.identity.platform.resource_storage.items import API, FILE, Item, StoreAccess, unique_key
from app.identity.platform.resource_storage.rules import Change
from app.kit import randomness
from app.kit.operations.errors import ApiError
from app.kit.resources.resource import ENCRYPTED, MASKED, SECRET, SET_BY_SERVICE, Resource, ResourceMember
from app.kit.resources.resource_models import content_of
from app.kit.resources.resource_values import put_at, remove_at, secret_name, value_at

_NOTHING: Final[Any] = object()


@dataclass
class ResourceSection(ItemSection):
    """The items of one tenant's resources; resources that the file omits stay."""

    def plan(self) -> None:
        shared_domains.check(self)
        for resource in self.run.configuration.resources:
            items = _Items(self, resource)
            if self.declared.settings is None:
                for inner, item in listed(resource, self.declared, self.path):
                    for where, sentence in wrong(resource, item, inner, self.context.tenant.settings):
                        self.add_problem(where, sentence)
            if getattr(self.declared, resource.file_key) is not None:
                items.plan(list(listed(resource, self.declared, self.path)))
            elif rules_of(resource).warnings is not None:
                items.warn_of_held()


def exported(access: StoreAccess, resources: Sequence[Resource]) -> dict[str, list[dict[str, Any]]]:
    """Return the items as in a file, without secrets, by key; resources without items have no key."""
    found = {
        resource.file_key: [_exported(resource, item) for item in store_of(resource).items(access, resource)]
        for resource in resources
    }
    return {key: listed for key, listed in found.items() if listed}


def _exported(resource: Resource, item: Item) -> dict[str, Any]:
    document = (
        content_of(resource).model_validate(item.content, context=STORED).model_dump(mode="json", exclude_unset=True)
    )
    content, _ = _split(resource, document, _is_set_by_service)
    minted = {
        member.fields[-1]: part
        for member, part in zip(resource.keys, item.id, strict=True)
        if member.key and member.key.is_minted
    }
    return {**minted, **content}


@dataclass
class _Items:
    """The items of one resource. `section`: its tenant's."""

    section: ItemSection
    resource: Resource
    changes: list[Change] = field(default_factory=list)

    @property
    def access(self) -> StoreAccess:
        return StoreAccess.of(self.section.context)

    @cached_property
    def writer(self) -> Writer:
        return self.section.writer(self.resource)

    @property
    def kind(self) -> str:
        return self.resource.file_key.removesuffix("s")

    def plan(self, requested: Sequence[tuple[KeyPath, BaseModel]]) -> None:
        store, names = store_of(self.resource), dict[str, Any]()
        stored = {item.id: item for item in store.items(self.access, self.resource)}
        before = {item.id: self._marks_of(item) for item in stored.values()}
        ids = self._ids_by_unique_key(stored.values())
        for path, declared in requested:
            content, secrets = _content(self.resource, declared), _secrets(self.resource, declared)
            alike = ids.get(unique_key(self.resource, Item((), content)), ())
            item_id = id_of(self.resource, declared) or (alike if alike in stored else (randomness.guid(),))
            current = stored.pop(item_id, None)
            noted = marks(_split(self.resource, content)[0])
            names[" ".join(item_id)] = noted
            origin = {"by": FILE, "named": noted}
            try:
                if current is None:
                    self._add(Item(item_id, content, secrets, origin), path)
                else:
                    item = replace(current, secrets={**current.secrets, **secrets}, origin=origin)
                    self._change(current, item, content, before[item_id], path)
            except ApiError as refusal:
                self.section.add_problem(path, refusal.description)
        if not self.section.run.prune:
            self._refuse_values_of(stored.values(), requested)
        for item in stored.values():
            self._leave(item, before[item.id], names)
        self._check_together()
        if not store.keeps_origin:
            self.section.planned.named[self.resource.file_key] = names

    def warn_of_held(self) -> None:
        """Warn of the stored items of a resource that the file omits."""
        for item in store_of(self.resource).items(self.access, self.resource):
            self._warn(item)

    def _warn(self, item: Item) -> None:
        name = self.section.declared.name
        self.section.planned.warnings += [f"{name}: {warning}" for warning in rules_of(self.resource).warnings_of(item)]

    def _add(self, item: Item, path: KeyPath) -> None:
        write = partial(self.writer.put, None, item)
        self.section.note(ChangeAction.CREATE, self.kind, item.name, write=write, path=path)
        self._warn(item)
        self._complete(None, item)

    def _change(self, current: Item, item: Item, content: dict[str, Any], before: Marks | None, path: KeyPath) -> None:
        stored, beside = _split(self.resource, current.content)
        content, _ = _split(self.resource, content)
        item = replace(item, content=_joined(merged(stored, content, before or {}), beside))
        if (item.content, item.secrets) != (current.content, current.secrets):
            self._complete(current, item)
        after, _ = _split(self.resource, item.content)
        readable, encrypted = _split(self.resource, stored, _is_encrypted)
        readable_after, encrypted_after = _split(self.resource, after, _is_encrypted)
        details = list(changes_with_origins(readable, readable_after, before or {}))
        changed = [
            path for path in {**encrypted, **encrypted_after} if encrypted.get(path) != encrypted_after.get(path)
        ]
        details += [f"{'.'.join(path)}: changed" for path in changed]
        if item.secrets != current.secrets:
            details.append("secrets: changed")
        write: Callable[[], None] | None = None
        if details:
            write = partial(self.writer.put, current, replace(item, modified_at=self.section.run.now))
        elif store_of(self.resource).keeps_origin and item.origin != current.origin:
            write = partial(self.writer.put_origin, item)
        action = ChangeAction.CHANGE if details else ChangeAction.UNCHANGED
        self.section.note(
            action, self.kind, item.name, *details, *unnamed(readable_after, content), write=write, path=path
        )
        self._warn(item)

    def _complete(self, before: Item | None, after: Item) -> None:
        if (read := rules_of(self.resource).from_file) is not None:
            read(self.section.context, before, after)
        self.writer.check(after)
        self.writer.complete(before, after)
        self.changes.append((before, after))

    def _check_together(self) -> None:
        try:
            self.writer.check_together(self.changes)
        except ApiError as refusal:
            self.section.add_problem((*self.section.path, self.resource.file_key), refusal.description)

    def _leave(self, item: Item, before: Marks | None, names: dict[str, Any]) -> None:
        origin = "created through the API" if before is None else "created by an earlier file"
        if not self.section.run.prune:
            self._warn(item)
            self.section.note(
                ChangeAction.UNCHANGED, self.kind, item.name, f"not in the file; remove it with --prune ({origin})"
            )
            if before is not None:
                names[item.name] = before
            return
        self.changes.append((item, None))
        self.section.note(ChangeAction.REMOVE, self.kind, item.name, origin, write=partial(self.writer.remove, item))

    def _refuse_values_of(self, left: Iterable[Item], requested: Sequence[tuple[KeyPath, BaseModel]]) -> None:
        """Refuse a distinct value of the file that an item has which stays beside those of the file."""
        distinct = [member for member in self.resource.members if member.distinct is not None]
        owners = {(member.path, value_at(item.content, member.path)): item for item in left for member in distinct}
        for path, declared in requested:
            content = _content(self.resource, declared)
            for member in distinct:
                value = value_at(content, member.path)
                other = owners.get((member.path, value)) if value is not None else None
                if other is not None:
                    self.section.add_problem(
                        (*path, member.path[-1]), f"is already used by {other.name}, which isn't in the file"
                    )

    def _ids_by_unique_key(self, stored: Iterable[Item]) -> dict[str | None, tuple[str, ...]]:
        """Return the ids of the items by their unique values, which find the item that a file names without an id."""
        if not self.resource.unique:
            return {}
        return {unique_key(self.resource, item): item.id for item in stored}

    def _marks_of(self, item: Item) -> Marks | None:
        """Return the keys of an item that a file named; None if an operation created the item."""
        if store_of(self.resource).keeps_origin:
            return dict(item.origin.get("named", {})) if item.origin.get("by", API) == FILE else None
        found: Marks | None = self.section.planned.named.get(self.resource.file_key, {}).get(item.name)
        return found


def _content(resource: Resource, item: BaseModel) -> dict[str, Any]:
    beside = {
        member.fields[-1]
        for member in resource.members
        if SECRET in member.roles or (member.key and member.key.is_minted)
    }
    return item.model_dump(mode="json", exclude_unset=True, exclude=beside)


def _secrets(resource: Resource, item: BaseModel) -> dict[str, str]:
    declared = {
        secret_name(resource, member): getattr(item, member.fields[-1], None)
        for member in resource.members
        if SECRET in member.roles
    }
    return {name: value for name, value in declared.items() if value and value != MASKED}


def _is_set_by_service(member: ResourceMember) -> bool:
    return bool(member.roles & SET_BY_SERVICE)


def _is_encrypted(member: ResourceMember) -> bool:
    """Return whether plans must not show the value."""
    return ENCRYPTED in member.roles


def _is_of_service(member: ResourceMember) -> bool:
    """Return whether a file cannot change the value: a part of the id, or a value that the service sets."""
    return member.key is not None or _is_set_by_service(member)


def _split(
    resource: Resource, content: Mapping[str, Any], is_beside: Callable[[ResourceMember], bool] = _is_of_service
) -> tuple[dict[str, Any], dict[tuple[str, ...], Any]]:
    """Return the content without the values of such members, and those values by path."""
    rest, beside = deepcopy(dict(content)), dict[tuple[str, ...], Any]()
    for path in (member.path for member in resource.members if is_beside(member)):
        value = value_at(rest, path, _NOTHING)
        if value is not _NOTHING:
            beside[path] = value
            remove_at(rest, path)
            if path[:-1] and not value_at(rest, path[:-1]):
                remove_at(rest, path[:-1])
    return rest, beside


def _joined(content: dict[str, Any], beside: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    for path, value in beside.items():
        put_at(content, path, value)
    return content
