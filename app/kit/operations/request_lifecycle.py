"""The interface between `OperationServer` and the application: authentication and unit of work of a request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import RawRequest

ContextT = TypeVar("ContextT")


class RequestLifecycle(Protocol[ContextT]):
    """The lifecycle of a request, supplied by the owner of the operations: authentication, and the unit of work around a handler."""

    def open(self, operation: AnyOperation, raw: RawRequest) -> ContextT:
        """Authenticate the calling program and open the request's context. Raises the error profile's refusals."""

    def admit_caller(self, context: ContextT, operation: AnyOperation, raw: RawRequest, body: dict[str, Any]) -> None:
        """Authenticate credentials that may be in the body too: an access token, a client's credentials."""

    def cached_by(self, context: ContextT) -> object | None:
        """Return the state that cached responses depend on besides the request; None if it is not in memory."""

    def close(self, context: ContextT, refusal: Exception | None) -> None:
        """Commit, or roll back and write the audit entries that survive a refusal."""

    def may_retry(self, context: ContextT, problem: Exception) -> bool:
        """Return whether the whole request may be run again; it is rolled back then."""

    def headers(
        self, context: ContextT | None, operation: AnyOperation | None, raw: RawRequest
    ) -> Iterable[tuple[str, str]]:
        """Return headers to add to the response (CORS, cost, versions)."""
