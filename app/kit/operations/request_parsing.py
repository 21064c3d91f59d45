"""Reads a request into its model, and refuses malformed and dangerous input."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json, to_json

from app.kit.caching.cached_attribute import cached_attribute
from app.kit.limits.queue_slot import LoadShed
from app.kit.operations.errors import ApiError
from app.kit.operations.operation import Accept, AnyOperation
from app.kit.operations.unknown_members import unknown_members
from app.kit.operations.wire import From, Wire, is_union_tag, shape_of
from app.kit.text import input_filter
from app.kit.web import form_fields

WRITES = ("POST", "PUT", "DELETE", "PATCH")
_MAX_FIELDS = 1000
_FORM = Accept.FORM.types
_MAY_OVERFLOW = re.compile(rb"[0-9][eE]\+?[0-9]|[0-9]{300}")

INSIDE = "gatehouse.inside"
"""Marks the environment of a call within this process. No header field can: those begin with `HTTP_`."""


@dataclass
class RawRequest:
    """A request as it arrived, before authentication."""

    method: str
    path: str
    query_text: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    address: str = ""
    host: str = ""
    scheme: str = "http"
    parameters: Mapping[str, str] = field(default_factory=dict)
    route: str = ""  # the declared path that was requested, such as `/books/{id}`
    too_large: bool = False
    request_id: str = ""  # in logs, audit rows and answers
    is_inside: bool = False  # a call within this process, not over the network
    caller: object = (
        None  # the caller within this process, in place of a signature; never set for a request over the network
    )
    shed: LoadShed | None = None  # the queue for hashing is full
    client_certificate: str = ""  # that of the TLS connection, as a trusted proxy spells it
    certificate_check: str = ""  # what the proxy says about its chain
    is_repeated: bool = False  # a retry after the store aborted the transaction
    claimed: set[str] = field(default_factory=set)  # single-use values that this request took, also before a retry
    response_headers: dict[str, str] = field(default_factory=dict)  # added to the response, a refusal included
    request: Wire | None = None  # as the operation read it; None before that

    @cached_attribute
    def query_pairs(self) -> list[tuple[str, str]]:
        """Every query parameter in order, repeated ones included."""
        if not self.query_text:
            return []
        return form_fields.read(self.query_text, errors="surrogateescape") if self.has_few_parameters else []

    @property
    def has_few_parameters(self) -> bool:
        """Whether the query has few enough parameters to be read; more are refused."""
        return self.query_text.count("&") < _MAX_FIELDS

    @cached_attribute
    def query(self) -> dict[str, str]:
        """Query parameters by lower-case name; the first of a repeated one. An empty value counts as absent."""
        read: dict[str, str] = {}
        for name, value in self.query_pairs:
            if value != "":
                read.setdefault(name.lower(), value)
        return read

    @cached_attribute
    def json(self) -> Any:
        """The body as JSON. Raises ValueError for another body, and RecursionError for one that nests too deeply.

        A number that overflows, such as 1e400, is refused as well: it would become Infinity, which no JSON has.
        """
        read = from_json(self.body, allow_inf_nan=False)
        if _MAY_OVERFLOW.search(self.body) and _has_infinity(read):
            raise ValueError("a number that is too large")
        return read

    @cached_attribute
    def form_pairs(self) -> list[tuple[str, str]]:
        """Fields of a form-encoded body, empty ones included. Raises ValueError for a body that is not UTF-8, or has too many fields."""
        text = self.body.decode()
        if text.count("&") >= _MAX_FIELDS:
            raise ValueError("too many fields")
        return form_fields.read(text)

    @cached_attribute
    def media_type(self) -> str:
        """The content type without its parameters, lower-case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def first(self, *names: str) -> str | None:
        """Return the first of these query parameters that is present."""
        query = self.query
        for name in names:
            if name in query:
                return query[name]
        return None

    @property
    def auth_scheme(self) -> str:
        """The scheme of the header `Authorization`, in lower case; empty without one."""
        return self.headers.get("authorization", "").partition(" ")[0].lower()

    def bearer(self) -> str | None:
        """Return the token of `Authorization: Bearer …` (RFC 6750 section 2.1)."""
        return self._credentials() if self.auth_scheme == "bearer" else None

    def header_token(self) -> str | None:
        """Return the token of `Authorization: Bearer …`, or of `DPoP …` (RFC 9449 section 7.1)."""
        return self._credentials() if self.auth_scheme in ("bearer", "dpop") else None

    def _credentials(self) -> str | None:
        return self.headers.get("authorization", "").partition(" ")[2].strip() or None


def filter_address(operation: AnyOperation, raw: RawRequest) -> None:
    """Refuse a path or query with dangerous content or too many parameters (error 1214 of the interface)."""
    if raw.query_text and not raw.has_few_parameters:
        raise operation.error_profile.dangerous("The address has too many parameters.")
    if not raw.query_pairs and not raw.parameters:
        return
    pairs = (*raw.query_pairs, *raw.parameters.items())
    has_tag = operation.documentation.is_public and any(input_filter.opens_tag(value) for _, value in pairs)
    if has_tag or input_filter.are_fields_dangerous(pairs, with_markup=False):
        raise operation.error_profile.dangerous


def read_body(operation: AnyOperation, raw: RawRequest) -> dict[str, Any]:
    """Return the body's members.

    Raises the error profile's refusals: a wrong content type; a body that is not one JSON object (or form-encoded), is
    too large, nests too deeply or holds dangerous content; a missing body. Requests of internal operations may hold
    markup: their callers pass raw input on and filter it themselves.
    """
    if not raw.body and not raw.too_large and raw.method not in WRITES:
        return {}
    if raw.too_large or len(raw.body) > operation.body.max_bytes:
        raise _unreadable(operation, raw)(f"The body is larger than {operation.body.max_bytes} bytes.")
    shape = shape_of(operation.request)
    if not raw.body or raw.body.isspace():
        if shape.needs_body and raw.method in WRITES:
            if raw.media_type and raw.media_type not in operation.media_types:
                raise _bad_content_type(operation)
            raise _no_object(operation, raw)("The body is empty.")
        return {}
    if raw.method in ("GET", "HEAD") and not shape.has_body:
        return {}
    if raw.media_type not in operation.media_types and not raw.media_type.endswith("+json"):
        raise _bad_content_type(operation)
    return _read_form(operation, raw) if raw.media_type in _FORM else _read_json(operation, raw)


def _unreadable(operation: AnyOperation, raw: RawRequest) -> type[ApiError]:
    return operation.error_profile.body_error(raw.method)


def _no_object(operation: AnyOperation, raw: RawRequest) -> type[ApiError]:
    return operation.body.no_object or _unreadable(operation, raw)


def _bad_content_type(operation: AnyOperation) -> ApiError:
    return operation.error_profile.bad_content_type(f"Send the body as {' or '.join(operation.media_types)}.")


def _read_form(operation: AnyOperation, raw: RawRequest) -> dict[str, Any]:
    try:
        pairs = raw.form_pairs
    except ValueError:
        raise _unreadable(operation, raw) from None
    with_markup = operation.documentation.is_public and not operation.body.takes_markup
    if input_filter.are_fields_dangerous(pairs, with_markup=with_markup):
        raise operation.error_profile.dangerous
    read: dict[str, Any] = {}
    for name, value in pairs:
        if value != "":
            read.setdefault(name, value)
    return read


def _has_infinity(read: Any) -> bool:
    waiting = [read]
    while waiting:
        item = waiting.pop()
        if isinstance(item, float) and math.isinf(item):
            return True
        waiting += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
    return False


def _read_json(operation: AnyOperation, raw: RawRequest) -> dict[str, Any]:
    try:
        members = raw.json
    except (ValueError, RecursionError):
        raise _unreadable(operation, raw) from None
    if not isinstance(members, dict):
        raise _no_object(operation, raw)("The body must be one JSON object.")
    return _filtered(operation, members) if input_filter.may_be_dangerous(raw.body) else members


def filter_members(operation: AnyOperation, members: dict[str, Any]) -> dict[str, Any]:
    """Return the body's members. Refuses dangerous content, as `read_body` describes it."""
    try:
        if not input_filter.may_be_dangerous(to_json(members)):
            return members
    except ValueError:  # a lone surrogate has no JSON
        pass
    return _filtered(operation, members)


def _filtered(operation: AnyOperation, members: dict[str, Any]) -> dict[str, Any]:
    with_markup = operation.documentation.is_public and not operation.body.takes_markup
    if input_filter.is_dangerous(members, with_markup=with_markup):
        raise operation.error_profile.dangerous
    return members


def read_request(operation: AnyOperation, raw: RawRequest, body: dict[str, Any]) -> Wire:
    """Return the operation's request.

    Raises the error profile's `bad_parameter`, naming the first parameter that is missing or malformed.
    """
    model = operation.request
    shape = shape_of(model)
    values: dict[str, Any] = dict(body) if shape.reads_members else dict.fromkeys(shape.places[From.WHOLE], body)
    if not shape.address_spellings.isdisjoint(map(str.lower, values)):
        for name in [value for value in values if value.lower() in shape.address_spellings]:
            del values[name]  # a body member must not replace a path, query or header parameter
    for place, name, wire in shape.in_address:
        stored = raw.parameters if place is From.PATH else raw.query if place is From.QUERY else raw.headers
        found = stored.get(wire)
        if found is not None:
            values[name] = found
    if shape.reads_members and operation.error_profile.refuses_unknown_members and raw.method in ("POST", "PUT"):
        _refuse_unknown_members(operation, body)
    try:
        request: Wire = model.model_validate(values)
    except ValidationError as problem:
        raise _refusal(operation, problem) from None
    raw.request = request
    return request


def _refuse_unknown_members(operation: AnyOperation, body: dict[str, Any]) -> None:
    """Refuse a member that the operation neither reads nor returns: it would be dropped silently (decision 0353)."""
    response = operation.response
    models = (operation.request, response) if issubclass(response, Wire) else (operation.request,)
    if operation.request.model_config.get("extra") == "allow":
        return
    if (unknown := next(unknown_members(models, body), None)) is not None:
        near = f"; did you mean {unknown.near}?" if unknown.near else "."
        raise operation.error_profile.bad_parameter(f"{unknown.place[:200]}: this operation has no such member{near}")


def _refusal(operation: AnyOperation, problem: ValidationError) -> ApiError:
    first = problem.errors(include_url=False, include_input=False)[0]
    name = _public_name(operation.request, first["loc"])
    if first["type"] == "missing":
        return operation.error_profile.bad_parameter.names(name)
    if first["type"] == "value_error":  # of a validator here, whose text is the expected value
        return operation.error_profile.bad_parameter(f"{name}: expected {first['ctx']['error']}.")
    return operation.error_profile.bad_parameter(f"The {name} is not formatted correctly: {first['msg']}.")


def _public_name(request: type[Wire], location: tuple[int | str, ...]) -> str:
    shape, location = shape_of(request), tuple(part for part in location if not is_union_tag(part))
    for names in shape.places.values():
        if location and location[0] in names:
            return ".".join([names[str(location[0])], *map(str, location[1:])])
    return ".".join(map(str, location)) or "body"
