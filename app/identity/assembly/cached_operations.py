"""Answers requests for metadata and key sets from memory (decision 0368)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from app.identity.platform.services import IdentityServices
from app.kit.operations.server import OperationServer


class CachedOperations:
    """Answers from memory the operations that are declared `is_cached`."""

    def __init__(self, services: IdentityServices, server: OperationServer) -> None:
        self._services = services
        self._server = server

    def is_answered_from_cache(self, environ: Mapping[str, Any]) -> bool:
        """Return whether a GET or HEAD is for such an operation, with its tenant and the tenant's keys in memory.

        A request with a query needs a slot like any other: parsing and filtering a long query takes milliseconds.
        """
        is_bare = not environ["QUERY_STRING"] and environ["PATH_INFO"].lower() in self._paths
        if not self._server.is_loaded or not is_bare:
            return False
        host = self._services.settings.without_mtls(environ.get("HTTP_HOST", "").lower())
        tenant = self._services.directory.fresh(host)
        return tenant is not None and self._services.signing_keys.cached(tenant.tenant_id) is not None

    @cached_property
    def _paths(self) -> frozenset[str]:
        """Their addresses without an application: an application that registered itself is read for each request."""
        cached = (operation for operation in self._server.catalogue if operation.is_cached)
        return frozenset(path.lower() for operation in cached for _, path in operation.addresses() if "{" not in path)
