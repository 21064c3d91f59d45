"""Registers the handlers of all operations of declared resources."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from app.contract.resources import BOUND, import_contract
from app.identity.administration.resources import service
from app.identity.platform.context import Context
from app.kit.operations.wire import Wire
from app.kit.resources.operations import BoundOperation
from app.kit.resources.resource import CREATE, DELETE, LIST, READ, REPLACE, UPDATE, Verb

_BY_VERB: dict[Verb, Callable[[Context, BoundOperation, Wire], Wire]] = {
    LIST: service.read,
    READ: service.read,
    CREATE: service.create,
    UPDATE: service.update,
    REPLACE: service.replace_all,
    DELETE: service.delete,
}


def implement(bound: Iterable[BoundOperation]) -> None:
    """Register the handlers of resources' operations."""
    for item in bound:
        does = item.draft.does
        handler = service.act if does is None else _BY_VERB[does.verb]
        item.operation.implements(partial(_handle, handler, item))


def _handle(
    handler: Callable[[Context, BoundOperation, Wire], Wire], bound: BoundOperation, context: Context, req: Wire
) -> Wire:
    return handler(context, bound, req)


import_contract()
implement(BOUND)
