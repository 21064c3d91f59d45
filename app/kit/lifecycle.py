"""What the owner of the operations supplies to their server: the lifecycle of a request, and what is loaded late."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from app.kit.operation import AnyOperation
from app.kit.reading import RawRequest
from app.kit.wire import Wire

ContextT = TypeVar("ContextT")


class RequestLifecycle(Protocol[ContextT]):
    """The lifecycle of a request, supplied by the owner of the operations: authentication, and the unit of work around a handler."""

    def open(self, operation: AnyOperation, raw: RawRequest) -> ContextT:
        """Authenticate the calling program and open the request's context. Raises the error profile's refusals."""

    def admit_person(self, context: ContextT, operation: AnyOperation, raw: RawRequest, body: dict[str, Any]) -> None:
        """Authenticate credentials that may be in the body too: an access token, a client's credentials."""

    def close(self, context: ContextT, refusal: Exception | None) -> None:
        """Commit, or roll back and write the audit entries that survive a refusal."""

    def may_retry(self, context: ContextT, problem: Exception) -> bool:
        """Return whether the whole request may be run again; it is rolled back then."""

    def headers(
        self, context: ContextT | None, operation: AnyOperation | None, raw: RawRequest
    ) -> Iterable[tuple[str, str]]:
        """Return headers to add to the response (CORS, cost, versions)."""


StraightAnswer = Callable[[RawRequest], "tuple[Any, Any] | None"]
"""Returns context and answer of a usual request, its unit of work closed; None, without having changed anything, for any other."""
StraightAdmission = Callable[[RawRequest], "tuple[Any, Wire] | None"]
"""Returns context and request of a usual request; None, without having changed anything, for any other."""


class Loaded(NamedTuple):
    """What `Server.load` loads besides the handlers.

    Attributes:
        lifecycle: that of all operations; None for the one that the server has.
        answers, admissions: the straight functions of operations that have one, by the operation's name: they answer its usual
            request, or admit and read it.
    """

    lifecycle: RequestLifecycle[Any] | None = None
    answers: Mapping[str, StraightAnswer] = {}
    admissions: Mapping[str, StraightAdmission] = {}


Load = Callable[[], Loaded]
"""Imports the modules that implement the operations."""
