"""The queue that a request waits in for a password hash (decisions/0152). Reads neither database nor Redis."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from app.contract.auth import AuthScheme, Host
from app.contract.visit import VISIT_HEADER, Visit
from app.identity.entry import callers
from app.identity.platform.services import Services
from app.identity.protocols.oauth import machine_tokens
from app.kit.admission import QueueSlot
from app.kit.operation import AnyOperation
from app.kit.reading import RawRequest
from app.kit.routing import choose
from app.kit.server import Server, path_of, raw_request


class HashQueueRouter:
    """Says of a request to the identity service where it waits."""

    def __init__(self, services: Services, server: Server) -> None:
        self._house = services
        self._server = server

    def queue_slot(self, environ: Mapping[str, Any]) -> QueueSlot | None:
        """Return where a request waits; None for one that computes no hash.

        The tenant named by the caller is not verified: naming another tenant only gains a place in that tenant's queue, as
        signing in there would.
        """
        stream, query = environ["wsgi.input"], environ["QUERY_STRING"]
        body = stream.getvalue() if isinstance(stream, io.BytesIO) else b""
        host = callers.host_of(self._house.settings, environ.get("HTTP_HOST", ""))
        standing = self._server.operations_at(host, environ["REQUEST_METHOD"], path_of(environ))
        if not any(one.hashing is not None and one.hashing.may_hash(query, body) for one in standing):
            return None  # most requests end here
        raw = raw_request({**environ, "wsgi.input": io.BytesIO(body)})
        operation = choose(standing, raw.query)
        if operation is None or operation.hashing is None or not operation.hashing.may_hash(query, body):
            return None
        return QueueSlot(self._tenant(operation, raw), operation.hashing.work)

    def _tenant(self, operation: AnyOperation, raw: RawRequest) -> str:
        """Return the tenant's name; empty where it is not known yet or not at all: those share one line."""
        directory = self._house.directory
        if operation.host is Host.TENANT:
            return self._at(raw.host)
        if AuthScheme.HUB in operation.admission.auth.schemes():
            try:
                return self._at(Visit.from_header(raw.headers.get(VISIT_HEADER.lower(), "")).host)
            except ValueError:
                return ""
        key = callers.api_key(raw)
        if key is not None:
            return directory.known("key", key)
        secret = callers.api_secret(raw)
        if secret is not None:
            return directory.known("secret", secret)
        return directory.known("name", machine_tokens.claimed_name(self._house, raw.bearer()))

    def _at(self, host: str) -> str:
        name, _, domain = host.lower().partition(".")
        return self._house.directory.known("name", name) if domain == self._house.settings.hub_domain else ""
