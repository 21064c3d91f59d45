"""Limits of one server process."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ServerLimits:
    """Bounds of one process. A client that exceeds one gets a short response at once."""

    body_bytes: int = 1024 * 1024
    """Largest request body; a larger one is refused with 413, before it is read when it says its length."""
    body_bytes_under: Mapping[str, int] = field(default_factory=dict)
    """Larger bounds for the few addresses that take files: path prefix -> bytes."""
    held_body_bytes: int = 64 * 1024 * 1024
    """Bodies held in memory at once over all requests; beyond it, 503."""
    head_bytes: int = 32 * 1024
    """Request line and header fields together; beyond it, 431. Browsers send 8 KiB at most in practice."""
    head_fields: int = 100
    """Header fields of one request; beyond it, 431."""
    head_seconds: float = 20.0
    """From the first byte (or the connect) to the end of the head, in all."""
    body_seconds: float = 60.0
    """From the end of the head to the end of the body, in all; then 408."""
    send_seconds: float = 30.0
    """A client must read 32 KiB of its response in this time, or the connection is closed."""
    keep_alive_seconds: int = 15
    """How long a connection may be idle between two requests. Configure a shorter time at a proxy in front."""
    connections: int = 1000
    """Open connections. Beyond it the connection that has waited longest is closed; if none waits, 503; beyond twice, closed."""
    waiting: int = 256
    """Complete requests that wait for a thread, reads and writes counted apart; beyond it, 503."""
    hash_wait_seconds: float = 5.0
    """How long a request may wait for a hash; a longer wait is refused with 503, or with 429 if its
    owner has most of the requests ahead."""
    retry_after_seconds: int = 2
    """`Retry-After` of a 503."""
    lame_duck_seconds: float = 0.0
    """On SIGTERM, how long new requests are accepted while readiness answers 503, so that load balancers stop sending first."""
    drain_seconds: float = 25.0
    """Once the listeners are closed, how long requests that have arrived may take to finish; then they are answered 503."""
    drain_arrival_seconds: float = 3.0
    """Once the listeners are closed, how long partial requests may take to arrive."""

    def body_bytes_for(self, path: str) -> int:
        """Return the largest body that `path` accepts."""
        for prefix, allowed in self.body_bytes_under.items():
            if path.startswith(prefix):
                return allowed
        return self.body_bytes
