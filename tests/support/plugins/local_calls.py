"""Checks every call that a hub hands to the identity service in its process: over the network it would have been the same.

The hub of page tests calls so, but for the modules of `tests/support/plugins/over_http.py`. pytest loads it as a plugin.
"""

from typing import Any
from urllib.parse import unquote

from app.hub.client import identity_client
from app.kit.operations import in_process_client
from app.kit.operations.client import encode_request
from app.kit.operations.in_process_client import LocalClient
from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import RawRequest, read_body, read_request
from app.kit.operations.routing import Router
from app.kit.operations.wire import Document, Wire

_received: list[tuple[Wire, bytes]] = []


def over_network(operation: AnyOperation, req: Wire) -> Wire:
    """Return the request as the service reads it from HTTP."""
    address, body, headers = encode_request(operation, req)
    path, _, query = address.partition("?")
    sent = {"content-type": "application/json", **{name.lower(): value for name, value in headers.items()}}
    raw = RawRequest(operation.method, unquote(path), query, sent, body)
    found = Router([operation]).find(raw.path)
    assert found is not None, address
    raw.parameters = found.parameters
    return read_request(operation, raw, read_body(operation, raw))


class CheckedClient(LocalClient):
    """Compares each call with what HTTP would carry. The hub must not change a response: others may hold it."""

    def __call__(self, operation: Any, req: Any) -> Any:
        for answer, content in _received:
            assert answer.to_json() == content, f"the hub changed a {type(answer).__name__}"
        _received.clear()
        raw, body = in_process_client.local_request(operation, req, None)
        try:
            read = read_request(operation, raw, body)
        except operation.every_error:
            pass
        else:
            assert read == over_network(operation, req), operation.name
        answer = super().__call__(operation, req)
        if not isinstance(answer, Document):
            content = answer.to_json()
            assert answer == operation.response.model_validate_json(content), operation.name
            _received.append((answer, content))
        return answer


vars(identity_client)["LocalClient"] = CheckedClient
