"""The one way of a SCIM request: its token, its limits, the rules, the log of its connection."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.contract import errors
from app.contract.scim import scim_errors
from app.contract.scim.scim_operations import MEDIA_TYPE
from app.identity.directory.provisioning import connection_store, request_log
from app.identity.directory.provisioning.connection_store import TENANT
from app.identity.directory.provisioning.request_log import LoggedRequest
from app.identity.platform.context import Context
from app.identity.platform.powers import ALL
from app.identity.use_cases.scim import bulk, discovery, groups, listing, people, people_resources, protocol
from app.identity.use_cases.scim.discovery import RESOURCE_TYPES, SCHEMAS
from app.identity.use_cases.scim.environment import ScimCall
from app.identity.use_cases.scim.organization_scope import OrganizationScope
from app.identity.use_cases.scim.protocol import GROUPS, USERS
from app.identity.use_cases.scim.tenant_scope import TenantScope
from app.kit.limits.rate_limits import Rate
from app.kit.operations.errors import ApiError, ScimError
from app.kit.operations.wire import Document

_RATE: Final = Rate(3_000, 60)
_TAKEN: Final = (errors.EmailRegistered, errors.UsernameTaken, errors.UidTaken, errors.OrganizationRoleTaken)
_KINDS: Final[Mapping[str, str]] = {kind.lower(): kind for kind in (USERS, GROUPS, RESOURCE_TYPES, SCHEMAS)}
_SCOPES: Final[Mapping[str, str]] = {USERS: "users", GROUPS: "groups"}
_RULES: Final[Mapping[str, Any]] = {USERS: people, GROUPS: groups}


@dataclass(frozen=True)
class CreatedDocument(Document):
    http_status = 201


@dataclass(frozen=True)
class EmptyDocument(Document):
    http_status = 204
    content: bytes = b""
    media_type: str = ""


@dataclass(frozen=True)
class NotModified(EmptyDocument):
    http_status = 304


Answer = Callable[[ScimCall], Document]


def serve(context: Context, answer: Answer) -> Document:
    """Admit a request, answer it and log what it changed; a dry run changes nothing. Raises ScimError alone."""
    request = _admitted(context)
    try:
        document = answer(request)
    except ApiError as problem:
        refusal = _as_scim(problem)
        _log(request, refusal.status, refusal.description)
        raise refusal from None
    if request.connection.is_dry_run:
        _undo(context)
    _log(request, document.http_status)
    return document


def _admitted(context: Context) -> ScimCall:
    """Return the request of a connection. Raises ScimUnauthorized, ScimPaused, ScimTooManyRequests."""
    text = context.raw.bearer()
    found = connection_store.by_token(context, text) if text and len(text) <= 200 else None
    if found is None:
        raise scim_errors.ScimUnauthorized
    connection, token = found
    context.audit.actor = f"scim {connection.connection_id}"
    try:
        context.count_against("scim", _RATE, connection.connection_id)
    except errors.TooManyRequests as problem:
        raise scim_errors.ScimTooManyRequests(retry_after_seconds=problem.retry_after_seconds) from None
    context.program_scopes = frozenset({ALL})  # who created the connection had them
    connection_store.mark_used(context, token)
    scope = TenantScope(context) if connection.org_id == TENANT else OrganizationScope(context, connection.org_id)
    request = ScimCall(context, connection, scope, frozenset(token.scopes))
    if connection.is_paused:
        refusal = scim_errors.ScimPaused(retry_after_seconds=600)
        _log(request, refusal.status, refusal.description)
        raise refusal
    return request


def _as_scim(problem: ApiError) -> ScimError:
    """Return a refusal of our rules in SCIM's form."""
    if isinstance(problem, ScimError):
        return problem
    kind = scim_errors.ScimUniqueness if isinstance(problem, _TAKEN) else scim_errors.ScimInvalidValue
    return kind(problem.description or problem.message)


def _undo(context: Context) -> None:
    """Roll back what a dry run did, with its audit entries and messages."""
    context.audit.drop_since(0)
    context.work.rollback()


def _log(request: ScimCall, status: int, detail: str = "") -> None:
    context, raw = request.context, request.context.raw
    path = raw.path + (f"?{raw.query_text}" if raw.query_text else "")
    entry = LoggedRequest(
        request_log.new_id(context.now), context.now, raw.method, path[:400], status,
        " ".join([*request.notes, detail]).strip()[:1000],
        request.connection.is_dry_run, list(request.changes),
    )  # fmt: skip
    connection = request.connection
    context.late_writes.append(lambda work: request_log.write(work, connection.connection_id, connection.org_id, entry))


# The operations.


def read(request: ScimCall, kind: str, id_: str, selection: Mapping[str, Any]) -> Document:
    """Return one resource."""
    kind = _kind(kind)
    if kind in (RESOURCE_TYPES, SCHEMAS):
        return document(discovery.one_of(request, kind, id_))
    request.require(f"{_SCOPES[kind]}:read")
    resource = (
        people_resources.of_one(request, people.find(request, id_))
        if kind == USERS
        else groups.of_one(request, groups.find(request, id_))
    )
    version = resource["meta"]["version"]
    if request.context.raw.headers.get("if-none-match", "").strip() == version:
        return NotModified(headers={"ETag": version})
    return _shown(kind, resource, selection)


def list_of(request: ScimCall, kind: str, parameters: Mapping[str, Any]) -> Document:
    """Return a list response."""
    kind = _kind(kind)
    if kind in (RESOURCE_TYPES, SCHEMAS):
        return document(discovery.list_of(request, kind, has_filter=bool(parameters.get("filter"))))
    request.require(f"{_SCOPES[kind]}:read")
    return document(listing.of_kind(request, kind, parameters))


def list_of_all(request: ScimCall, parameters: Mapping[str, Any]) -> Document:
    request.require("users:read")
    request.require("groups:read")
    return document(listing.of_every_kind(request, parameters))


def create(request: ScimCall, kind: str, body: Mapping[str, Any], selection: Mapping[str, Any]) -> Document:
    kind = _writable(request, kind)
    return _shown(kind, _RULES[kind].create(request, body), selection, is_new=True)


def put(
    request: ScimCall,
    kind: str,
    id_: str,
    body: Mapping[str, Any],
    if_match: str | None,
    selection: Mapping[str, Any],
) -> Document:
    kind = _writable(request, kind)
    return _shown(kind, _RULES[kind].replace(request, id_, body, if_match), selection)


def patch(
    request: ScimCall,
    kind: str,
    id_: str,
    body: Mapping[str, Any],
    if_match: str | None,
    selection: Mapping[str, Any],
) -> Document:
    kind = _writable(request, kind)
    return _shown(kind, _RULES[kind].patch(request, id_, body, if_match), selection)


def delete(request: ScimCall, kind: str, id_: str, if_match: str | None) -> Document:
    kind = _writable(request, kind)
    _RULES[kind].delete(request, id_, if_match)
    return EmptyDocument()


def run_bulk(request: ScimCall, body: Mapping[str, Any]) -> Document:
    """Run operations, each as a transaction of its own."""
    context = request.context

    def one(method: str, kind: str, id_: str, data: Mapping[str, Any], version: str | None) -> dict[str, Any] | None:
        position, changed = context.audit.position(), len(request.changes)
        try:
            kind = _writable(request, kind)
            resource = _run(request, method, kind, id_, data, version)
        except ApiError as problem:
            context.audit.drop_since(position)
            del request.changes[changed:]
            context.work.rollback()
            raise _as_scim(problem) from None
        _undo(context) if request.connection.is_dry_run else context.commit()
        return resource

    return document(bulk.run(request, body, one))


def _run(
    request: ScimCall, method: str, kind: str, id_: str, data: Mapping[str, Any], version: str | None
) -> dict[str, Any] | None:
    rules = _RULES[kind]
    if method == "DELETE":
        rules.delete(request, id_, version)
        return None
    made: dict[str, Any]
    if method == "POST":
        made = rules.create(request, data)
    else:
        made = (rules.replace if method == "PUT" else rules.patch)(request, id_, data, version)
    return made


def _kind(text: str) -> str:
    kind = _KINDS.get(text.lower())
    if kind is None:
        raise scim_errors.ScimNotFound(f"There is no resource type {text[:64]}.")
    return kind


def _writable(request: ScimCall, text: str) -> str:
    kind = _kind(text)
    if kind not in _SCOPES:
        raise scim_errors.ScimWrongMethod(f"{kind} cannot be changed.")
    request.require(f"{_SCOPES[kind]}:write")
    return kind


def document(content: Mapping[str, Any]) -> Document:
    return Document(json.dumps(content).encode(), MEDIA_TYPE)


def _shown(kind: str, resource: Mapping[str, Any], selection: Mapping[str, Any], *, is_new: bool = False) -> Document:
    """Return a resource with its version and address."""
    content = json.dumps(protocol.shown(kind, resource, selection)).encode()
    meta = resource["meta"]
    headers = {"ETag": meta["version"], **({"Location": meta["location"]} if is_new else {})}
    return (CreatedDocument if is_new else Document)(content, MEDIA_TYPE, headers=headers)
