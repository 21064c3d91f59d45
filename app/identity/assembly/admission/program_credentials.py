"""The calling program of an operation: the tenant that its credentials name, and how they are verified.

The accepted credentials are derived once per operation; a request may carry any.
"""

from __future__ import annotations

from app.contract.auth import AuthScheme
from app.identity.assembly.admission import caller_authentication, tenant_resolution
from app.identity.platform.context import Context
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import Cost
from app.identity.platform.tenant import Tenant
from app.identity.protocols.oauth.client_authentication import query_clients
from app.identity.protocols.oauth.tokens import machine_tokens
from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import RawRequest


class Programs:
    """The programs that an operation takes, by their credentials."""

    def __init__(self, operation: AnyOperation) -> None:
        schemes = operation.admission.auth.schemes()
        self._operation = operation
        self._needs_key = AuthScheme.API_KEY in schemes
        self._needs_secret = AuthScheme.API_SECRET in schemes
        self._takes_secret = operation.admission.optional is not None
        self._takes_machines = AuthScheme.MACHINE_TOKEN in schemes
        self._are_machines = schemes == {AuthScheme.MACHINE_TOKEN}
        self._expects_machines = operation.admission.auth.alternatives[:1] == (frozenset({AuthScheme.MACHINE_TOKEN}),)
        self._takes_query_clients = AuthScheme.QUERY_CLIENT_SECRET in schemes

    def tenant_of(self, services: IdentityServices, raw: RawRequest, cost: Cost) -> Tenant:
        """Return the tenant that path, key, token or secret names; an API key that is sent too must be that tenant's."""
        if tenant_resolution.SITE in raw.parameters:
            tenant = tenant_resolution.tenant_of_site(services, raw, cost)
            tenant_resolution.check_key(raw, tenant, is_needed=self._needs_key)
            return tenant
        if tenant_resolution.api_key(raw) is None:
            if self._is_machine(raw):
                return machine_tokens.tenant_of(services, raw.header_token(), cost, self._operation.admission.scope)
            if self._is_query_client(raw):
                return query_clients.tenant_of(services, raw, cost)
            if not self._needs_key:
                return tenant_resolution.tenant_of_secret(services, raw, cost)
        elif not self._needs_key and self._is_machine(raw):
            return machine_tokens.tenant_of(services, raw.header_token(), cost, self._operation.admission.scope)
        return tenant_resolution.tenant_of_key(services, self._operation, raw, cost)

    def admit(self, context: Context) -> None:
        """Authenticate the program by its machine token, its client in the query, or the API secret."""
        raw = context.raw
        if self._is_machine(raw):
            caller_authentication.admit_machine(context, self._operation)
        elif self._is_query_client(raw):
            caller_authentication.admit_query_client(context, self._operation)
        elif self._needs_secret:
            caller_authentication.admit_secret(context)
        elif self._takes_secret and tenant_resolution.has_secret(raw):
            caller_authentication.admit_secret(context)
            context.has_api_secret = True

    def _is_machine(self, raw: RawRequest) -> bool:
        """Return whether the request authenticates by machine token: a token in the header and no API secret or signature.

        A request without any credential does, where the declaration names machine tokens first.
        """
        if not self._takes_machines or self._are_machines:
            return self._takes_machines
        if tenant_resolution.has_secret(raw):
            return False
        is_without = self._expects_machines and tenant_resolution.api_key(raw) is None
        return is_without or raw.header_token() is not None

    def _is_query_client(self, raw: RawRequest) -> bool:
        """Return whether the request authenticates by a client's id and secret in its query, in place of the API secret."""
        is_sent = self._takes_query_clients and query_clients.is_sent(raw)
        return is_sent and not tenant_resolution.has_secret(raw) and not self._is_machine(raw)
