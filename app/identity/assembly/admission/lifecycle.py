"""Admits a request to its operation, opens its context and closes it (decision 0369)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from app.contract.auth import AuthScheme, Host
from app.contract.errors import MachineRefused
from app.identity.assembly.admission import request_checks, tenant_resolution
from app.identity.assembly.admission.request_checks import CallerCheck, ProgramCheck
from app.identity.directory.tenants.store import NO_TENANT
from app.identity.platform.context import Context
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.database import StoreContended
from app.identity.platform.store.unit_of_work import Cost
from app.identity.platform.tenant import Tenant
from app.identity.protocols.oauth import refusal_log
from app.kit.observability.logs import bind
from app.kit.operations.auth import Cors
from app.kit.operations.errors import ApiError, OAuthError
from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import RawRequest

TenantOf = Callable[[IdentityServices, RawRequest, Cost], Tenant]
CorsHeaders = Callable[[IdentityServices, AnyOperation, Context | None, RawRequest], Iterable[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class AdmissionChecks:
    """The checks that the requests of one operation pass, derived once from its declaration.

    Attributes:
        tenant_of: finds the tenant by host, path, key, token or secret; None: the hub names it.
        before_body, with_body: the checks of `request_checks.py` that concern the operation, in their order.
        cors: the headers for web pages; None: no page may read the responses.
    """

    tenant_of: TenantOf | None
    before_body: tuple[ProgramCheck, ...]
    with_body: tuple[CallerCheck, ...]
    cors: CorsHeaders | None


class IdentityLifecycle:
    """Admits every caller; imports the modules of a check at the first operation that needs it."""

    def __init__(self, services: IdentityServices) -> None:
        self.services = services
        self._checks: dict[AnyOperation, AdmissionChecks] = {}

    def open(self, operation: AnyOperation, raw: RawRequest) -> Context:
        """Authenticate API keys, API secrets, machine tokens and the hub, in the interface's order of checks."""
        checks = self._checks.get(operation) or self.checks_of(operation)
        cost = Cost()
        if checks.tenant_of is None:
            context = self._of_hub(operation, raw, cost)
        else:
            context = Context(self.services, checks.tenant_of(self.services, raw, cost), raw, operation, cost=cost)
        try:
            for check in checks.before_body:
                check(context)
        except Exception as refusal:
            self.close(context, refusal)
            raise
        return context

    def checks_of(self, operation: AnyOperation) -> AdmissionChecks:
        before = (check for rule in request_checks.BEFORE_BODY for check in rule(operation))
        within = (check for rule in request_checks.WITH_BODY for check in rule(operation))
        checks = AdmissionChecks(_tenant_of(operation), tuple(before), tuple(within), _cors(operation))
        self._checks[operation] = checks
        return checks

    def _of_hub(self, operation: AnyOperation, raw: RawRequest, cost: Cost) -> Context:
        """Return the context of a call of the hub, which has the id of the browser's request. Raises HubRefused, UnknownTenant."""
        visit = tenant_resolution.visit_of(self.services, raw)
        if visit.reference:
            raw.request_id = visit.reference
            bind(request_id=visit.reference)
        is_for_all = operation.admission.spans_tenants
        tenant = NO_TENANT if is_for_all else tenant_resolution.tenant_at(self.services, visit.host, cost)
        return Context(self.services, tenant, raw, operation, visit, cost=cost)

    def admit_caller(self, context: Context, operation: AnyOperation, raw: RawRequest, body: dict[str, Any]) -> None:
        """Authenticate clients and access tokens."""
        del raw
        for check in self._checks[operation].with_body:
            check(context, body)

    def cached_by(self, context: Context) -> object | None:
        """Return the tenant and its keys; None if the keys must be read again."""
        keys = self.services.signing_keys.cached(context.tenant.tenant_id)
        return (context.tenant, keys) if keys is not None else None

    def close(self, context: Context, refusal: Exception | None) -> None:
        """Commit the request with its audit entries, or roll back and write the entries separately."""
        if isinstance(refusal, OAuthError | MachineRefused):
            refusal_log.log(refusal.code, refusal.description)
        if refusal is None or (isinstance(refusal, ApiError) and refusal.commit_on_raise):
            try:
                renew = context.visitor.renew_session if context.visitor is not None and refusal is None else None
                headers = renew() if renew is not None else {}
                context.commit()
            except BaseException:
                context.work.rollback()
                raise
            context.raw.response_headers.update(headers)  # not before: a refused change leaves the session as it was
            return
        context.work.rollback()
        if not context.audit.is_empty:
            with context.work.separate_transaction() as work:
                context.audit.write(work)

    def may_retry(self, context: Context, problem: Exception) -> bool:
        """Return whether a deadlock rolled the request back and it may be retried: not after a separate commit."""
        if not isinstance(problem, StoreContended) or context.cost.commits:
            return False
        context.work.rollback()
        return True

    def headers(
        self, context: Context | None, operation: AnyOperation | None, raw: RawRequest
    ) -> Iterable[tuple[str, str]]:
        """Return CORS headers, the tenant's version for the hub, and the cost if configured."""
        added: list[tuple[str, str]] = []
        if operation is not None:
            checks = self._checks.get(operation) or self.checks_of(operation)
            if checks.cors is not None:
                added.extend(checks.cors(self.services, operation, context, raw))
        if context is None:
            return added
        if context.visit is not None and context.tenant is not NO_TENANT:
            added.append(("X-Gatehouse-Tenant-Version", context.tenant.version_tag))
        if self.services.settings.shows_cost:
            added.append(("X-Gatehouse-Cost", context.cost.header_value()))
        return added


def _tenant_of(operation: AnyOperation) -> TenantOf | None:
    """Return the function that finds the tenant of a request; None for an operation of the hub, which names it."""
    schemes = operation.admission.auth.schemes()
    if AuthScheme.HUB in schemes:
        return None
    if operation.host is Host.TENANT:
        needs_key = AuthScheme.API_KEY in schemes

        def of_host(services: IdentityServices, raw: RawRequest, cost: Cost) -> Tenant:
            tenant = tenant_resolution.tenant_of_host(services, operation, raw, cost)
            tenant_resolution.check_key(raw, tenant, is_needed=needs_key)
            return tenant

        return of_host
    from app.identity.assembly.admission.program_credentials import Programs  # noqa: PLC0415 - no page needs it

    return Programs(operation).tenant_of


def _cors(operation: AnyOperation) -> CorsHeaders | None:
    if operation.admission.cors is Cors.NONE:
        return None
    from app.identity.protocols.oauth.endpoints import cors  # noqa: PLC0415 - no page needs it

    return cors.headers
