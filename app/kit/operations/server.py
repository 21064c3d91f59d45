"""A catalogue as a WSGI application: finds the operation, opens the context, reads the request, calls the handler, maps errors.

Plain WSGI: the catalogue defines routes, bodies and errors, so a web framework would only add its cost.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from http import HTTPStatus
from threading import Lock
from typing import Any, Final, TypeVar
from wsgiref.types import StartResponse, WSGIEnvironment

from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.utils import get_content_type
from werkzeug.wsgi import get_content_length, get_input_stream

from app.kit.caching.bounded_cache import bounded_cache
from app.kit.caching.lru_cache import LruCache
from app.kit.limits.queue_slot import SHED, LoadShed
from app.kit.observability.instrumentation import REQUEST_ID, new_request_id
from app.kit.observability.throttled_log import ThrottledLog
from app.kit.operations.errors import NO_CODE, ApiError, declared_as, error_body
from app.kit.operations.operation import MAX_BODY_BYTES, AnyOperation, BaseHost, Catalogue
from app.kit.operations.request_lifecycle import RequestLifecycle
from app.kit.operations.request_parsing import (
    INSIDE,
    RawRequest,
    filter_address,
    read_body,
    read_request,
)
from app.kit.operations.routing import Match, Router, choose
from app.kit.operations.wire import Document, Wire
from app.kit.web.host_names import requested_host
from app.kit.web.proxies import CERTIFICATE_CHECK, CLIENT_CERTIFICATE

log = logging.getLogger("gatehouse.api")

Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound="Wire | Document")
JSON = "application/json"
MAX_ATTEMPTS = 3  # of one request whose transaction the store aborted
_NO_CONTENT: Final = HTTPStatus.NO_CONTENT  # looking up a member of an enum takes a call
_STATUS_LINES = {status.value: f"{status.value} {status.phrase}" for status in HTTPStatus}


@dataclass
class HttpResponse:
    """A complete response."""

    status: int
    content: bytes = b""
    headers: list[tuple[str, str]] = field(default_factory=list)

    def send(self, method: str, start_response: StartResponse) -> Iterable[bytes]:
        """Send the response (PEP 3333); raises ValueError if a header's value holds a line break."""
        for _, value in self.headers:
            if "\n" in value or "\r" in value:
                raise ValueError("a header's value holds a line break")
        if self.status != _NO_CONTENT:
            self.headers.append(("Content-Length", str(len(self.content))))
        start_response(_STATUS_LINES.get(self.status) or f"{self.status} Unknown", self.headers)
        return [] if method == "HEAD" else [self.content]


@dataclass(slots=True)
class OperationResult:
    """The result of running an operation: the handler's response, or the error in its place."""

    operation: AnyOperation
    context: Any  # None: it was refused before it had one
    response: Any = None
    error: ApiError | None = None
    status: int = 200  # of the error


class OperationServer:
    """The WSGI application that serves a catalogue.

    Args:
        load_handlers: imports the modules that implement the operations; called before the first operation runs (decision 0366).
        early: names of operations that run without that: their handlers are there, and need nothing of other modules.

    Attributes:
        is_loaded: whether every operation has its handler.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        lifecycle: RequestLifecycle[Any],
        host_of: Callable[[RawRequest], BaseHost],
        load_handlers: Callable[[], object] = lambda: None,
        early: frozenset[str] = frozenset(),
    ) -> None:
        self.catalogue = catalogue
        self.lifecycle = lifecycle
        self.is_loaded = False
        self._loading = Lock()
        self._load_handlers = load_handlers
        self._early = early
        self._host_of = host_of
        self._unavailable = ThrottledLog(log)
        self.cached_responses: LruCache[Hashable, tuple[object, Any]] = LruCache(2_000)
        self._nothing = Router(())

    def load(self) -> None:
        """Load the handlers, unless they are loaded; wait if another thread does. Raises LookupError for an operation without one."""
        with self._loading:
            if self.is_loaded:
                return
            self._load_handlers()
            if missing := [operation.name for operation in self.catalogue if not operation.is_implemented]:
                raise LookupError(f"operations without a handler: {', '.join(missing)}")
            self.is_loaded = True

    @cached_property
    def _routers(self) -> Mapping[BaseHost, Router]:
        return {host: Router(self.catalogue.on(host)) for host in self.catalogue.hosts()}

    @cached_property
    def _larger_bodies(self) -> Mapping[str, int]:
        """How much is read at the addresses of operations that take larger bodies than others, by path in lower case."""
        larger = (operation for operation in self.catalogue if operation.body.max_bytes > MAX_BODY_BYTES)
        return {path.lower(): operation.body.max_bytes for operation in larger for _, path in operation.addresses()}

    def _router(self, host: BaseHost) -> Router:
        return self._routers.get(host, self._nothing)

    def owns(self, host: BaseHost, path: str) -> bool:
        """Return whether this server answers the path on that kind of host, a wrong method included."""
        return self._router(host).find(path) is not None

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve the catalogue (PEP 3333)."""
        raw = raw_request(environ, self._larger_bodies.get(path_of(environ).lower(), MAX_BODY_BYTES))
        return self.respond(raw).send(environ["REQUEST_METHOD"], start_response)

    def operations_at(self, host: BaseHost, method: str, path: str) -> list[AnyOperation]:
        """Return the operations at a method and path; `choose` selects one by the query."""
        found = self._router(host).find(path)
        return found.methods.get(method, []) if found is not None else []

    def respond(self, raw: RawRequest) -> HttpResponse:
        """Return the response to one request."""
        router = self._router(self._host_of(raw))
        match = router.find(raw.path)
        if match is None:
            return self._error_response(_NotFound(), raw, None, None)
        if raw.method == "OPTIONS":
            return self._preflight(match, raw)
        method = "GET" if raw.method == "HEAD" and "HEAD" not in match.methods else raw.method
        operation = choose(match.methods.get(method, []), raw.query)
        if operation is None:
            return self._wrong_method(match, raw)
        raw.parameters, raw.route = match.parameters, match.route
        result = self.run(operation, raw, lambda: read_body(operation, raw))
        if result.error is not None:
            return self._error_response(result.error, raw, result.context, operation, result.status)
        return self.success_response(result, raw)

    def _wrong_method(self, match: Match, raw: RawRequest) -> HttpResponse:
        """Refuse the method, with the error profile of the operations at the path and `Allow` (RFC 9110 section 15.5.6)."""
        operation = next(method[0] for method in match.methods.values())
        response = self._error_response((operation.error_profile.wrong_method or _WrongMethod)(), raw, None, operation)
        response.headers.append(("Allow", ", ".join(sorted(match.methods))))
        return response

    def run(
        self,
        operation: AnyOperation,
        raw: RawRequest,
        read_members: Callable[[], dict[str, Any]],
        *,
        runs_left: int = MAX_ATTEMPTS,
    ) -> OperationResult:
        """Run an operation: admit the caller, read the request, call the handler, commit or roll back.

        `read_members` returns the body's members, or raises their refusal. Requests over the network and calls within the process
        differ only in reading members and in returning the result.
        """
        context = None
        if raw.shed is not None:
            return self._refuse(raw.shed, operation, raw, None)
        try:
            if not self.is_loaded and operation.name not in self._early:
                self.load()
            filter_address(operation, raw)
            context = self.lifecycle.open(operation, raw)
            body = read_members()
            self.lifecycle.admit_caller(context, operation, raw, body)
            response = self._call_handler(operation, context, raw, body)
            self.lifecycle.close(context, None)
        except Exception as problem:  # noqa: BLE001 - any undeclared failure is answered with a reference
            if runs_left > 1 and context is not None and self.lifecycle.may_retry(context, problem):
                raw.is_repeated = True
                return self.run(operation, raw, read_members, runs_left=runs_left - 1)
            return self._refuse(problem, operation, raw, context)
        return OperationResult(operation, context, response)

    def _call_handler(self, operation: AnyOperation, context: Any, raw: RawRequest, body: dict[str, Any]) -> Any:
        """Return the response to an admitted request: the handler's, or a cached response to an equal request."""
        is_bare = not (raw.query_text or raw.parameters or raw.body)
        state = self.lifecycle.cached_by(context) if operation.is_cached and is_bare else None
        if state is None:
            return operation.handler(context, read_request(operation, raw, body))
        key = (operation.name, raw.scheme, raw.host.lower())
        if (found := self.cached_responses.get(key)) is not None and found[0] == state:
            return found[1]
        response = operation.handler(context, read_request(operation, raw, body))
        if self.lifecycle.cached_by(context) == state:
            self.cached_responses.put(key, (state, response))
        return response

    def _refuse(self, problem: Exception, operation: AnyOperation, raw: RawRequest, context: Any) -> OperationResult:
        if context is not None:
            try:
                self.lifecycle.close(context, problem)
            except Exception as second:  # noqa: BLE001 - as above: a response must be sent
                problem = second if isinstance(problem, ApiError) else problem
        known = declared_as(problem, operation.every_error) if isinstance(problem, ApiError) else None
        if isinstance(problem, ApiError) and known is not None:
            return OperationResult(operation, context, error=problem, status=known.status)
        if isinstance(problem, LoadShed):
            shed = _shed_as(problem, operation)
            return OperationResult(operation, context, error=shed, status=problem.unavailable_status)
        broken = operation.error_profile.broken
        status = getattr(problem, "unavailable_status", broken.status)
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            facts = {"operation": operation.name, "reference": raw.request_id, "problem": str(problem)}
            self._unavailable.write(type(problem).__name__, "api.unavailable", **facts)
        else:
            log.error("%s failed, reference %s", operation.name, raw.request_id, exc_info=problem)
        error = broken(f"An internal error. Quote reference {raw.request_id}.")
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            error.retry_after_seconds = getattr(problem, "retry_after_seconds", 5)
        return OperationResult(operation, context, error=error, status=status)

    def added_headers(self, result: OperationResult, raw: RawRequest) -> list[tuple[str, str]]:
        """Return the headers that handler and lifecycle add to the response."""
        added = self.lifecycle.headers(result.context, result.operation, raw)
        return [*raw.response_headers.items(), *added]

    def success_response(self, result: OperationResult, raw: RawRequest) -> HttpResponse:
        encoded = result.response
        if isinstance(encoded, Document):
            cache_control = f"public, max-age={encoded.max_age_seconds}" if encoded.max_age_seconds else "no-store"
            response = _new_response(encoded.http_status, encoded.content, encoded.media_type, cache_control)
            response.headers.extend(encoded.headers.items())
        else:
            response = _new_response(encoded.http_status, encoded.to_json())
        response.headers.extend(self.added_headers(result, raw))
        return response

    def _error_response(
        self,
        error: ApiError,
        raw: RawRequest,
        context: Any,
        operation: AnyOperation | None,
        status: int | None = None,
    ) -> HttpResponse:
        response = _new_response(status or error.status, json.dumps(error_body(error)).encode(), error.media_type)
        if error.retry_after_seconds is not None:
            response.headers.append(("Retry-After", str(error.retry_after_seconds)))
        response.headers.extend(error.headers.items())
        response.headers.extend(raw.response_headers.items())
        response.headers.extend(self.lifecycle.headers(context, operation, raw))
        return response

    def _preflight(self, match: Match, raw: RawRequest) -> HttpResponse:
        headers = {"Allow": ", ".join(sorted({*match.methods, "OPTIONS"}))}
        for method in match.methods.values():
            headers.update(self.lifecycle.headers(None, method[0], raw))
        if "Access-Control-Allow-Origin" in headers:
            headers["Access-Control-Allow-Methods"] = headers["Allow"]
        return HttpResponse(204, headers=list(headers.items()))


def _new_response(status: int, content: bytes, media_type: str = JSON, cache_control: str = "no-store") -> HttpResponse:
    return HttpResponse(status, content, list(_headers(media_type, cache_control)))


@lru_cache(maxsize=64)
def _headers(media_type: str, cache_control: str) -> tuple[tuple[str, str], ...]:
    headers = [("Cache-Control", cache_control), ("X-Content-Type-Options", "nosniff")]
    if media_type:
        headers.append(("Content-Type", get_content_type(media_type, "utf-8")))
    if cache_control == "no-store":
        headers.append(("Pragma", "no-cache"))  # RFC 6749 section 5.1 requires both for tokens
    return tuple(headers)


def _shed_as(shed: LoadShed, operation: AnyOperation) -> ApiError:
    """Return the error profile's error for too many requests or an overloaded service."""
    of_callers = operation.error_profile.errors_for(operation.admission.every_auth)
    kind = next((kind for kind in of_callers if kind.status == shed.unavailable_status), operation.error_profile.broken)
    sentence = "Too many requests are waiting. Try again later."
    return kind(sentence, retry_after_seconds=shed.retry_after_seconds)


class _NotFound(ApiError):
    code, status, message = NO_CODE, 404, "Not found"
    description = "No such operation."


class _WrongMethod(ApiError):
    code, status, message = 405, 405, "Method not allowed"
    description = "No operation answers this method at this address."


def path_of(environ: Mapping[str, Any]) -> str:
    """Return the decoded path, as the router expects it."""
    path = str(environ.get("PATH_INFO", ""))
    if not path.isascii():
        path = path.encode("latin-1").decode(errors="replace")
    return "/" + path.lstrip("/")


def raw_request(environ: WSGIEnvironment, max_body_bytes: int = MAX_BODY_BYTES) -> RawRequest:
    """Return the request of a WSGI environment; a body over the limit is not read."""
    body = _read_body(environ, max_body_bytes)
    return RawRequest(
        method=environ["REQUEST_METHOD"],
        path=path_of(environ),
        query_text=environ.get("QUERY_STRING", ""),
        headers=_headers_of(environ),
        body=body or b"",
        address=environ.get("REMOTE_ADDR", ""),
        host=requested_host(environ),
        scheme=environ["wsgi.url_scheme"],
        too_large=body is None,
        is_inside=INSIDE in environ,
        request_id=environ.get(REQUEST_ID) or new_request_id(),
        shed=environ.get(SHED),
        client_certificate=environ.get(CLIENT_CERTIFICATE, ""),
        certificate_check=environ.get(CERTIFICATE_CHECK, ""),
    )


def _read_body(environ: WSGIEnvironment, most: int) -> bytes | None:
    """Return the body; None if it is over the limit."""
    stream = environ["wsgi.input"]
    if isinstance(stream, io.BytesIO) and "wsgi.input_terminated" in environ:  # our server has read it completely
        stored = stream.getvalue()
        if environ.get("CONTENT_LENGTH", "0") == str(len(stored)):
            return stored if len(stored) <= most else None
    if (get_content_length(environ) or 0) > most:
        return None
    try:
        return get_input_stream(environ, max_content_length=most).read()
    except RequestEntityTooLarge:
        return None


def _headers_of(environ: WSGIEnvironment) -> dict[str, str]:
    headers = {_NAMES.get(key) or header_name(key): value for key, value in environ.items() if key[:5] == "HTTP_"}
    if value := environ.get("CONTENT_TYPE"):
        headers["content-type"] = value
    if value := environ.get("CONTENT_LENGTH"):
        headers["content-length"] = value
    return headers


_NAMES: Final = {
    f"HTTP_{name.replace('-', '_').upper()}": name
    for name in (
        "host", "user-agent", "accept", "accept-encoding", "accept-language", "authorization", "connection", "cookie", "origin", "referer",
        "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host",
    )
}  # fmt: skip
"""Header fields of most requests."""


@bounded_cache(max_entries=1024, length=80)
def header_name(key: str) -> str:
    return key.removeprefix("HTTP_").replace("_", "-").lower()
