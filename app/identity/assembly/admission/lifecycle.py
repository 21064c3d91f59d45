"""Admits a request to its operation, opens its context and closes it (decision 0369)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from app.contract.errors import MachineRefused
from app.identity.assembly.admission.operation_admission import OperationAdmission
from app.identity.directory.tenants.tenant_store import NO_TENANT
from app.identity.platform.context import Context
from app.identity.platform.outbound import signatures
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.database import StoreContended
from app.identity.protocols.oauth import refusal_log
from app.kit.operations.errors import ApiError, OAuthError
from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import RawRequest

_CALLS_ITSELF: Final = (
    "webhook-signature: a webhook or a workflow can’t call Gatehouse, because that could go on without end."
)


class IdentityLifecycle:
    """Admits every caller by the declaration of the operation."""

    def __init__(self, services: IdentityServices) -> None:
        self.services = services
        self._admissions: dict[AnyOperation, OperationAdmission] = {}

    def admission_of(self, operation: AnyOperation) -> OperationAdmission:
        """Return what admits the operation's requests, made at the first one."""
        admission = self._admissions.get(operation)
        if admission is None:
            admission = self._admissions[operation] = OperationAdmission(self.services, operation)
        return admission

    def open(self, operation: AnyOperation, raw: RawRequest) -> Context:
        """Authenticate API keys, API secrets, machine tokens and the hub, in the interface's order of checks."""
        if raw.headers.get(signatures.SIGNATURE_HEADER) and raw.headers.get("user-agent") == signatures.USER_AGENT:
            raise operation.error_profile.bad_parameter(_CALLS_ITSELF)
        admission = self.admission_of(operation)
        context = admission.open_context(raw)
        try:
            admission.admit_before_body(context)
        except Exception as refusal:
            self.close(context, refusal)
            raise
        return context

    def admit_caller(self, context: Context, operation: AnyOperation, raw: RawRequest, body: dict[str, Any]) -> None:
        """Authenticate clients and access tokens."""
        del raw
        self.admission_of(operation).admit_with_body(context, body)

    def cached_by(self, context: Context) -> object | None:
        """Return the tenant and its keys; None if the keys must be read again."""
        keys = self.services.signing_keys.cached(context.tenant.tenant_id)
        return (context.tenant, keys) if keys is not None else None

    def close(self, context: Context, refusal: Exception | None) -> None:
        """Commit the request with its records, or roll back and write them separately."""
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
        if context.has_records:
            with context.work.separate_transaction() as work:
                context.write_records(work)

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
            added.extend(self.admission_of(operation).cors_headers(context, raw))
        if context is None:
            return added
        if context.visit is not None and context.tenant is not NO_TENANT:
            added.append(("X-Gatehouse-Tenant-Version", context.tenant.version_tag))
        if self.services.settings.shows_cost:
            added.append(("X-Gatehouse-Cost", context.cost.header_value()))
        return added
