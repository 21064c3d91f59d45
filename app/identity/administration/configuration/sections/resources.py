"""Applies the resource items of a configuration file, and exports items into one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from pydantic import BaseModel

from app.identity.administration.configuration.file.declared_resources import id_of, listed, wrong
from app.identity.administration.configuration.file.document import Path
from app.identity.administration.configuration.file_writer import FileWriter
from app.identity.administration.configuration.plan import ChangeAction, Run
from app.identity.administration.configuration.value_origins import Marks, differences, marks, merged, unnamed
from app.identity.administration.resources.registry import rules_of, store_of
from app.identity.administration.resources.writing import Writer, equal_values, unique_key
from app.identity.platform.context import Context
from app.identity.platform.resources.items import API, FILE, Item, StoreAccess
from app.kit import randomness
from app.kit.operations.errors import ApiError
from app.kit.resources.models import content_of
from app.kit.resources.resource import MASKED, READ_ONLY, SECRET, Resource, ResourceMember
from app.kit.resources.values import put_at, remove_at, secret_name, value_at

_NOTHING: Final[Any] = object()


def apply(run: Run, declared: BaseModel, context: Context, path: Path, named: Marks, *, is_new: bool) -> None:
    """Apply the tenant's items; resources that the file omits stay.

    Args:
        context: with the tenant's settings after this run.
        named: the keys that earlier files named; updated with this file's keys where the store does not keep origins.
        is_new: whether this run adds the tenant.
    """
    for resource in run.configuration.resources:
        if getattr(declared, "settings", None) is None:
            for inner, item in listed(resource, declared, path):
                for where, sentence in wrong(resource, item, inner, context.tenant.settings):
                    run.refuse(where, sentence)
        if getattr(declared, resource.file_key) is not None:
            _Pass(run, resource, context, named, is_new).apply(list(listed(resource, declared, path)))
        elif rules_of(resource).warnings is not None:
            _Pass(run, resource, context, named, is_new).warn_of_held()


def exported(access: StoreAccess, resources: Sequence[Resource]) -> dict[str, list[dict[str, Any]]]:
    """Return the items as in a file, without secrets, by key; resources without items have no key."""
    found = {
        resource.file_key: [_exported(resource, item) for item in store_of(resource).items(access, resource)]
        for resource in resources
    }
    return {key: listed for key, listed in found.items() if listed}


def _exported(resource: Resource, item: Item) -> dict[str, Any]:
    document = content_of(resource).model_validate(item.content).model_dump(mode="json", exclude_unset=True)
    content, _ = _split(resource, document, _is_read_only)
    minted = {
        member.fields[-1]: part
        for member, part in zip(resource.keys, item.id, strict=True)
        if member.key and member.key.is_minted
    }
    return {**minted, **content}


@dataclass
class _Pass:
    """Applies one resource of one tenant."""

    run: Run
    resource: Resource
    context: Context
    named: Marks
    is_new: bool

    @property
    def access(self) -> StoreAccess:
        return StoreAccess.of(self.context)

    @cached_property
    def writer(self) -> Writer:
        return FileWriter(self.run, self.context, self.resource, self.is_new).writer

    def apply(self, requested: Sequence[tuple[Path, BaseModel]]) -> None:
        store, names = store_of(self.resource), dict[str, Any]()
        stored = {item.id: item for item in store.items(self.access, self.resource)}
        before = {item.id: self._marks_of(item) for item in stored.values()}
        for path, declared in requested:
            content, secrets = _content(self.resource, declared), _secrets(self.resource, declared)
            item_id = id_of(self.resource, declared) or self._alike(stored, content)
            current = stored.pop(item_id, None) if item_id else None
            item_id = item_id or (randomness.guid(),)
            noted = marks(_split(self.resource, content)[0])
            names[" ".join(item_id)] = noted
            origin = {"by": FILE, "named": noted}
            try:
                if current is None:
                    self._add(Item(item_id, content, secrets, origin))
                else:
                    item = replace(current, secrets={**current.secrets, **secrets}, origin=origin)
                    self._change(current, item, content, before[item_id])
            except ApiError as refusal:
                self.run.refuse(path, refusal.description)
        if not self.run.prune:
            self._refuse_values_of(stored.values(), requested)
        for item in stored.values():
            self._leave(item, before[item.id], names)
        if not store.keeps_origin:
            self.named[self.resource.file_key] = names

    def warn_of_held(self) -> None:
        """Warn of the stored items of a resource that the file omits."""
        for item in store_of(self.resource).items(self.access, self.resource):
            self._warn(item)

    def _warn(self, item: Item) -> None:
        name = self.context.tenant.name
        self.run.plan.warnings += [f"{name}: {warning}" for warning in rules_of(self.resource).warnings_of(item)]

    def _add(self, item: Item) -> None:
        self._note(ChangeAction.CREATE, item)
        self._warn(item)
        self._complete(None, item)
        if self.run.writes:
            self.writer.put(None, item)

    def _change(self, current: Item, item: Item, content: dict[str, Any], before: Marks | None) -> None:
        stored, beside = _split(self.resource, current.content)
        content, _ = _split(self.resource, content)
        item = replace(item, content=_joined(merged(stored, content, before or {}), beside))
        if (item.content, item.secrets) != (current.content, current.secrets):
            self._complete(current, item)
        after, _ = _split(self.resource, item.content)
        details = list(differences(stored, after, before or {}))
        if item.secrets != current.secrets:
            details.append("secrets: changed")
        action = ChangeAction.CHANGE if details else ChangeAction.UNCHANGED
        self._note(action, item, *details, *unnamed(after, content))
        self._warn(item)
        if self.run.writes and details:
            self.writer.put(current, replace(item, modified_at=self.run.now))
        elif self.run.writes and store_of(self.resource).keeps_origin and item.origin != current.origin:
            self.writer.put_origin(item)

    def _complete(self, before: Item | None, after: Item) -> None:
        if (read := rules_of(self.resource).from_file) is not None:
            read(self.context, before, after)
        self.writer.check(after)
        self.writer.complete(before, after)

    def _leave(self, item: Item, before: Marks | None, names: dict[str, Any]) -> None:
        origin = "created through the API" if before is None else "created by an earlier file"
        if not self.run.prune:
            self._warn(item)
            self._note(ChangeAction.UNCHANGED, item, f"not in the file; remove it with --prune ({origin})")
            if before is not None:
                names[item.name] = before
            return
        self._note(ChangeAction.REMOVE, item, origin)
        if self.run.writes:
            self.writer.remove(item)

    def _refuse_values_of(self, left: Collection[Item], requested: Sequence[tuple[Path, BaseModel]]) -> None:
        """Refuse a distinct value of the file that an item has which stays beside those of the file."""
        for path, declared in requested:
            item = Item(id_of(self.resource, declared), _content(self.resource, declared))
            for key, _, other in equal_values(self.resource, item, left):
                self.run.refuse((*path, key), f"is already used by {other.name}, which isn't in the file")

    def _marks_of(self, item: Item) -> Marks | None:
        """Return the keys of an item that a file named; None if an operation created the item."""
        if store_of(self.resource).keeps_origin:
            return dict(item.origin.get("named", {})) if item.origin.get("by", API) == FILE else None
        found: Marks | None = self.named.get(self.resource.file_key, {}).get(item.name)
        return found

    def _alike(self, stored: Mapping[tuple[str, ...], Item], content: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the id of the item that has the same unique values."""
        requested = unique_key(self.resource, (), content)
        same = (
            item.id
            for item in stored.values()
            if requested and unique_key(self.resource, item.id, item.content) == requested
        )
        return next(same, ())

    def _note(self, action: ChangeAction, item: Item, *details: str) -> None:
        self.run.note(action, self.context.tenant.name, self.resource.file_key.removesuffix("s"), item.name, *details)


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


def _is_read_only(member: ResourceMember) -> bool:
    return READ_ONLY in member.roles


def _is_of_service(member: ResourceMember) -> bool:
    """Return whether a file cannot change the value: a part of the id, or a READ_ONLY value."""
    return member.key is not None or _is_read_only(member)


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
