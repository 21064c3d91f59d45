"""Checks of a resource's declaration; each problem names the change that resolves it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import get_args

from app.kit.resources.resource import (
    CREATE,
    DELETE,
    ENCRYPTED,
    LIST,
    NOT_IN_REQUESTS,
    ONCE,
    READ,
    REPLACE,
    UPDATE,
    VERSION,
    InSettings,
    InTable,
    Resource,
    ResourceError,
    ResourceMember,
    SettingsKey,
    StoredAs,
    Verb,
)


def check(resource: Resource) -> None:
    """Raise ResourceError for the first problem of a declaration."""
    for problem in _problems(resource):
        raise ResourceError(f"The resource {resource.area}/{resource.kind}: {problem}")


def _problems(resource: Resource) -> Iterator[str]:
    verbs = [item.verb for item in resource.verbs]
    if not verbs:
        yield "declare at least one operation."
    if len(set(verbs)) < len(verbs):
        yield "declare each verb once."
    if resource.is_singleton:
        yield from _of_singleton(resource, verbs)
    else:
        yield from _of_collection(resource, verbs)
        yield from _of_ids(resource, verbs)
    for member in resource.members:
        yield from _of_field(member)
    yield from _twice(resource)
    for member in resource.members:
        if ENCRYPTED in member.roles and (len(member.path) > 1 or not isinstance(resource.backing, InTable)):
            yield f"{member.request_name} is ENCRYPTED, which only the shared table stores, and no model within the item."
    yield from _of_version(resource)
    if resource.max_items < 1:
        yield "`max_items` is at least 1."
    if resource.file_key and isinstance(resource.backing, InSettings):
        yield "without `file_key`: the configuration file states it within the settings."


def _of_singleton(resource: Resource, verbs: list[Verb]) -> Iterator[str]:
    if resource.keys:
        yield f"a singleton has no id; take Key from {resource.keys[0].request_name}."
    for verb in verbs:
        if verb in (LIST, REPLACE, DELETE):
            yield f"a singleton has no {verb.name}."
    if resource.unique:
        yield "a singleton has no `unique` fields."
    if resource.exists:
        yield "a singleton cannot exist twice; `exists` belongs to collections."
    if not isinstance(resource.backing, InSettings):
        yield "a singleton is kept in the settings; declare `backing=InSettings(...)`."


def _of_collection(resource: Resource, verbs: list[Verb]) -> Iterator[str]:
    if resource.unset:
        yield "a collection is never unset; `unset` belongs to singletons."
    if isinstance(resource.backing, InSettings) and not resource.backing.key:
        yield "a collection in the settings needs its key there."
    is_minted = any(member.key.is_minted for member in resource.keys if member.key)
    if CREATE in verbs and resource.exists is None and (resource.unique or not is_minted):
        yield f"declare the error `exists` of {resource.path}."
    at_items = [item for item in resource.verbs if item.verb in (READ, UPDATE, DELETE)]
    if resource.unknown is None and not all(item.unknown for item in at_items):
        yield f"declare the error `unknown` of {resource.path}."
    yield from _of_names(resource)


def _of_names(resource: Resource) -> Iterator[str]:
    for name in resource.unique:
        if name not in {member.fields[0] for member in resource.members}:
            yield f"`unique` names {name}, which the model does not have."
        elif resource.named(name).is_secret:
            yield f"`unique` names {name}, which is a secret."
    for action in resource.actions:
        for name in action.renews:
            if not any(member.fields == (name,) and ONCE in member.roles for member in resource.members):
                yield f"the action {action.name} renews {name}, which is not marked ONCE."


def _of_ids(resource: Resource, verbs: list[Verb]) -> Iterator[str]:
    keys = [member.key for member in resource.keys if member.key]
    if not keys:
        yield "mark the field that is an item's id with Key."
    for path in resource.paths:
        if found := re.findall(r"\{(\w+)\}", path):
            yield f"the path of a collection has no parameters; look at {', '.join(found)} in {path}."
    if REPLACE in verbs and any(key.is_minted for key in keys):
        yield "a set that is replaced as a whole needs ids that requests bring; none may be minted."


def _of_field(member: ResourceMember) -> Iterator[str]:
    roles, key = member.roles, member.key
    if len(roles) > 1:
        yield f"{member.request_name} is {' and '.join(sorted(role.name for role in roles))}; one of them."
    if key is not None and roles:
        yield f"{member.request_name} is part of the id, so it cannot be {next(iter(roles)).name} as well."
    if key is not None and key.is_minted and not key.parameter:
        yield f"the Key of {member.request_name} needs its parameter in an address."
    if member.is_secret and str not in (member.info.annotation, *get_args(member.info.annotation)):
        yield f"a secret is text; {member.request_name} is not."


def _of_version(resource: Resource) -> Iterator[str]:
    counting = [member for member in resource.members if VERSION in member.roles]
    if len(counting) > 1 or any(len(member.path) > 1 for member in counting):
        yield "at most one field counts the writes, beside the others."
    if bool(counting) is (resource.outdated is None):
        yield "a VERSION and the error `outdated` belong together."
    backing = resource.backing
    if isinstance(backing, InTable) and backing.former_versions:
        if not counting:
            yield "former versions need a field that is the VERSION."
        if any(member.is_secret for member in resource.members):
            yield "former versions are stored without secrets; keep none of a resource that has some."


def _twice(resource: Resource) -> Iterator[str]:
    paths: dict[tuple[str, ...], str] = {}
    for member in resource.members:
        if member.is_content and paths.setdefault(member.path, member.request_name) != member.request_name:
            yield f"{member.request_name} and {paths[member.path]} are kept under one key."
    for member in resource.members if resource.content is None else ():
        stored_as = member.mark(StoredAs)
        if stored_as and member.is_content and not stored_as.key.isidentifier():
            yield f"{member.request_name} is kept at {stored_as.key!r}: declare the model of the `content`, or a plain name."
        if member.mark(SettingsKey):
            yield f"{member.request_name} is no part of a singleton; take SettingsKey from it."
    files = [member.fields[-1] for member in resource.members if member.is_secret]
    for name in sorted({file for file in files if files.count(file) > 1}):
        yield f"two secrets are called {name} in a configuration file."
    spelt = [item.request_name.lower() for item in resource.members if not item.roles & NOT_IN_REQUESTS]
    for name in sorted({item for item in spelt if spelt.count(item) > 1}):
        yield f"two fields are called {name} in requests."
