"""Admits callers to operations, and commits or rolls back their units of work."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from app.contract import errors as e
from app.contract import hub
from app.contract.auth import AuthScheme, Host
from app.contract.errors import MachineRefused
from app.contract.operations import CATALOGUE
from app.contract.resources import import_contract
from app.identity.entry import callers
from app.identity.hosted import tenant_view  # noqa: F401 - registers the handler of the early operation
from app.identity.platform.audit import AuditLog
from app.identity.platform.context import Context
from app.identity.platform.outbox.queue import Outbox
from app.identity.platform.services import Services
from app.identity.platform.store.database import StoreContended
from app.identity.platform.store.unit import Cost, UnitOfWork
from app.identity.protocols.oauth import cors, machine_tokens, query_clients, refusals
from app.kit.errors import ApiError, OAuthError
from app.kit.logs import bind
from app.kit.operation import AnyOperation
from app.kit.reading import RawRequest
from app.kit.server import Server, Straight

EARLY: Final = frozenset({hub.tenant.name})
"""The operation that any first page asks. Its handler reads the tenant and calls no hook of another area."""
_OF_PROGRAMS: Final = frozenset({AuthScheme.MACHINE_TOKEN, AuthScheme.QUERY_CLIENT_SECRET, AuthScheme.API_SECRET})


class IdentityLifecycle:
    """Opens the context of each request and closes it."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def open(self, operation: AnyOperation, raw: RawRequest) -> Context:
        """Authenticate API keys, API secrets, machine tokens and the hub, in the interface's order of checks."""
        schemes = operation.admission.auth.schemes()
        cost = Cost()
        visit = None
        if AuthScheme.HUB in schemes:
            visit = callers.visit_of(self.services, raw)
            self._adopt_request_id(raw, visit.reference)
            tenant = callers.tenant_at(self.services, visit.host, cost)
        elif operation.host is Host.TENANT:
            tenant = callers.tenant_of_host(self.services, operation, raw, cost)
            self._check_key(operation, raw, tenant.api_key)
        elif callers.SITE in raw.parameters:
            tenant = callers.tenant_of_site(self.services, raw, cost)
            self._check_key(operation, raw, tenant.api_key)
        elif callers.is_machine(operation, raw) and (AuthScheme.API_KEY not in schemes or callers.api_key(raw) is None):
            tenant = machine_tokens.tenant_of(self.services, raw.header_token(), cost, operation.admission.scope)
        elif callers.is_query_client(operation, raw) and callers.api_key(raw) is None:
            tenant = query_clients.tenant_of(self.services, raw, cost)
        elif AuthScheme.API_KEY not in schemes and callers.api_key(raw) is None:
            tenant = callers.tenant_of_secret(self.services, raw, cost)
        else:
            tenant = callers.tenant_of_key(self.services, operation, raw, cost)
        work = UnitOfWork(self.services.database, tenant.tenant_id, cost)
        audit = AuditLog(self.services.clock, visit.address if visit else raw.address, raw.request_id)
        outbox = Outbox(work, self.services.clock, self.services.encryption)
        context = Context(
            self.services, tenant, work, audit, outbox, raw, schemes, visit, cost=cost, operation=operation
        )
        try:
            self._admit_program(context, operation)
        except Exception as refusal:
            self.close(context, refusal)
            raise
        return context

    @staticmethod
    def _adopt_request_id(raw: RawRequest, request_id: str) -> None:
        """Use the id of the browser's request, which the hub sent."""
        if request_id:
            raw.request_id = request_id
            bind(request_id=request_id)

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
            callers.admit_machine(context, operation)
        elif callers.is_query_client(operation, context.raw):
            callers.admit_query_client(context, operation)
        elif AuthScheme.API_SECRET in context.schemes:
            callers.admit_secret(context)
        elif operation.admission.optional and callers.has_secret(context.raw):
            callers.admit_secret(context)
            context.has_api_secret = True

    def admit_person(self, context: Context, operation: AnyOperation, raw: RawRequest, body: dict[str, Any]) -> None:
        """Authenticate clients and access tokens."""
        callers.admit_person(context, operation, raw, body)

    def close(self, context: Context, refusal: Exception | None) -> None:
        """Commit the request with its audit entries, or roll back and write the entries separately."""
        if isinstance(refusal, OAuthError | MachineRefused):
            refusals.log(refusal.code, refusal.description)
        try:
            if refusal is None or (isinstance(refusal, ApiError) and refusal.commit_on_raise):
                context.audit.write(context.work)
                context.work.commit()
                return
            context.work.rollback()
            if not context.audit.is_empty:
                with context.work.separate_transaction() as work:
                    context.audit.write(work)
        finally:
            context.work.rollback()

    def may_retry(self, context: Context, problem: Exception) -> bool:
        """Return whether a deadlock rolled the request back and it may be retried: not after a separate commit."""
        if not isinstance(problem, StoreContended) or context.cost.commits:
            return False
        context.work.rollback()
        return True

    def headers(
        self, context: Context | None, operation: AnyOperation | None, raw: RawRequest
    ) -> Iterable[tuple[str, str]]:
        """Yield CORS headers for registered origins, the tenant's version for the hub, and the cost if configured."""
        if operation is not None and operation.admission.cors and "origin" in raw.headers:
            yield from cors.headers(self.services, raw)
        if context is not None and context.visit is not None:
            yield "X-Gatehouse-Tenant-Version", context.tenant.version_tag
        if context is not None and self.services.settings.shows_cost:
            yield "X-Gatehouse-Cost", context.cost.header_value()


def make_server(services: Services) -> Server:
    """Return the server of the whole catalogue; it loads the handlers when the first operation is called, unless that is early."""
    import_contract()

    def load_handlers() -> Straight:
        from app.identity.entry import areas, straight  # noqa: F401, PLC0415 - decisions/0304; `areas` registers the handlers

        return Straight(straight.answers(services), straight.admissions(services))

    def host_of(raw: RawRequest) -> Host:
        return callers.host_of(services.settings, raw.host, is_inside=raw.is_inside)

    return Server(CATALOGUE, IdentityLifecycle(services), host_of, load_handlers, EARLY)
