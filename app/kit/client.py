"""A catalogue called over HTTP: send the request, return the response or raise the declared error."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TypeVar
from urllib.parse import quote

import httpx

from app.kit.errors import ApiError
from app.kit.operation import AnyOperation, Operation
from app.kit.wire import Document, From, Wire, shape_of

Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound="Wire | Document")
Sign = Callable[[str, str, bytes], Mapping[str, str]]


class ServiceUnavailable(Exception):
    """The identity service did not answer, answered 503, or answered something that is not declared.

    `reference` is the service's own reference where it gave one; `status` what the page should answer.
    """

    def __init__(self, status: int = 503, reference: str = "") -> None:
        super().__init__(f"the identity service answered {status}")
        self.status = status
        self.reference = reference


class Client:
    """Calls operations.

    Args:
        http: the transport, with a base URL.
        sign: given method, address and body, the headers that show who calls.
        heard: told of every answer's headers (costs, versions).
    """

    def __init__(
        self, http: httpx.Client, sign: Sign, heard: Callable[[Mapping[str, str]], None] | None = None
    ) -> None:
        self._http = http
        self._sign = sign
        self._heard = heard

    def __call__(self, operation: Operation[Req, Res], req: Req) -> Res:
        """Return the operation's response.

        Raises:
            ApiError: the class that the operation declares for the code answered.
            ServiceUnavailable: no answer, or none that is declared.
        """
        address, body, headers = _written(operation, req)
        sent = dict(headers)
        if body:
            sent["Content-Type"] = "application/json"
        sent.update(self._sign(operation.method, address, body))
        try:
            answer = self._http.request(operation.method, address, content=body or None, headers=sent)
        except httpx.HTTPError as problem:
            raise ServiceUnavailable from problem
        if self._heard is not None:
            self._heard(answer.headers)
        if answer.is_success:
            if issubclass(operation.response, Document):
                return operation.response(answer.content, answer.headers.get("content-type", ""))
            return operation.response.model_validate_json(answer.content)
        raise _error(operation, answer)


def _written(operation: AnyOperation, req: Wire) -> tuple[str, bytes, dict[str, str]]:
    shape = shape_of(operation.request)
    held = req.model_dump(mode="json", by_alias=True, exclude_none=True)
    by_field = {name: info.alias or name for name, info in type(req).model_fields.items()}
    placed = {
        place: {wire: held.pop(by_field[name], None) for name, wire in names.items()}
        for place, names in shape.places.items()
        if place is not From.BODY
    }
    path = operation.path
    for wire, value in placed[From.PATH].items():
        path = path.replace("{" + wire + "}", quote(str(value), safe=""))
    query = {wire: value for wire, value in placed[From.QUERY].items() if value is not None}
    address = str(httpx.URL(path, params=query)) if query else path
    headers = {wire: str(value) for wire, value in placed[From.HEADER].items() if value is not None}
    body = json.dumps(held).encode() if shape.has_body else b""
    return address, body, headers


def _error(operation: AnyOperation, answer: httpx.Response) -> Exception:
    try:
        body = answer.json()
    except ValueError:
        return ServiceUnavailable(503 if answer.status_code in (502, 503, 504) else 500)
    code = body.get("ErrorCode", body.get("errorCode", body.get("error")))
    text = body.get("Description") or body.get("description") or body.get("error_description")
    if answer.status_code >= 500:
        return ServiceUnavailable(503 if answer.status_code == 503 else 500, str(text or ""))
    known = next(
        (kind for kind in operation.every_error if kind.code == code and kind.status == answer.status_code), None
    )
    if known is None:
        known = next((kind for kind in operation.every_error if kind.code == code), None)
    if known is None:
        return ServiceUnavailable(500, f"undeclared {code}")
    problems = [(entry["FieldName"], entry["ErrorMessage"]) for entry in body.get("Errors") or ()]
    wait = answer.headers.get("retry-after")
    return known(text, data=body.get("Data"), problems=problems, retry_after_seconds=int(wait) if wait else None)


__all__ = ["ApiError", "Client", "ServiceUnavailable"]


def reachable(url: str) -> None:
    """Raise where no server answers 200 at the address within 2 seconds."""
    httpx.get(url, timeout=2).raise_for_status()
