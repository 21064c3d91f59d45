"""The server of the catalogue: authentication and unit of work of each request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.contract import errors as e
from app.contract.auth import AuthScheme, Host
from app.contract.operations import CATALOGUE, RESERVED_PATHS
from app.identity.entry import (
    areas,  # noqa: F401 - registers the handlers
    callers,
)
from app.identity.platform.audit import AuditLog
from app.identity.platform.context import Context
from app.identity.platform.outbox.queue import Outbox
from app.identity.platform.services import Services
from app.identity.platform.store.database import StoreContended
from app.identity.platform.store.unit import Cost, UnitOfWork
from app.identity.protocols.oauth import cors, machine_tokens
from app.kit.errors import ApiError
from app.kit.logs import bind
from app.kit.operation import AnyOperation
from app.kit.reading import RawRequest
from app.kit.server import Server


class IdentityLifecycle:
    """Opens and closes the context of each request."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def open(self, operation: AnyOperation, raw: RawRequest) -> Context:
        """Admit K, S, M and H, in the interface's order of checks."""
        schemes = operation.admission.auth.schemes()
        cost = Cost()
        visit = None
        if AuthScheme.HUB in schemes:
            visit = callers.visit_of(self.services, raw)
            self._go_on_as(raw, visit.reference)
            tenant = callers.tenant_at(self.services, visit.host, cost)
        elif operation.host is Host.TENANT:
            tenant = callers.tenant_at(self.services, raw.host, cost)
            self._check_key(operation, raw, tenant.api_key)
        elif callers.is_machine(operation, raw) and (AuthScheme.API_KEY not in schemes or callers.api_key(raw) is None):
            tenant = machine_tokens.tenant_of(self.services, raw.bearer(), cost)
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
    def _go_on_as(raw: RawRequest, request_id: str) -> None:
        """Go on under the id of the browser's request, in whichever process the hub runs."""
        if request_id:
            raw.request_id = request_id
            bind(request_id=request_id)

    def _check_key(self, operation: AnyOperation, raw: RawRequest, expected: str) -> None:
        """On a tenant's host the key is demanded where stated; one that is sent must be right."""
        shown = callers.api_key(raw)
        if shown is None and AuthScheme.API_KEY in operation.admission.auth.schemes():
            raise e.BadParameter.names("apikey")
        if shown is not None and shown.lower() != expected.lower():
            raise e.UnknownKey

    def _admit_program(self, context: Context, operation: AnyOperation) -> None:
        if callers.is_machine(operation, context.raw):
            callers.admit_machine(context, operation)
        elif AuthScheme.API_SECRET in context.schemes:
            callers.admit_secret(context)
        elif operation.admission.optional and callers.shows_secret(context.raw):
            callers.admit_secret(context)
            context.shows_secret = True

    def admit_person(self, context: Context, operation: AnyOperation, raw: RawRequest, body: dict[str, Any]) -> None:
        """Admit U and C."""
        callers.admit_person(context, operation, raw, body)

    def close(self, context: Context, refusal: Exception | None) -> None:
        """Commit with the audit entries, or roll back and write them on their own."""
        try:
            if refusal is None or (isinstance(refusal, ApiError) and refusal.commit_on_raise):
                context.audit.write(context.work)
                context.work.commit()
                return
            context.work.rollback()
            if not context.audit.is_empty:
                with context.work.separate_transaction() as own:
                    context.audit.write(own)
        finally:
            context.work.rollback()

    def may_retry(self, context: Context, problem: Exception) -> bool:
        """Return whether the database gave the call up in favour of another; never once part of it is committed on its own."""
        if not isinstance(problem, StoreContended) or context.cost.commits:
            return False
        context.work.rollback()
        return True

    def headers(
        self, context: Context | None, operation: AnyOperation | None, raw: RawRequest
    ) -> Iterable[tuple[str, str]]:
        """Add CORS for registered origins, the tenant's version for the hub, and the cost when asked."""
        if operation is not None and operation.admission.cors and "origin" in raw.headers:
            yield from cors.headers(self.services, raw)
        if context is not None and context.visit is not None:
            yield "X-Gatehouse-Tenant-Version", str(context.tenant.version)
        if context is not None and self.services.settings.shows_cost:
            yield "X-Gatehouse-Cost", context.cost.told()


def make_server(services: Services) -> Server:
    """Return the server of the whole catalogue."""

    def host_of(raw: RawRequest) -> Host:
        return callers.host_of(services.settings, raw.host, is_inside=raw.is_inside)

    return Server(CATALOGUE, IdentityLifecycle(services), host_of, RESERVED_PATHS)
