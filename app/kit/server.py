"""A catalogue behind Flask: find the operation, open the call, read the request, answer, map errors."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from flask import Flask, Request, Response, request
from werkzeug.exceptions import RequestEntityTooLarge

from app.kit import randomness
from app.kit.errors import ApiError, OAuthError, declared_as
from app.kit.operation import AnyOperation, Catalogue, Host, Operation
from app.kit.reading import MOST_BODY_BYTES, RawRequest, read_body, read_request, refuse_dangerous
from app.kit.routing import Found, Router, choose
from app.kit.wire import Document, Wire

log = logging.getLogger("gatehouse.api")

Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound="Wire | Document")
CallT = TypeVar("CallT")
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")


class Border(Protocol[CallT]):
    """What the owner of the operations adds: who calls, and the unit of work around a handler."""

    def open(self, operation: AnyOperation, raw: RawRequest) -> CallT:
        """Admit the program (keys, secrets, client, hub) and open the call. Raises the family's refusals."""

    def admit_person(self, call: CallT, operation: AnyOperation, raw: RawRequest, body: dict[str, Any]) -> None:
        """Admit what may stand in the body too: an access token, a client's credentials."""

    def close(self, call: CallT, refusal: Exception | None) -> None:
        """Commit, or roll back and write the books that survive a refusal."""

    def headers(self, call: CallT | None, operation: AnyOperation | None, raw: RawRequest) -> Iterable[tuple[str, str]]:
        """Return headers to add to the answer (CORS, cost, tenant version)."""


class Server:
    """The operations' implementations, and the WSGI application that serves them."""

    def __init__(self, catalogue: Catalogue, border: Border[Any], host_of: Callable[[str], Host]) -> None:
        self.catalogue = catalogue
        self.border = border
        self._host_of = host_of
        self._handlers: dict[str, Callable[[Any, Any], Any]] = {}
        self._routers = {host: Router(catalogue.on(host)) for host in Host}

    def implements(
        self, operation: Operation[Req, Res]
    ) -> Callable[[Callable[[Any, Req], Res | Document]], Callable[[Any, Req], Res | Document]]:
        """Return the decorator that gives the operation its handler."""

        def keep(handler: Callable[[Any, Req], Res | Document]) -> Callable[[Any, Req], Res | Document]:
            if operation.name in self._handlers:
                raise ValueError(f"{operation.name} is implemented twice")
            self._handlers[operation.name] = handler
            return handler

        return keep

    def missing(self) -> list[str]:
        """Return stated operations without a handler."""
        return [operation.name for operation in self.catalogue if operation.name not in self._handlers]

    def owns(self, host: Host, method: str, path: str) -> bool:
        """Return whether this server answers the method and path on that kind of host."""
        return self._routers[host].owns(method, path)

    def mount(self, app: Flask) -> None:
        """Serve the catalogue at every path of the application that has no route of its own."""
        app.add_url_rule("/", "operations", self.answer, methods=METHODS, provide_automatic_options=False)
        app.add_url_rule("/<path:_path>", "operations", self.answer, methods=METHODS, provide_automatic_options=False)

    def answer(self, _path: str = "") -> Response:
        """Answer the current Flask request."""
        raw = raw_request(request)
        router = self._routers[self._host_of(raw.host)]
        found = router.find(raw.path)
        if found is None:
            return self._write_error(_NotFound(), raw, None, None)
        if raw.method == "OPTIONS":
            return self._preflight(found, raw)
        method = "GET" if raw.method == "HEAD" and "HEAD" not in found.methods else raw.method
        operation = choose(found.methods.get(method, []), raw.query)
        if operation is None:
            response = self._write_error(_WrongMethod(), raw, None, None)
            response.headers["Allow"] = ", ".join(sorted(found.methods))
            return response
        raw.parameters = found.parameters
        return self._run(operation, raw)

    def _run(self, operation: AnyOperation, raw: RawRequest) -> Response:
        call = None
        try:
            refuse_dangerous(operation, raw)
            call = self.border.open(operation, raw)
            body = read_body(operation, raw)
            self.border.admit_person(call, operation, raw, body)
            answer = self._handlers[operation.name](call, read_request(operation, raw, body))
            self.border.close(call, None)
        except Exception as problem:  # noqa: BLE001 - an undeclared failure is answered with a reference, whatever it is
            return self._refuse(problem, operation, raw, call)
        return self._write(answer, operation, raw, call)

    def _refuse(self, problem: Exception, operation: AnyOperation, raw: RawRequest, call: Any) -> Response:
        if call is not None:
            try:
                self.border.close(call, problem)
            except Exception as second:  # noqa: BLE001 - as above: the answer must go out
                problem = second if isinstance(problem, ApiError) else problem
        known = declared_as(problem, operation.every_error) if isinstance(problem, ApiError) else None
        if isinstance(problem, ApiError) and known is not None:
            return self._write_error(problem, raw, call, operation, known.status)
        reference = randomness.token(9)
        broken = operation.family.broken
        status = getattr(problem, "unavailable_status", broken.status)
        level = logging.WARNING if status == 503 else logging.ERROR
        log.log(level, "%s failed, reference %s", operation.name, reference, exc_info=problem)
        error = broken(f"An internal error. Quote reference {reference}.")
        if status == 503:
            error.retry_after_seconds = 5
        return self._write_error(error, raw, call, operation, status)

    def _write(self, answer: Any, operation: AnyOperation, raw: RawRequest, call: Any) -> Response:
        if isinstance(answer, Document):
            response = Response(answer.content, mimetype=answer.media_type)
            response.headers["Cache-Control"] = (
                f"public, max-age={answer.max_age_seconds}" if answer.max_age_seconds else "no-store"
            )
            response.headers.extend(dict(answer.headers))
        else:
            response = Response(answer.to_json(), mimetype="application/json")
            response.headers["Cache-Control"] = "no-store"
            response.status_code = getattr(answer, "http_status", 200)
        response.headers["X-Content-Type-Options"] = "nosniff"
        for name, value in self.border.headers(call, operation, raw):
            response.headers.add(name, value)
        return response

    def _write_error(
        self,
        error: ApiError,
        raw: RawRequest,
        call: Any,
        operation: AnyOperation | None,
        status: int | None = None,
    ) -> Response:
        response = Response(json.dumps(error_body(error)), mimetype="application/json", status=status or error.status)
        response.headers["Cache-Control"] = "no-store"
        response.headers["X-Content-Type-Options"] = "nosniff"
        if error.retry_after_seconds is not None:
            response.headers["Retry-After"] = str(error.retry_after_seconds)
        if isinstance(error, OAuthError):
            response.headers.extend(dict(error.headers))
        for name, value in self.border.headers(call, operation, raw):
            response.headers.add(name, value)
        return response

    def _preflight(self, found: Found, raw: RawRequest) -> Response:
        response = Response(status=204)
        response.headers["Allow"] = ", ".join(sorted({*found.methods, "OPTIONS"}))
        for held in found.methods.values():
            for name, value in self.border.headers(None, held[0], raw):
                response.headers[name] = value
        return response


class _NotFound(ApiError):
    code, status, message = 404, 404, "Not found"
    description = "No operation stands at this address."


class _WrongMethod(ApiError):
    code, status, message = 405, 405, "Method not allowed"
    description = "No operation answers this method at this address."


def raw_request(flask_request: Request) -> RawRequest:
    """Return Flask's request as the kernel reads it; a body over the limit is not read at all."""
    too_large, body = (flask_request.content_length or 0) > MOST_BODY_BYTES, b""
    try:
        body = b"" if too_large else flask_request.get_data(cache=True)
    except RequestEntityTooLarge:
        too_large = True
    return RawRequest(
        method=flask_request.method,
        path=flask_request.path,
        query_text=flask_request.query_string.decode("latin-1"),
        headers={name.lower(): value for name, value in flask_request.headers.items()},
        body=body,
        address=flask_request.remote_addr or "",
        host=flask_request.host,
        scheme=flask_request.scheme,
        too_large=too_large,
    )


def error_body(error: ApiError) -> dict[str, Any]:
    """Return the interface's error body (profile.json.md section 1.3), or OAuth's (RFC 6749 section 5.2)."""
    if isinstance(error, OAuthError):
        return {"error": error.code, "error_description": error.description}
    if error.camel:
        return {"errorCode": error.code, "message": error.message, "description": error.description}
    body: dict[str, Any] = {
        "ErrorCode": error.code,
        "Message": error.message,
        "Description": error.description,
        "IsProviderError": False,
        "ProviderErrorResponse": None,
    }
    if error.problems:
        body["Errors"] = [{"FieldName": name, "ErrorMessage": sentence} for name, sentence in error.problems]
    if error.data is not None:
        body["Data"] = error.data
    return body
