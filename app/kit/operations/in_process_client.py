"""Calls of operations within one process: the request is handed to the server and the response back (decision 0270).

Nothing is encoded, signed, sent or routed. What admits and answers a request is `OperationServer.run`, as for a request over the
network: the caller's context, filter and validation of the request, unit of work, repetition, declared errors.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from wsgiref.headers import Headers

from app.kit.observability.instrumentation import new_request_id
from app.kit.observability.logs import bound
from app.kit.operations.client import (
    Client,
    Reply,
    Req,
    Res,
    ResponseHeaders,
    ServiceUnavailable,
    error_of,
    read_response,
    split_request,
)
from app.kit.operations.errors import ApiError, error_body
from app.kit.operations.operation import AnyOperation, BaseHost, Operation
from app.kit.operations.request_parsing import RawRequest, filter_members
from app.kit.operations.server import OperationServer
from app.kit.operations.wire import Document, From, Wire

JSON_TYPE = "application/json"


@dataclass
class LocalClient(Client):
    """Calls operations of a server in this process.

    Attributes:
        host: the kind of host whose operations may be called.
        caller: the calling program, in place of a signature; requests over the network have none.
        on_response: called with the headers of every response (costs, versions).
    """

    server: OperationServer
    host: BaseHost
    caller: object
    on_response: Callable[[ResponseHeaders], None] | None = None

    def __call__(self, operation: Operation[Req, Res], req: Req) -> Res:
        if operation.host is not self.host:
            raise ServiceUnavailable(500, f"{operation.name} is not called from here")
        raw, body = local_request(operation, req, self.caller)
        result = self.server.run(operation, raw, partial(filter_members, operation, body))
        headers = self.server.added_headers(result, raw)
        if self.on_response is not None:
            self.on_response(Headers(headers))
        if result.error is not None:
            raise _raised_again(operation, result.error, result.status, headers)
        return _received(operation, result.response, headers)


def local_request(operation: AnyOperation, req: Wire, caller: object) -> tuple[RawRequest, dict[str, Any]]:
    """Return the request and its body's members, as a server reads them."""
    placed, body = split_request(operation, req)
    raw = RawRequest(
        method=operation.method,
        path=operation.path,
        query_text="",
        headers={name.lower(): value for name, value in placed[From.HEADER].items()},
        body=b"",
        parameters=placed[From.PATH],
        route=operation.path,
        request_id=bound("request_id") or new_request_id(),
        is_inside=True,
        caller=caller,
    )
    raw.query_pairs = list(placed[From.QUERY].items())
    return raw, body


def _received(operation: Operation[Any, Res], response: Any, headers: list[tuple[str, str]]) -> Res:
    """Return the handler's response; parse it as from the network if it is not exactly of the declared class."""
    if type(response) is operation.response and not isinstance(response, Document) and not response.omits_none:
        received: Res = response
        return received
    is_document = isinstance(response, Document)
    content = response.content if is_document else response.to_json()
    media_type = response.media_type if is_document else JSON_TYPE
    return read_response(
        operation, Reply(response.http_status, Headers([*headers, ("Content-Type", media_type)]), content)
    )


def _raised_again(operation: AnyOperation, error: ApiError, status: int, headers: list[tuple[str, str]]) -> Exception:
    """Return the error as it would arrive over the network: of a declared class, and without anything of the server's."""
    body = json.loads(json.dumps(error_body(error)))
    if error.retry_after_seconds is not None:
        headers = [*headers, ("Retry-After", str(error.retry_after_seconds))]
    return error_of(operation, status, body, Headers(headers))
