"""Registers the handlers of all operations of declared resources."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from app.contract.resources import BOUND, import_contract
from app.identity.administration.resource_operations import resource_operations
from app.identity.platform.context import Context
from app.kit.operations.wire import Wire
from app.kit.resources.operations import BoundOperation
from app.kit.resources.resource import CREATE, DELETE, LIST, READ, REPLACE, UPDATE, Verb

_BY_VERB: dict[Verb, Callable[[BoundOperation, Context, Wire], Wire]] = {
    LIST: resource_operations.read,
    READ: resource_operations.read,
    CREATE: resource_operations.create,
    UPDATE: resource_operations.update,
    REPLACE: resource_operations.replace_all,
    DELETE: resource_operations.delete,
}


def implement(bound: Iterable[BoundOperation]) -> None:
    """Register the handlers of resources' operations."""
    for item in bound:
        options = item.draft.verb_options
        handler = resource_operations.act if options is None else _BY_VERB[options.verb]
        item.operation.implements(partial(handler, item))


import_contract()
implement(BOUND)
