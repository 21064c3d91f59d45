"""Applies the resource items of a configuration file, and exports items into one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel

from app.contract.configuration import TenantSettings
from app.identity.administration.configuration.declared_resources import distinct_values, id_of, listed, wrong
from app.identity.administration.configuration.document import Path
from app.identity.administration.configuration.origins import Marks, differences, marks, merged, unnamed
from app.identity.administration.configuration.plan import Action, Run
from app.identity.administration.resources.service import unique_key
from app.identity.administration.resources.settings_store import store_of
from app.identity.platform.resources.hooks import rules_of
from app.identity.platform.resources.items import API, FILE, Item, StoreAccess
from app.kit import randomness
from app.kit.resource import MASKED, READ_ONLY, SECRET, Member, Resource
from app.kit.resource_models import content_of
from app.kit.resource_values import look, put, remove, secret_name

_NOTHING: Final[Any] = object()


def apply(run: Run, declared: BaseModel, tenant: str, path: Path, settings: Mapping[str, Any], named: Marks) -> bool:
    """Apply the tenant's items; resources that the file omits stay. Return whether an item changed.

    Args:
        settings: the tenant's settings after this run.
        named: the keys that earlier files named; updated with this file's keys where the store does not keep origins.
    """
    before = len(run.plan.changes)
    for resource in run.configuration.resources:
        if getattr(declared, "settings", None) is None:
            whole = TenantSettings.model_validate(settings)
            for inner, item in listed(resource, declared, path):
                for where, sentence in wrong(resource, item, inner, whole):
                    run.refuse(where, sentence)
        if getattr(declared, resource.file_key) is not None:
            _Pass(run, resource, tenant, named).apply(listed(resource, declared, path))
        elif rules_of(resource).has("warnings"):
            _Pass(run, resource, tenant, named).warn_of_held()
    return any(change.action is not Action.UNCHANGED for change in run.plan.changes[before:])


def exported(access: StoreAccess, resources: Sequence[Resource]) -> dict[str, list[dict[str, Any]]]:
    """Return the items as in a file, without secrets, by key; resources without items have no key."""
    found = {one.file_key: [_exported(one, item) for item in store_of(one).items(access, one)] for one in resources}
    return {key: listed for key, listed in found.items() if listed}


def _exported(resource: Resource, item: Item) -> dict[str, Any]:
    whole = content_of(resource).model_validate(item.content).model_dump(mode="json", exclude_unset=True)
    content, _ = _split(resource, whole, _is_read_only)
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
    tenant: str
    named: Marks

    @property
    def access(self) -> StoreAccess:
        return StoreAccess(self.run.work, self.run.services.encryption, self.run.now)

    def apply(self, wanted: Iterator[tuple[Path, BaseModel]]) -> None:
        store, names, values = store_of(self.resource), dict[str, Any](), dict[tuple[str, str], Path]()
        held = {item.id: item for item in store.items(self.access, self.resource)}
        before = {item.id: self._marks_of(item) for item in held.values()}
        for path, declared in wanted:
            content, secrets = _content(self.resource, declared), _secrets(self.resource, declared)
            item_id = id_of(self.resource, declared) or self._alike(held, content)
            current = held.pop(item_id, None) if item_id else None
            item_id = item_id or (randomness.guid(),)
            values |= dict.fromkeys(distinct_values(self.resource, declared), path)
            noted = marks(_split(self.resource, content)[0])
            names[" ".join(item_id)] = noted
            origin = {"by": FILE, "named": noted}
            if current is None:
                self._add(Item(item_id, content, secrets, origin))
            else:
                self._change(
                    current,
                    replace(current, secrets={**current.secrets, **secrets}, origin=origin),
                    content,
                    before[item_id],
                )
        for item in held.values():
            self._refuse_values_of(item, values)
            self._leave(item, before[item.id], names)
        if not store.keeps_origin:
            self.named[self.resource.file_key] = names

    def warn_of_held(self) -> None:
        """Warn of the stored items of a resource that the file omits."""
        for item in store_of(self.resource).items(self.access, self.resource):
            self._warn(item)

    def _warn(self, item: Item) -> None:
        self.run.plan.warnings += [f"{self.tenant}: {one}" for one in rules_of(self.resource).warnings_of(item)]

    def _add(self, item: Item) -> None:
        self._note(Action.CREATE, item)
        self._warn(item)
        if self.run.writes:
            rules_of(self.resource).run("before_apply", self.run.now, None, item)
            store_of(self.resource).add(self.access, self.resource, item, self._unique(item))

    def _change(self, current: Item, item: Item, content: dict[str, Any], before: Marks | None) -> None:
        held, beside = _split(self.resource, current.content)
        content, _ = _split(self.resource, content)
        item = replace(item, content=_joined(merged(held, content, before or {}), beside))
        rules_of(self.resource).run("before_apply", self.run.now, current, item)
        after, _ = _split(self.resource, item.content)
        details = list(differences(held, after, before or {}))
        if item.secrets != current.secrets:
            details.append("secrets: changed")
        action = Action.CHANGE if details else Action.UNCHANGED
        self._note(action, item, *details, *unnamed(after, content))
        self._warn(item)
        is_noted = not store_of(self.resource).keeps_origin or item.origin == current.origin
        if self.run.writes and (details or not is_noted):
            item = replace(item, modified_at=self.run.now if details else item.modified_at)
            store_of(self.resource).change(self.access, self.resource, item, self._unique(item))

    def _leave(self, item: Item, before: Marks | None, names: dict[str, Any]) -> None:
        origin = "created through the API" if before is None else "created by an earlier file"
        if not self.run.prune:
            self._warn(item)
            self._note(Action.UNCHANGED, item, f"not in the file; remove it with --prune ({origin})")
            if before is not None:
                names[item.name] = before
            return
        self._note(Action.REMOVE, item, origin)
        if self.run.writes:
            store_of(self.resource).remove(self.access, self.resource, item.id)

    def _refuse_values_of(self, item: Item, values: Mapping[tuple[str, str], Path]) -> None:
        """Refuse a distinct value of the file that an item has which stays beside those of the file."""
        for member in self.resource.members:
            key = member.path[-1]
            path = values.get((key, str(look(item.content, member.path)))) if member.distinct else None
            if path is not None and not self.run.prune:
                self.run.refuse((*path, key), f"is already used by {item.name}, which isn't in the file")

    def _marks_of(self, item: Item) -> Marks | None:
        """Return the keys of an item that a file named; None if an operation created the item."""
        if store_of(self.resource).keeps_origin:
            return dict(item.origin.get("named", {})) if item.origin.get("by", API) == FILE else None
        found: Marks | None = self.named.get(self.resource.file_key, {}).get(item.name)
        return found

    def _alike(self, held: Mapping[tuple[str, ...], Item], content: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the id of the item that has the same unique values."""
        wanted = unique_key(self.resource, (), content)
        same = (one.id for one in held.values() if wanted and unique_key(self.resource, one.id, one.content) == wanted)
        return next(same, ())

    def _unique(self, item: Item) -> str | None:
        return unique_key(self.resource, item.id, item.content)

    def _note(self, action: Action, item: Item, *details: str) -> None:
        self.run.note(action, self.tenant, self.resource.file_key.removesuffix("s"), item.name, *details)


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


def _is_read_only(member: Member) -> bool:
    return READ_ONLY in member.roles


def _is_of_service(member: Member) -> bool:
    """Return whether a file cannot change the value: a part of the id, or a READ_ONLY value."""
    return member.key is not None or _is_read_only(member)


def _split(
    resource: Resource, content: Mapping[str, Any], is_beside: Callable[[Member], bool] = _is_of_service
) -> tuple[dict[str, Any], dict[tuple[str, ...], Any]]:
    """Return the content without the values of such members, and those values by path."""
    rest, beside = deepcopy(dict(content)), dict[tuple[str, ...], Any]()
    for path in (member.path for member in resource.members if is_beside(member)):
        value = look(rest, path, _NOTHING)
        if value is not _NOTHING:
            beside[path] = value
            remove(rest, path)
            if path[:-1] and not look(rest, path[:-1]):
                remove(rest, path[:-1])
    return rest, beside


def _joined(content: dict[str, Any], beside: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    for path, value in beside.items():
        put(content, path, value)
    return content
