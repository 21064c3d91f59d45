"""What one server process bears before it says no."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Limits:
    """Bounds of one process. Beyond each of them a client gets a short answer at once, never a wait without end."""

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
    """From the first byte (or the connect) to the end of the head, in all: drips do not extend it."""
    body_seconds: float = 60.0
    """From the end of the head to the end of the body, in all; then 408."""
    send_seconds: float = 30.0
    """A client must take 32 KiB of its answer in this time, or be cut off."""
    keep_alive_seconds: int = 15
    """How long a connection may rest between two requests. A proxy in front should rest its own for less."""
    connections: int = 1000
    """Open connections. Beyond it the longest waiting client makes room; if none waits, 503; beyond twice, closed."""
    waiting: int = 256
    """Whole requests in line for a thread, reads and others counted apart; beyond it, 503."""
    hash_wait_seconds: float = 5.0
    """How long a request may wait for a password hash; a longer wait is refused with 503, or with 429 if most
    requests ahead are its own tenant's."""
    retry_after_seconds: int = 2
    """What a 503 tells the client to wait."""
    lame_duck_seconds: float = 0.0
    """On SIGTERM, how long new requests are accepted while readiness answers 503, so that load balancers stop sending first."""
    drain_seconds: float = 25.0
    """Once the door is closed, how long requests that have arrived may take to finish; then they are answered 503."""
    drain_arrival_seconds: float = 3.0
    """Once the door is closed, how long requests that have begun to arrive may take to arrive."""

    def body_bytes_for(self, path: str) -> int:
        """The largest body the address `path` takes."""
        for prefix, allowed in self.body_bytes_under.items():
            if path.startswith(prefix):
                return allowed
        return self.body_bytes
