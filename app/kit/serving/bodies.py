"""Reading request bodies whole, within bounds of size, time and memory, before a thread is taken."""

import asyncio
from http import HTTPStatus

from uvicorn._types import ASGIReceiveCallable, HTTPScope

from app.kit.serving.limits import Limits
from app.kit.serving.refusals import Gone, Reason, Refusal


class Bodies:
    """Reads the request bodies of one process, and counts how many bytes are held."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held_bytes = 0
        self._arriving: set[asyncio.Timeout] = set()
        self._is_draining = False

    async def read(self, scope: HTTPScope, receive: ASGIReceiveCallable) -> bytes | None:
        """Return the body, or None if it exceeds its limit; pass a returned body to `release` afterwards.

        Raises:
            Refusal: it came too slowly, or too much is held already.
            Gone: the client left first.
        """
        length = next((int(value) for name, value in scope["headers"] if name == b"content-length"), 0)
        allowed_bytes = self._limits.body_bytes_for(scope["path"])
        if length > allowed_bytes:
            return None
        chunks: list[bytes] = []
        try:
            if length == 0 and not any(name == b"transfer-encoding" for name, _ in scope["headers"]):
                return await self._gather(receive, chunks, allowed_bytes)  # nothing to wait for: no clock needed
            return await self._in_time(receive, chunks, allowed_bytes)
        except BaseException:
            self.release(b"".join(chunks))
            raise

    def release(self, body: bytes | None) -> None:
        """Subtract a body that `read` added."""
        self._held_bytes -= len(body or b"")

    def drain(self) -> None:
        """Shorten the deadline of bodies that are arriving."""
        self._is_draining = True
        last = asyncio.get_running_loop().time() + self._limits.drain_arrival_seconds
        for clock in self._arriving:
            clock.reschedule(min(last, clock.when() or last))

    async def _in_time(self, receive: ASGIReceiveCallable, chunks: list[bytes], allowed_bytes: int) -> bytes | None:
        seconds = self._limits.drain_arrival_seconds if self._is_draining else self._limits.body_seconds
        clock = asyncio.timeout(seconds)
        try:
            async with clock:
                self._arriving.add(clock)
                return await self._gather(receive, chunks, allowed_bytes)
        except TimeoutError:
            is_ours = self._is_draining
            refusal = (
                Refusal(HTTPStatus.SERVICE_UNAVAILABLE, Reason.DRAINING)
                if is_ours
                else Refusal(HTTPStatus.REQUEST_TIMEOUT, Reason.SLOW_BODY)
            )
            raise refusal from None
        finally:
            self._arriving.discard(clock)

    async def _gather(self, receive: ASGIReceiveCallable, chunks: list[bytes], allowed_bytes: int) -> bytes | None:
        size_bytes = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise Gone
            chunk = message.get("body") or b""
            size_bytes += len(chunk)
            if size_bytes > allowed_bytes:
                self.release(b"".join(chunks))
                return None
            chunks.append(chunk)
            self._held_bytes += len(chunk)
            if self._held_bytes > self._limits.held_body_bytes:
                raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, Reason.BODIES)
            if not message.get("more_body"):
                return chunks[0] if len(chunks) == 1 else b"".join(chunks)
