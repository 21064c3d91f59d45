"""Admits the requests of one operation by the credentials that it declares (decision 0369).

The modules that authenticate programs, clients and persons are imported when the first request needs them: a first page needs none.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from app.contract.auth import AuthScheme, Host
from app.identity.assembly.admission import tenant_resolution
from app.identity.directory.tenants.tenant_store import NO_TENANT
from app.identity.platform.context import Context
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import Cost
from app.kit.observability.logs import bind
from app.kit.operations.auth import Cors
from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import RawRequest

if TYPE_CHECKING:
    from app.identity.assembly.admission.program_credentials import Programs


class OperationAdmission:
    """The checks of one operation's requests, in their order; every credential that the declaration names is demanded."""

    def __init__(self, services: IdentityServices, operation: AnyOperation) -> None:
        self._services = services
        self._operation = operation
        self._schemes = operation.admission.auth.schemes()
        self._is_of_hub_alone = operation.admission.every_auth.schemes() == {AuthScheme.HUB}

    @cached_property
    def _programs(self) -> Programs:
        from app.identity.assembly.admission.program_credentials import Programs

        return Programs(self._operation)

    def open_context(self, raw: RawRequest) -> Context:
        """Return the context of a request, with the tenant that the hub, host, path, key, token or secret names; raises its refusal."""
        cost = Cost()
        if AuthScheme.HUB in self._schemes:
            return self._open_context_of_hub(raw, cost)
        if self._operation.host is Host.TENANT:
            tenant = tenant_resolution.tenant_of_host(self._services, self._operation, raw, cost)
            tenant_resolution.check_key(raw, tenant, is_needed=AuthScheme.API_KEY in self._schemes)
        else:
            tenant = self._programs.tenant_of(self._services, raw, cost)
        return Context(self._services, tenant, raw, self._operation, cost=cost)

    def _open_context_of_hub(self, raw: RawRequest, cost: Cost) -> Context:
        """Return the context of a call of the hub, which has the id of the browser's request. Raises HubRefused, UnknownTenant."""
        visit = tenant_resolution.visit_of(self._services, raw)
        if visit.reference:
            raw.request_id = visit.reference
            bind(request_id=visit.reference)
        is_for_all = self._operation.admission.spans_tenants
        tenant = NO_TENANT if is_for_all else tenant_resolution.tenant_at(self._services, visit.host, cost)
        return Context(self._services, tenant, raw, self._operation, visit, cost=cost)

    def admit_before_body(self, context: Context) -> None:
        """Authenticate the tenant's own servers and machines; raises the refusal."""
        if not self._is_of_hub_alone:
            self._programs.admit(context)

    def admit_with_body(self, context: Context, body: dict[str, Any]) -> None:
        """Authenticate those whose credentials may be in the body's members: client, person, visitor. Raises the refusal."""
        if AuthScheme.CLIENT in self._schemes:
            from app.identity.assembly.admission import caller_authentication

            caller_authentication.admit_client(context, body)
        if AuthScheme.ACCESS_TOKEN in self._schemes:
            from app.identity.assembly.admission import caller_authentication

            caller_authentication.admit_person(context, self._operation, body)
        if self._operation.admission.visitor is not None:
            from app.identity.assembly.admission import visitors

            visitors.admit_visitor(context, self._operation.admission.visitor, body)

    def cors_headers(self, context: Context | None, raw: RawRequest) -> Iterable[tuple[str, str]]:
        """Return the headers that let web pages read the response; none for an operation that no page may read."""
        if self._operation.admission.cors is Cors.NONE:
            return ()
        from app.identity.protocols.oauth.endpoints import cors

        return cors.headers(self._services, self._operation, context, raw)
