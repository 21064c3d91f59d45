"""Responses of the server itself, without a thread: 400, 408, 431, 503."""

import asyncio
import logging
from collections.abc import Callable
from enum import StrEnum
from http import HTTPStatus

from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, HTTPScope

from app.kit.instrumentation import REQUEST_ID_HEADER, new_request_id
from app.kit.throttled_log import ThrottledLog

logger = logging.getLogger("gatehouse.serving")
_REQUEST_ID = REQUEST_ID_HEADER.lower()

RefusalPage = Callable[[int, str], tuple[str, bytes]]
"""(status, the request's Accept header) -> (content type, body): lets the caller supply its own page."""

REASONS = {
    400: "The request names no host, or several.",
    408: "The request took too long to arrive.",
    413: "The request is too large.",
    431: "The head of the request is too large.",
    500: "Something went wrong here.",
    503: "Too many requests are waiting. Please try again in a moment.",
}


def plain_page(status: int, accept: str) -> tuple[str, bytes]:
    """Return one English sentence; the default page."""
    del accept
    return "text/plain; charset=utf-8", (REASONS.get(status) or HTTPStatus(status).phrase).encode() + b"\n"


class Reason(StrEnum):
    """Why the server refuses a request before the application answers it."""

    HOST = "host"
    MALFORMED = "malformed"
    SLOW_HEAD = "slow_head"
    SLOW_BODY = "slow_body"
    LARGE_HEAD = "large_head"
    CONNECTIONS = "connections"
    BODIES = "bodies"
    THREADS = "threads"
    HASHES = "hashes"
    DRAINING = "draining"
    BROKEN = "broken"


OnRefusal = Callable[[Reason, int], object]
"""(why, the status that is answered), for each."""


class Refusal(Exception):
    """A request that the server answers itself, with `status`."""

    def __init__(self, status: int, reason: Reason) -> None:
        super().__init__(status)
        self.status = status
        self.reason = reason


class Gone(Exception):
    """The client disconnected before its request was complete."""


def ignore_refusal(_reason: Reason, _status: int) -> None:
    """Do nothing; the default of `on_refusal`."""
    return


class Refusals:
    """Sends refusals, each with `Connection: close`, because the unread rest of the request would precede the next one."""

    def __init__(
        self, page: RefusalPage = plain_page, *, retry_after_seconds: int, on_refusal: OnRefusal = ignore_refusal
    ) -> None:
        self._page = page
        self._on_refusal = on_refusal
        self._log = ThrottledLog(logger)
        self._retry_after = str(retry_after_seconds).encode()

    def note(self, reason: Reason, status: int, request_id: str | None = None, hint: str = "") -> None:
        """Count a refusal, and log one a second for each reason; without `request_id` the application gives the request its id."""
        self._on_refusal(reason, status)
        named = {name: text for name, text in (("request_id", request_id), ("hint", hint)) if text}
        self._log.write(f"{reason} {hint}".strip(), "serving.refused", reason=reason, status=status, **named)

    def raw(self, status: int, reason: Reason, hint: str = "") -> bytes:
        """Return the response as bytes, for a connection without a valid request; `hint` goes into the log."""
        request_id = new_request_id()
        self.note(reason, status, request_id, hint)
        content_type, body = self._page(status, "")
        head = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", "connection: close", "cache-control: no-store"]
        head += [f"content-type: {content_type}", f"content-length: {len(body)}", f"{_REQUEST_ID}: {request_id}"]
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            head.append(f"retry-after: {self._retry_after.decode()}")
        return "\r\n".join([*head, "", ""]).encode("latin-1") + body

    async def send(
        self, refusal: Refusal, scope: HTTPScope, unread: ASGIReceiveCallable | None, send: ASGISendCallable
    ) -> None:
        """Send a refusal, then read the `unread` rest of the request, so that the client can read the response."""
        status = refusal.status
        request_id = new_request_id()
        self.note(refusal.reason, status, request_id)
        accept = next((value for name, value in scope["headers"] if name == b"accept"), b"")
        content_type, body = self._page(status, accept.decode("latin-1"))
        headers = [(b"content-type", content_type.encode("latin-1")), (b"content-length", str(len(body)).encode())]
        headers += [(b"cache-control", b"no-store"), (b"connection", b"close")]
        headers.append((_REQUEST_ID.encode(), request_id.encode()))
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            headers.append((b"retry-after", self._retry_after))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send_last(body, unread, send)


async def send_last(body: bytes, unread: ASGIReceiveCallable | None, send: ASGISendCallable) -> None:
    """Send a whole body; the connection may close only after the rest of the request was taken."""
    if unread is not None:
        await send({"type": "http.response.body", "body": body, "more_body": True})
        await discard_rest(unread)
        body = b""
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def discard_rest(receive: ASGIReceiveCallable) -> None:
    """Read and drop the rest of a body, up to 16 MiB or 5 seconds.

    Closing at once, with bytes of the client unread, resets the connection, and the client may lose the answer
    that is already on its way.
    """
    left_bytes = 16 * 1024 * 1024
    try:
        async with asyncio.timeout(5):
            while left_bytes > 0:
                message = await receive()
                if message["type"] != "http.request" or not message.get("more_body"):
                    return
                left_bytes -= len(message.get("body") or b"")
    except TimeoutError:
        return
