"""Opens the context of each call of the hub and closes it. Loaded before the first page (decisions/0311)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.contract.auth import AuthScheme
from app.contract.errors import MachineRefused
from app.contract.visit import Visit
from app.identity.entry import callers
from app.identity.platform.audit import AuditLog
from app.identity.platform.context import Context
from app.identity.platform.outbox.queue import Outbox
from app.identity.platform.services import Services
from app.identity.platform.store.database import StoreContended
from app.identity.platform.store.unit import Cost, UnitOfWork
from app.identity.platform.tenant import Tenant
from app.identity.protocols.oauth import refusals
from app.kit.errors import ApiError, OAuthError
from app.kit.logs import bind
from app.kit.operation import AnyOperation
from app.kit.reading import RawRequest


class HubLifecycle:
    """Admits the hub alone; `IdentityLifecycle` admits every caller."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def open(self, operation: AnyOperation, raw: RawRequest) -> Context:
        """Authenticate the hub. Raises HubRefused, UnknownTenant, and PermissionError for operations of others."""
        if AuthScheme.HUB not in operation.admission.auth.schemes():
            raise PermissionError(f"{operation.name} is no operation of the hub")
        cost = Cost()
        visit = callers.visit_of(self.services, raw)
        self._adopt_request_id(raw, visit.reference)
        return self.context(operation, raw, callers.tenant_at(self.services, visit.host, cost), cost, visit)

    def context(
        self, operation: AnyOperation, raw: RawRequest, tenant: Tenant, cost: Cost, visit: Visit | None = None
    ) -> Context:
        """Return the context of a request, with a unit of work of the tenant."""
        work = UnitOfWork(self.services.database, tenant.tenant_id, cost)
        audit = AuditLog(self.services.clock, visit.address if visit else raw.address, raw.request_id)
        outbox = Outbox(work, self.services.clock, self.services.encryption)
        schemes = operation.admission.auth.schemes()
        return Context(self.services, tenant, work, audit, outbox, raw, schemes, visit, cost=cost, operation=operation)

    @staticmethod
    def _adopt_request_id(raw: RawRequest, request_id: str) -> None:
        """Use the id of the browser's request, which the hub sent."""
        if request_id:
            raw.request_id = request_id
            bind(request_id=request_id)

    def admit_person(self, context: Context, operation: AnyOperation, raw: RawRequest, body: dict[str, Any]) -> None:
        """Do nothing: the hub vouches for its calls."""

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
        """Yield the tenant's version for the hub, and the cost if configured."""
        del operation, raw
        if context is not None and context.visit is not None:
            yield "X-Gatehouse-Tenant-Version", context.tenant.version_tag
        if context is not None and self.services.settings.shows_cost:
            yield "X-Gatehouse-Cost", context.cost.header_value()
