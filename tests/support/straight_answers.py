"""Answers each usual request both ways, and fails where the straight way differs (decisions/0297, 0301).

Token requests are admitted both ways. The tests' servers of the identity service run behind `compared`, so every test that asks
such an operation compares.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context as Variables
from contextvars import copy_context
from copy import copy
from dataclasses import replace
from typing import Any

from app.identity.platform.services import Services
from app.kit import logs
from app.kit.errors import ApiError
from app.kit.limits import Limits
from app.kit.operation import AnyOperation
from app.kit.reading import RawRequest, filter_address, read_body, read_request
from app.kit.server import Outcome, Server
from app.kit.window_counts import WindowCounts

answered: list[str] = []
"""The operations that straight functions have answered in this process, in order."""
admitted: list[str] = []
"""The operations whose requests straight functions have admitted."""


def compared(server: Server, services: Services) -> Server:
    """Return the server; each answer of a straight function is compared with that of `Server.run`."""
    straight = server._directly
    server._directly = lambda operation, raw: _both(server, services, straight, operation, raw)  # type: ignore[method-assign]  # of this one
    admission = server._admitted
    server._admitted = lambda operation, raw: _admitted_twice(server, admission, operation, raw)  # type: ignore[method-assign]  # of this one
    return server


def _admitted_twice(
    server: Server, straight: Callable[..., Any], operation: AnyOperation, raw: RawRequest
) -> tuple[Any, Any] | None:
    """Return what the straight admission does; fails where the general one admits another client, or reads another request."""
    before, bound = copy_context(), logs._bound.get()
    question = replace(raw, response_headers={}, claimed=set())
    found: tuple[Any, Any] | None = straight(operation, raw)
    if found is None:
        assert logs._bound.get() == bound, "changed before it handed over"
        return None
    admitted.append(operation.name)
    context, request = before.run(_admit, server, operation, question)
    assert request == found[1]
    assert (context.tenant, context.client, context.schemes) == (
        found[0].tenant,
        found[0].client,
        found[0].schemes,
    )
    assert (context.address, context.agent, context.issuer) == (found[0].address, found[0].agent, found[0].issuer)
    assert logs._bound.get() == _bound_in(before)
    assert found[0].audit.is_empty
    context.work.rollback()
    return found


def _admit(server: Server, operation: AnyOperation, raw: RawRequest) -> tuple[Any, Any]:
    """Admit and read as `Server.run` does for any operation."""
    filter_address(operation, raw)
    context = server.lifecycle.open(operation, raw)
    body = read_body(operation, raw)
    server.lifecycle.admit_person(context, operation, raw, body)
    return context, read_request(operation, raw, body)


def _both(
    server: Server,
    services: Services,
    straight: Callable[..., Outcome | None],
    operation: AnyOperation,
    raw: RawRequest,
) -> Outcome | None:
    if operation.name not in server._loaded.answers:
        return None
    before, limits, bound = copy_context(), _copied(services.limits), logs._bound.get()
    question = replace(raw, response_headers={}, claimed=set())
    found = straight(operation, raw)
    if found is None:
        assert (raw.response_headers, raw.claimed, logs._bound.get()) == ({}, set(), bound), (
            "changed before it handed over"
        )
        assert _counts(services.limits) == _counts(limits), "counted before it handed over"
        return None
    answered.append(operation.name)
    shown = _written(server, found, raw)
    counted, services.limits = services.limits, limits
    try:
        outcome = before.run(server.run, operation, question, lambda: read_body(operation, question))
    finally:
        services.limits = counted
    assert not isinstance(outcome.answer, ApiError), f"`Server.run` refuses: {outcome.answer!r}"
    assert shown == _written(server, outcome, question)
    assert _counts(counted) == _counts(limits)
    assert logs._bound.get() == _bound_in(before)
    assert found.context.audit.is_empty
    assert outcome.context.audit.is_empty
    return found


def _written(server: Server, outcome: Outcome, raw: RawRequest) -> tuple[int, list[tuple[str, str]], bytes]:
    """Return status, headers and body; without signature, and without the cost: who asks first fills caches."""
    answer = server._write(outcome, raw)
    headers = [one for one in answer.headers if one[0] not in ("X-Gatehouse-Cost", "Content-Length")]
    is_signed = ("Content-Type", "application/jwt") in headers  # some algorithms sign differently each time
    return answer.status, headers, answer.content.rpartition(b".")[0] if is_signed else answer.content


def _bound_in(variables: Variables) -> Any:
    return variables.run(logs._bound.get)


def _copied(limits: Limits) -> Limits:
    made = copy(limits)
    if isinstance(limits._counts, WindowCounts):
        made._counts = copy(limits._counts)
        made._counts._counts = dict(limits._counts._counts)
    return made


def _counts(limits: Limits) -> dict[Any, int]:
    held = limits._counts
    return {key: count for key, (count, _) in held._counts.items()} if isinstance(held, WindowCounts) else {}
