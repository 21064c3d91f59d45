"""Several requests in one (RFC 7644 section 3.7): each is a transaction of its own, and a refused one changes nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from app.contract.scim import scim_errors
from app.identity.use_cases.scim import protocol
from app.identity.use_cases.scim.environment import ScimCall
from app.kit.operations.errors import ScimError, error_body

MAX_OPERATIONS: Final = 100
_METHODS: Final = ("POST", "PUT", "PATCH", "DELETE")
_REFERENCE: Final = "bulkId:"
_PATH: Final = re.compile(r"/?(Users|Groups)(?:/([^/]{1,200}))?", re.IGNORECASE)

Run = Callable[[str, str, str, Mapping[str, Any], str | None], dict[str, Any] | None]
"""Runs one operation: method, kind, id, body, version; returns the resource."""


def run(request: ScimCall, body: Mapping[str, Any], one: Run) -> dict[str, Any]:
    """Run the operations in their order, those that refer to another by `bulkId` after it.

    After `failOnErrors` refusals, the remaining ones are left out. Raises ScimInvalidSyntax, ScimInvalidValue, ScimPayloadTooLarge.
    """
    operations = next((value for name, value in body.items() if name.lower() == "operations"), None)
    if not isinstance(operations, list) or not all(isinstance(item, Mapping) for item in operations):
        raise scim_errors.ScimInvalidSyntax("Operations: expected a list.")
    if len(operations) > MAX_OPERATIONS:
        raise scim_errors.ScimPayloadTooLarge(
            f"Operations: expected at most {MAX_OPERATIONS}; found {len(operations)}."
        )
    limit = next((value for name, value in body.items() if name.lower() == "failonerrors"), None)
    most = limit if isinstance(limit, int) and limit > 0 else MAX_OPERATIONS + 1
    made, results, refused = dict[str, str](), dict[int, dict[str, Any]](), 0
    for at, item in _in_order(operations):
        if refused >= most:
            break
        results[at] = _run_one(request, item, made, one)
        refused += "response" in results[at]
    return {"schemas": [protocol.BULK_SCHEMA], "Operations": [results[at] for at in sorted(results)]}


def _in_order(operations: list[Mapping[str, Any]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the operations in their order, but one that refers to another by `bulkId` after it, and those of a circle last."""
    waiting, done = list(enumerate(operations)), set[str]()
    known = {item.get("bulkId") for item in operations if isinstance(item.get("bulkId"), str)}
    while waiting:
        ready = [item for item in waiting if not (_references(item[1].get("data")) & known) - done] or waiting
        yield from ready
        done |= {str(item.get("bulkId")) for _, item in ready}
        chosen = {at for at, _ in ready}
        waiting = [item for item in waiting if item[0] not in chosen]


def _run_one(request: ScimCall, item: Mapping[str, Any], made: dict[str, str], one: Run) -> dict[str, Any]:
    method, bulk_id = str(item.get("method", "")).upper(), item.get("bulkId")
    path = _PATH.fullmatch(_resolved(str(item.get("path", "")), made))
    result: dict[str, Any] = {"method": method[:10], **({"bulkId": bulk_id} if isinstance(bulk_id, str) else {})}
    try:
        if method not in _METHODS or path is None or (path[2] is None) != (method == "POST"):
            raise scim_errors.ScimInvalidValue("Operations: expected a method and a path of Users or Groups.")
        data = _resolved(item.get("data") or {}, made)
        if not isinstance(data, Mapping) or _references(data):
            raise scim_errors.ScimInvalidValue("data: expected an object whose references were created.")
        kind, version = path[1].capitalize(), item.get("version")
        resource = one(method, kind, path[2] or "", data, version if isinstance(version, str) else None)
    except ScimError as problem:
        where = {} if path is None or path[2] is None else {"location": request.location(path[1].capitalize(), path[2])}
        return {**result, **where, "status": str(problem.status), "response": error_body(problem)}
    if resource is None:
        return {**result, "status": "204", "location": request.location(kind, path[2] or "")}
    if method == "POST" and isinstance(bulk_id, str):
        made[bulk_id] = str(resource["id"])
    meta = resource["meta"]
    return {
        **result,
        "status": "201" if method == "POST" else "200",
        "location": meta["location"],
        "version": meta["version"],
    }


def _references(data: Any) -> set[str]:
    """Return the ids of operations that data refers to."""
    if isinstance(data, str):
        return {data.removeprefix(_REFERENCE)} if data.startswith(_REFERENCE) else set()
    items = data.values() if isinstance(data, Mapping) else data if isinstance(data, list) else ()
    return set().union(*map(_references, items)) if items else set()


def _resolved(data: Any, made: Mapping[str, str]) -> Any:
    if isinstance(data, str):
        for bulk_id in _references(data.rpartition("/")[2]):
            return data.replace(f"{_REFERENCE}{bulk_id}", made.get(bulk_id, f"{_REFERENCE}{bulk_id}"))
        return data
    if isinstance(data, Mapping):
        return {name: _resolved(item, made) for name, item in data.items()}
    return [_resolved(item, made) for item in data] if isinstance(data, list) else data
