"""Refusals of a resource's requests that name the member to blame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.kit.operations.errors import ApiError
from app.kit.operations.request_parsing import RawRequest
from app.kit.operations.wire import Wire
from app.kit.resources.operations import BoundOperation
from app.kit.resources.resource import FIXED, ResourceMember
from app.kit.resources.resource_values import value_at


def taken(bound: BoundOperation) -> ApiError:
    """Return the refusal of an id or of unique values that another item has; that of a malformed field names them."""
    resource, error = bound.resource, bound.resource.exists or bound.bad
    members = [resource.named(name) for name in resource.unique] or resource.keys
    named = ", ".join(member.request_name for member in members)
    return error(f"{named}: another one; there is {resource.with_article} with it.") if error is bound.bad else error()


def unknown(bound: BoundOperation) -> ApiError:
    """Return the refusal of an unknown item; that of a malformed field names its id."""
    resource, error = bound.resource, bound.unknown
    named = ", ".join((member.key and member.key.parameter) or member.request_name for member in resource.keys)
    return error(f"{named}: the id of {resource.with_article}.") if error is bound.bad else error()


def refuse_outdated(bound: BoundOperation, version: int | None, stored: int) -> None:
    """Refuse an update of another version than the stored one: it would undo a change that its author has not seen."""
    error = bound.resource.outdated
    if error is not None and version is not None and version != stored:
        raise error


def refuse_changed_identity(bound: BoundOperation, raw: RawRequest, current: Wire) -> None:
    """Refuse another value of a member that an update does not change, such as the id: it would be dropped without a word."""
    stored = current.model_dump(mode="json")
    for member, value in _sent_fixed(bound, raw):
        own = value_at(stored, member.fields)
        if value is not None and str(value).casefold() != str(own).casefold():
            raise bound.bad(f"{member.request_name}: {own}; an update can't change it.")


def empty(bound: BoundOperation, raw: RawRequest) -> ApiError:
    """Return the refusal of a body without a setting; one with members that an update does not change names them."""
    if fixed := ", ".join(member.request_name for member, _ in _sent_fixed(bound, raw)):
        return bound.bad(f"{fixed}: an update can't change it, and the body contains no other setting.")
    return bound.empty("The body contains no setting.")


def _sent_fixed(bound: BoundOperation, raw: RawRequest) -> Iterator[tuple[ResourceMember, Any]]:
    """Yield the members of the body that an update does not change, in any spelling, with their values."""
    sent = {name.lower().replace("_", ""): value for name, value in raw.json.items()}
    for member in _fixed(bound):
        if (name := member.request_name.lower().replace("_", "")) in sent:
            yield member, sent[name]


def _fixed(bound: BoundOperation) -> Iterator[ResourceMember]:
    """Yield the members that identify the item in the path, and those that are set when it is created."""
    is_in_body = bound.draft.verb_options is not None and bound.draft.verb_options.id_in_body
    for member in bound.resource.members:
        is_id = member.key is not None and bool(member.key.parameter)
        if len(member.fields) == 1 and ((is_id and not is_in_body) or FIXED in member.roles):
            yield member
