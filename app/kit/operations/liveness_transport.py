"""An HTTP transport for a service that may hang: a slow call checks the service's liveness probe.

A call waits for a slow response until the client's timeout. If the service does not answer its liveness probe, which has a
thread of its own, the call fails at once, and later calls fail immediately until the probe answers again.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillWaiting
from contextvars import copy_context
from typing import TYPE_CHECKING, Final

from app.kit.limits.time_budget import CircuitBreaker, CircuitOpen
from app.kit.observability.health import LIVE
from app.kit.operations.client import Reply, ServiceUnavailable, Transport, http_transport

if TYPE_CHECKING:
    import httpx  # noqa: TID251 - for its types alone

QUIET_SECONDS: Final = 2.2
"""How long a call may go without a response before the liveness probe is called. Pages are due within 3 s."""
PROBE_SECONDS: Final = 0.5
_MAX_CALLS: Final = 128


class ProbedHttp:
    """A transport (`client.Transport`). The client has a base URL, and a timeout for the slowest call."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self._send: Transport = http_transport(http)
        self._circuit = CircuitBreaker(self._probe)
        self._calls = ThreadPoolExecutor(_MAX_CALLS, thread_name_prefix="call")

    def __call__(self, method: str, address: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Return the response; raises ServiceUnavailable, at once while the service hangs."""
        try:
            self._circuit.admit()
        except CircuitOpen:
            raise ServiceUnavailable from None
        # In a separate thread, because a blocked call cannot be abandoned otherwise.
        call = self._calls.submit(copy_context().run, self._send, method, address, body, headers)
        try:
            return call.result(QUIET_SECONDS)
        except StillWaiting:
            self._refuse_dead()
            return call.result()

    def _refuse_dead(self) -> None:
        from httpx import HTTPError  # noqa: TID251 - a transport of kit/operations/client

        try:
            self._probe()
        except HTTPError as problem:
            self._circuit.record_timeout()
            raise ServiceUnavailable from problem

    def _probe(self) -> None:
        self._http.get(LIVE, timeout=PROBE_SECONDS)
