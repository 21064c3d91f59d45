"""Implements the operations of every resource: list, read, create, change, replace, delete, and actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from app.contract import errors
from app.contract.catalogue import CATALOGUE
from app.contract.configuration_model import STORED
from app.contract.paging import DEFAULT_SIZE
from app.identity.administration.resource_operations import idempotency, resource_errors
from app.identity.administration.resource_operations.resource_registry import rules_of, store_of
from app.identity.administration.resource_operations.write_resources import Writer
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item, StoreAccess, unique_key
from app.kit import randomness
from app.kit.clock import iso
from app.kit.operations.wire import Wire
from app.kit.resources import resource_models, resource_values
from app.kit.resources.operations import BoundOperation, is_list
from app.kit.resources.resource import (
    CREATED_AT,
    FIXED,
    MODIFIED_AT,
    ONCE,
    SET_BY_SERVICE,
    InSettings,
    Resource,
    ResourceMember,
)
from app.kit.resources.resource_models import MAX_ON_A_PAGE
from app.kit.resources.resource_values import ItemInput, put_at, value_at


def read(bound: BoundOperation, context: Context, req: Wire) -> Wire:
    """Return an item, or the list of items below the path. Raises the resource's `unknown` or `unset`."""
    resource, options = bound.resource, bound.draft.verb_options
    item_input = _identified(context, bound, req)
    if options is not None and is_list(resource, options.verb):
        return _listed(context, bound, _requested_items(context, bound, req, item_input.item_id))
    return item_response(context, bound, _stored(context, bound, item_input))


def create(bound: BoundOperation, context: Context, req: Wire) -> Wire:
    """Create an item. Raises the resource's `exists`, and its error profile's refusal of a malformed field."""
    resource = bound.resource
    if resource.is_singleton:
        return update(bound, context, req)
    if (earlier := idempotency.earlier_response(context, bound, req)) is not None:
        return earlier
    provided = _read_input(context, bound, req)
    _prepare(context, bound, None, provided)
    lock_tenant(context)
    if (concurrent := idempotency.earlier_response(context, bound, req)) is not None:
        return concurrent
    generated = _generated(resource, [member.fields[0] for member in resource.members if ONCE in member.roles])
    secrets = {**provided.secrets, **generated}
    item = Item(_new_id(bound, provided), provided.content(), secrets, created_at=context.now, modified_at=context.now)
    writer = _writer(context, bound)
    writer.check(item)
    writer.refuse_taken(item)
    _refuse_too_many(bound, writer)
    write_item(writer, None, item)
    response = item_response(context, bound, item, tuple(generated))
    idempotency.keep_response(context, bound, req, response)
    return response


def update(bound: BoundOperation, context: Context, req: Wire) -> Wire:
    """Change an item, or set a singleton. Raises `unknown` or `unset`, `exists`, and the refusal of a malformed field."""
    item_input = _read_input(context, bound, req)
    if rules_of(bound.resource).before_lock is not None:
        _prepare(context, bound, _changeable(context, bound, item_input), item_input)
    lock_tenant(context)
    before = _changeable(context, bound, item_input)
    resource_errors.refuse_changed_identity(bound, context.raw, item_response(context, bound, before))
    resource_errors.refuse_outdated(
        bound, item_input.version, resource_values.version_of(bound.resource, before.content)
    )
    after = _updated(context, bound, before, item_input)
    writer = _writer(context, bound)
    writer.check(after)
    writer.refuse_duplicate(after)
    write_item(writer, before, after)
    return item_response(context, bound, after)


def replace_all(bound: BoundOperation, context: Context, req: Any) -> Wire:
    """Replace all items by those of the body; items that it omits are removed."""
    resource, store, access = bound.resource, store_of(bound.resource), StoreAccess.of(context)
    provided = [_read_input(context, bound, element) for element in req.data]
    lock_tenant(context)
    items = [Item(_new_id(bound, element), element.content(), element.secrets) for element in provided]
    if len({item.id for item in items}) < len(items) or len({_unique(resource, item) for item in items}) < len(items):
        raise bound.resource.exists or bound.bad("Data: each item once.")
    stored, writer = {item.id: item for item in store.items(access, resource)}, _writer(context, bound)
    for item_id in stored.keys() - {item.id for item in items}:
        writer.remove(stored[item_id])
    for item in items:
        writer.check(item)
        before = stored.get(item.id)
        if before is not None:
            item = replace(before, content=item.content, secrets={**before.secrets, **item.secrets})  # noqa: PLW2901
        write_item(writer, before, item)
    return _listed(context, bound, store.items(access, resource))


def delete(bound: BoundOperation, context: Context, req: Wire) -> Wire:
    """Delete an item. Raises `unknown`."""
    provided = _identified(context, bound, req)
    lock_tenant(context)
    _writer(context, bound).remove(_stored(context, bound, provided))
    return bound.resource.deleted()


def act(bound: BoundOperation, context: Context, req: Wire) -> Wire:
    """Run an action: renew the secrets that it declares, then call its hook. Raises `unknown`."""
    resource, action = bound.resource, bound.draft.action
    if action is None:
        raise LookupError(bound.draft.name)
    provided = resource_values.read_input(resource, req)
    if (prepare := rules_of(resource).actions_before_lock.get(action.name)) is not None:
        item = _changeable(context, bound, provided)
        context.work.release_connection()
        prepare(context, item)
    lock_tenant(context)
    before = _changeable(context, bound, provided)
    renewed = _generated(resource, action.renews)
    after = replace(before, secrets={**before.secrets, **renewed})
    hook = rules_of(resource).actions.get(action.name)
    done = hook(context, after, req) if hook else None
    after = done if isinstance(done, Item) else after
    if after != before:
        writer = _writer(context, bound)
        writer.check(after)
        write_item(writer, before, after, action.name)
    return done if isinstance(done, Wire) else item_response(context, bound, after, tuple(renewed))


def item_response(context: Context, bound: BoundOperation, item: Item, reveal: Sequence[str] = ()) -> Wire:
    """Return an item as a response; secrets are masked, except those to `reveal`."""
    return resource_models.answer(bound.resource).model_validate(_shown(context, bound, item, reveal))


def _shown(context: Context, bound: BoundOperation, item: Item, reveal: Sequence[str] = ()) -> dict[str, Any]:
    """Return the values of a response by field name."""
    resource = bound.resource
    content = resource_models.content_of(resource).model_validate(item.content, context=STORED)
    moments = {CREATED_AT: iso(item.created_at), MODIFIED_AT: iso(item.modified_at)}
    values = resource_values.response_values(
        resource, content.model_dump(mode="json"), item.id, item.secrets, reveal, moments
    )
    if (show := rules_of(resource).on_output) is not None:
        show(context, content, values)
    return values


def _listed(context: Context, bound: BoundOperation, items: Sequence[Item]) -> Wire:
    listed_item = resource_models.listed_answer(bound.resource)
    listed = [listed_item.model_validate(_shown(context, bound, item)) for item in items]
    return resource_models.list_answer(bound.resource).model_validate({"data": listed})


def _requested_items(context: Context, bound: BoundOperation, req: Any, id_prefix: tuple[str, ...]) -> Sequence[Item]:
    """Return the requested page; without one all items, or the first page of a resource that has a default page."""
    resource, store, access = bound.resource, store_of(bound.resource), StoreAccess.of(context)
    page, size = getattr(req, "page", None), getattr(req, "page_size", None)
    if page is None and size is None and not resource.has_default_page:
        items = store.items(access, resource, id_prefix)
        is_empty = not items
    else:
        size = min(size or DEFAULT_SIZE, MAX_ON_A_PAGE)
        items = store.page(access, resource, ((page or 1) - 1) * size, size)
        is_empty = not items and not store.count(access, resource)
    empty = bound.draft.verb_options.unknown if bound.draft.verb_options else None
    if is_empty and empty is not None:
        raise empty
    return items


def _read_input(context: Context, bound: BoundOperation, req: Wire) -> ItemInput:
    """Return the input of a request. Refuses an empty one: it would replace all values by defaults, or change nothing."""
    if resource_values.is_empty_input(req):
        raise resource_errors.empty(bound, context.raw)
    return _identified(context, bound, req)


def _identified(context: Context, bound: BoundOperation, req: Wire) -> ItemInput:
    """Return the input of a request, which may be its path alone."""
    provided, rules = resource_values.read_input(bound.resource, req), rules_of(bound.resource)
    if rules.on_input is not None:
        rules.on_input(context, provided)
    return provided


def _stored(context: Context, bound: BoundOperation, provided: ItemInput) -> Item:
    """Return the item that a request identifies. Raises `unknown`, `unset`."""
    resource = bound.resource
    item = store_of(resource).item(StoreAccess.of(context), resource, provided.item_id)
    if item is None:
        raise resource_errors.unknown(bound)
    if bound.unset is not None and not _is_set(resource, item):
        raise bound.unset
    return item


def _changeable(context: Context, bound: BoundOperation, provided: ItemInput) -> Item:
    """Return the item that a request changes. Raises `unknown`, `unset`, and MachineRefused for a program that lacks a power of it."""
    item = _stored(context, bound, provided)
    rules_of(bound.resource).require_powers(context, item)
    return item


def _updated(context: Context, bound: BoundOperation, before: Item, provided: ItemInput) -> Item:
    content, secrets = provided.content(_base(bound.resource, before)), provided.secrets_after(before.secrets)
    return replace(before, content=content, secrets=secrets, modified_at=context.now)


def _prepare(context: Context, bound: BoundOperation, before: Item | None, provided: ItemInput) -> None:
    """Call other systems, on valid content, before the tenant is locked; the database connection is returned meanwhile."""
    call = rules_of(bound.resource).before_lock
    if call is None:
        return
    after = _updated(context, bound, before, provided) if before is not None else Item((), provided.content())
    _writer(context, bound).check(after)
    context.work.release_connection()
    call(context, before, after)


def lock_tenant(context: Context) -> None:
    """Lock the tenant, so that concurrent writes see each other's changes."""
    context.work.begin()
    if tenant_writes.lock(context.work) is None:
        raise errors.MachineRefused


def _new_id(bound: BoundOperation, item_input: ItemInput) -> tuple[str, ...]:
    parts = []
    for member in bound.resource.keys:
        key = member.key
        if key is not None and key.is_minted:
            parts.append(randomness.guid())
            continue
        part = item_input.id.get(member.fields[-1])
        if part is None:
            raise bound.bad.names(member.request_name)
        if key is not None and key.parameter:
            _refuse_unreachable(bound, member, part)
        parts.append(part)
    return tuple(parts)


def _refuse_unreachable(bound: BoundOperation, member: ResourceMember, part: str) -> None:
    """Refuse an id that cannot be a path segment, or that is a fixed segment of another path."""
    is_plain = part not in ("", ".", "..") and "/" not in part and len(part) <= 200
    if not is_plain or part.lower() in _fixed_segments(bound.resource):
        raise bound.bad(f"{member.request_name}: another one; this cannot stand in an address.")


@lru_cache(maxsize=512)
def _fixed_segments(resource: Resource) -> frozenset[str]:
    """Return the fixed path segments at the position of an id, in lower case."""
    below = [f"{path}/" for path in resource.paths]
    paths = [path for operation in CATALOGUE for _, path in operation.addresses()]
    paths += [action.address.partition(" ")[2] for action in resource.actions]
    found = {path[len(base) :].partition("/")[0] for base in below for path in paths if path.startswith(base)}
    return frozenset(item.lower() for item in found if not item.startswith("{"))


def _is_set(resource: Resource, item: Item) -> bool:
    backing = resource.backing
    return (
        not isinstance(backing, InSettings)
        or not backing.key
        or value_at(item.content, tuple(backing.key.split("."))) is not None
    )


def _base(resource: Resource, before: Item) -> dict[str, Any]:
    """Return the content that an update starts from: read-only members, or all if updates are partial."""
    if resource.partial:
        return before.content
    retained: dict[str, Any] = {}
    backing = resource.backing
    if resource.is_singleton and isinstance(backing, InSettings):
        retained = ItemInput(values={tuple(backing.key.split(".")): {}} if backing.key else {}).content(before.content)
    for member in resource.members:
        current = value_at(before.content, member.path)
        if current is not None and (member.roles & {FIXED, *SET_BY_SERVICE} or member.key is not None):
            put_at(retained, member.path, current)
    return retained


def _writer(context: Context, bound: BoundOperation) -> Writer:
    return Writer(context, bound.resource, bound.bad, resource_errors.taken(bound))


def write_item(writer: Writer, before: Item | None, after: Item, event: str = "changed") -> None:
    """Write a checked item of a request, and what depends on it in other areas."""
    writer.write(before, after, event)
    if writer.rules.after_request is not None:
        writer.rules.after_request(writer.context, before, after)


def _refuse_too_many(bound: BoundOperation, writer: Writer) -> None:
    resource = bound.resource
    if writer.store.count(writer.access, resource) >= resource.max_items:
        raise resource.full or bound.bad(f"At most {resource.max_items} {resource.plural}.")


def _unique(resource: Resource, item: Item) -> str:
    return unique_key(resource, item) or "/".join(item.id)


def _generated(resource: Resource, names: Sequence[str]) -> dict[str, str]:
    members, generate = [resource.named(name) for name in names], rules_of(resource).generate
    return {resource_values.secret_name(resource, member): generate() for member in members}
