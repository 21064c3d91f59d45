"""Admits every caller to its operations. Loaded with the handlers (decisions/0304)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from app.contract import errors as e
from app.contract.auth import AuthScheme, Host
from app.identity.entry import admission, callers
from app.identity.entry.hub_lifecycle import HubLifecycle
from app.identity.platform.context import Context
from app.identity.platform.store.unit import Cost
from app.identity.platform.tenant import Tenant
from app.identity.protocols.oauth import cors, machine_tokens, query_clients
from app.kit.operation import AnyOperation
from app.kit.reading import RawRequest

_OF_PROGRAMS: Final = frozenset({AuthScheme.MACHINE_TOKEN, AuthScheme.QUERY_CLIENT_SECRET, AuthScheme.API_SECRET})


class IdentityLifecycle(HubLifecycle):
    """Opens the context of each request and closes it."""

    def open(self, operation: AnyOperation, raw: RawRequest) -> Context:
        """Authenticate API keys, API secrets, machine tokens and the hub, in the interface's order of checks."""
        if AuthScheme.HUB in operation.admission.auth.schemes():
            context = super().open(operation, raw)
        else:
            cost = Cost()
            context = self.context(operation, raw, self._tenant_of(operation, raw, cost), cost)
        try:
            self._admit_program(context, operation)
        except Exception as refusal:
            self.close(context, refusal)
            raise
        return context

    def _tenant_of(self, operation: AnyOperation, raw: RawRequest, cost: Cost) -> Tenant:
        """Return the tenant that host, path, key, token or secret names; a key that is sent besides must be its own."""
        schemes = operation.admission.auth.schemes()
        if operation.host is Host.TENANT:
            tenant = callers.tenant_of_host(self.services, operation, raw, cost)
            self._check_key(operation, raw, tenant.api_key)
            return tenant
        if callers.SITE in raw.parameters:
            tenant = callers.tenant_of_site(self.services, raw, cost)
            self._check_key(operation, raw, tenant.api_key)
            return tenant
        has_key = callers.api_key(raw) is not None
        if callers.is_machine(operation, raw) and (AuthScheme.API_KEY not in schemes or not has_key):
            return machine_tokens.tenant_of(self.services, raw.header_token(), cost, operation.admission.scope)
        if admission.is_query_client(operation, raw) and not has_key:
            return query_clients.tenant_of(self.services, raw, cost)
        if AuthScheme.API_KEY not in schemes and not has_key:
            return callers.tenant_of_secret(self.services, raw, cost)
        return callers.tenant_of_key(self.services, operation, raw, cost)

    def _check_key(self, operation: AnyOperation, raw: RawRequest, expected: str) -> None:
        """Require the API key on a tenant's host if the operation declares it; a key that is sent must be correct."""
        key = callers.api_key(raw)
        if key is None and AuthScheme.API_KEY in operation.admission.auth.schemes():
            raise e.BadParameter.names("apikey")
        if key is not None and key.lower() != expected.lower():
            raise e.UnknownKey

    def _admit_program(self, context: Context, operation: AnyOperation) -> None:
        if context.schemes.isdisjoint(_OF_PROGRAMS) and not operation.admission.optional:
            return
        if callers.is_machine(operation, context.raw):
            admission.admit_machine(context, operation)
        elif admission.is_query_client(operation, context.raw):
            admission.admit_query_client(context, operation)
        elif AuthScheme.API_SECRET in context.schemes:
            admission.admit_secret(context)
        elif operation.admission.optional and callers.has_secret(context.raw):
            admission.admit_secret(context)
            context.has_api_secret = True

    def admit_person(self, context: Context, operation: AnyOperation, raw: RawRequest, body: dict[str, Any]) -> None:
        """Authenticate clients and access tokens."""
        admission.admit_person(context, operation, raw, body)

    def headers(
        self, context: Context | None, operation: AnyOperation | None, raw: RawRequest
    ) -> Iterable[tuple[str, str]]:
        """Yield CORS headers besides."""
        if operation is not None:
            yield from cors.headers(self.services, operation, context, raw)
        yield from super().headers(context, operation, raw)
