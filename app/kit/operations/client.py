"""The typed client of a catalogue: sends a request, returns the response or raises the declared error."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import quote, unquote, urlencode
from wsgiref.types import WSGIApplication, WSGIEnvironment

from pydantic_core import to_json
from werkzeug.datastructures import Headers

from app.kit.operations.errors import ApiError
from app.kit.operations.operation import AnyOperation, Operation
from app.kit.operations.request_parsing import INSIDE
from app.kit.operations.wire import Document, From, Wire, shape_of

if TYPE_CHECKING:
    import httpx

Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound="Wire | Document")
Sign = Callable[[str, str, bytes], Mapping[str, str]]


class ServiceUnavailable(Exception):
    """The service did not answer, answered 503, or answered with an undeclared error.

    `reference` is the service's reference for support, if it gave one; `status` is for the caller's own response.
    """

    def __init__(self, status: int = 503, reference: str = "") -> None:
        super().__init__(f"the service answered {status}")
        self.status = status
        self.reference = reference


class ResponseHeaders(Protocol):
    """Response headers; names ignore letter case."""

    def get(self, name: str, /) -> str | None: ...


@dataclass(frozen=True)
class Reply:
    """A response."""

    status: int
    headers: ResponseHeaders
    content: bytes


Transport = Callable[[str, str, bytes, Mapping[str, str]], Reply]
"""Sends method, address, body and headers to the service; raises ServiceUnavailable if it does not answer."""


def http_transport(http: httpx.Client) -> Transport:
    """Return the transport over the network; the client has a base URL."""
    from httpx import HTTPError

    def send(method: str, address: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        try:
            reply = http.request(method, address, content=body or None, headers=headers)
        except HTTPError as problem:
            raise ServiceUnavailable from problem
        return Reply(reply.status_code, reply.headers, reply.content)

    return send


def wsgi_transport(app: WSGIApplication, scheme: str = "http") -> Transport:
    """Return the transport to a WSGI application in this process."""

    def send(method: str, address: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        started: list[tuple[int, Headers]] = []

        def start(
            status: str, response_headers: list[tuple[str, str]], _exc_info: Any = None, /
        ) -> Callable[[bytes], object]:
            started.append((int(status[:3]), Headers(response_headers)))
            return lambda _: None

        parts = app(_environ(method, address, body, headers, scheme), start)
        content = b"".join(parts)
        status, received = started[-1]
        return Reply(status, received, content)

    return send


def _environ(method: str, address: str, body: bytes, headers: Mapping[str, str], scheme: str) -> WSGIEnvironment:
    path, _, query = address.partition("?")
    environ: WSGIEnvironment = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote(path).encode().decode("latin-1"),
        "QUERY_STRING": query,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scheme,
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        INSIDE: True,
    }
    for name, value in headers.items():
        key = name.upper().replace("-", "_")
        environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
    return environ


class Client:
    """Calls operations.

    Args:
        transport: sends requests to the service.
        sign: returns the headers that authenticate a request, given its method, address and body.
        on_response: called with the headers of every response (costs, versions).
    """

    def __init__(
        self, transport: Transport, sign: Sign, on_response: Callable[[ResponseHeaders], None] | None = None
    ) -> None:
        self._transport = transport
        self._sign = sign
        self._on_response = on_response

    def __call__(self, operation: Operation[Req, Res], req: Req) -> Res:
        """Return the operation's response.

        Raises:
            ApiError: the class that the operation declares for the code answered.
            ServiceUnavailable: no response, or an undeclared one.
        """
        address, body, headers = encode_request(operation, req)
        sent = dict(headers)
        if body:
            sent["Content-Type"] = "application/json"
        path, mark, query = address.partition("?")
        sent.update(self._sign(operation.method, unquote(path) + mark + query, body))  # decoded, as the service sees it
        reply = self._transport(operation.method, address, body, sent)
        if self._on_response is not None:
            self._on_response(reply.headers)
        return read_response(operation, reply)


def read_response(operation: Operation[Any, Res], reply: Reply) -> Res:
    """Return the operation's response, or raise the error that the reply carries."""
    if 200 <= reply.status < 300:
        if issubclass(operation.response, Document):
            return operation.response(reply.content, reply.headers.get("content-type") or "")
        return operation.response.model_validate_json(reply.content)
    try:
        body = json.loads(reply.content)
    except ValueError:
        raise ServiceUnavailable(503 if reply.status in (502, 503, 504) else 500) from None
    raise error_of(operation, reply.status, body, reply.headers)


def split_request(operation: AnyOperation, req: Wire) -> tuple[dict[From, dict[str, str]], Any]:
    """Return the request's fields outside of its body, by place and wire name, and its body as JSON values."""
    shape = shape_of(operation.request)
    stored = req.model_dump(mode="json", by_alias=True, exclude_none=True)
    if not shape.in_address and not shape.places[From.WHOLE]:
        return _NONE_PLACED, stored
    by_field = _aliases(type(req))
    placed: dict[From, dict[str, str]] = {From.PATH: {}, From.QUERY: {}, From.HEADER: {}}
    for place, item in placed.items():
        for name, wire in shape.places[place].items():
            value = stored.pop(by_field[name], None)
            if value is not None:
                item[wire] = str(value)
    body_field = next(iter(shape.places[From.WHOLE]), None)
    return placed, stored if body_field is None else stored.pop(by_field[body_field], None)


_NONE_PLACED: dict[From, dict[str, str]] = {From.PATH: {}, From.QUERY: {}, From.HEADER: {}}


def encode_request(operation: AnyOperation, req: Wire) -> tuple[str, bytes, dict[str, str]]:
    placed, members = split_request(operation, req)
    path = operation.path
    for wire, value in placed[From.PATH].items():
        path = path.replace("{" + wire + "}", quote(value, safe=""))
    query = placed[From.QUERY]
    address = f"{path}?{urlencode(query)}" if query else path
    body = to_json(members) if shape_of(operation.request).has_body else b""
    return address, body, placed[From.HEADER]


@lru_cache(maxsize=1024)
def _aliases(request: type[Wire]) -> dict[str, str]:
    return {name: info.alias or name for name, info in request.model_fields.items()}


def error_of(operation: AnyOperation, status: int, body: Any, headers: ResponseHeaders) -> Exception:
    """Return the declared error that a response carries, or ServiceUnavailable."""
    code = body.get("ErrorCode", body.get("errorCode", body.get("error")))
    text = body.get("Description") or body.get("description") or body.get("error_description")
    if status >= 500:
        return ServiceUnavailable(503 if status == 503 else 500, str(text or ""))
    known = next((kind for kind in operation.every_error if kind.code == code and kind.status == status), None)
    if known is None:
        known = next((kind for kind in operation.every_error if kind.code == code), None)
    if known is None:
        return ServiceUnavailable(500, f"undeclared {code}")
    problems = [(entry["FieldName"], entry["ErrorMessage"]) for entry in body.get("Errors") or ()]
    wait = headers.get("retry-after")
    return known(
        text,
        data=body.get("Data"),
        problems=problems,
        retry_after_seconds=int(wait) if wait else None,
        provider_response=body.get("ProviderErrorResponse"),
    )


__all__ = [
    "ApiError",
    "Client",
    "Reply",
    "Req",
    "Res",
    "ServiceUnavailable",
    "ResponseHeaders",
    "http_transport",
    "wsgi_transport",
]
