"""Responses of the server itself, without the application: 400, 408, 414, 417, 431, 501, 503, 505."""

import logging
from collections.abc import Callable
from enum import StrEnum
from http import HTTPStatus

from app.kit.observability.instrumentation import REQUEST_ID_HEADER, new_request_id
from app.kit.observability.throttled_log import ThrottledLog
from app.kit.serving.http1.error_page import error_page
from app.kit.serving.http1.response_encoding import Head

logger = logging.getLogger("gatehouse.serving")

RefusalPage = Callable[[int, str], tuple[str, bytes]]
"""(status, the request's Accept header) -> (content type, body): lets the caller supply its own page."""

REASONS = {
    400: "The request is malformed, or names no host, or several.",
    408: "The request took too long to arrive.",
    413: "The request is too large.",
    431: "The head of the request is too large.",
    500: "Something isn’t working on our side. Try again in a moment.",
    503: "Too many requests are waiting. Try again in a moment.",
}


def default_page(status: int, accept: str) -> tuple[str, bytes]:
    """Return one English sentence: on a page for a browser, which asks for HTML by name, else as plain text."""
    reason = REASONS.get(status) or f"{HTTPStatus(status).phrase}."
    if "text/html" in accept.lower():
        return "text/html; charset=utf-8", error_page(status, reason).encode()
    return "text/plain; charset=utf-8", f"{reason}\n".encode()


class ServerRefusalReason(StrEnum):
    """Why the server refuses a request before the application answers it."""

    HOST = "host"
    MALFORMED = "malformed"
    UNSUPPORTED = "unsupported"
    SLOW_HEAD = "slow_head"
    SLOW_BODY = "slow_body"
    LARGE_HEAD = "large_head"
    CONNECTIONS = "connections"
    BODIES = "bodies"
    THREADS = "threads"
    HASHES = "hashes"
    DRAINING = "draining"
    BROKEN = "broken"


OnRefusal = Callable[[ServerRefusalReason, int], object]
"""(why, the status that is answered), for each."""


class ServerRefusal(Exception):
    """A request that the server answers itself, with `status`."""

    def __init__(self, status: int, reason: ServerRefusalReason, hint: str = "") -> None:
        super().__init__(status)
        self.status = status
        self.reason = reason
        self.hint = hint
        """Details for the operator, in the log."""


def malformed(hint: str = "") -> ServerRefusal:
    """Return the refusal of a message that has no reading, or several."""
    return ServerRefusal(HTTPStatus.BAD_REQUEST, ServerRefusalReason.MALFORMED, hint)


def ignore_refusal(_reason: ServerRefusalReason, _status: int) -> None:
    """Do nothing; the default of `on_refusal`."""
    return


class Refusals:
    """Makes refusals, each with `Connection: close`, because the unread rest of the request would precede the next one."""

    def __init__(
        self, page: RefusalPage = default_page, *, retry_after_seconds: int, on_refusal: OnRefusal = ignore_refusal
    ) -> None:
        self._page = page
        self._on_refusal = on_refusal
        self._log = ThrottledLog(logger)
        self._retry_after = str(retry_after_seconds)

    def note(self, reason: ServerRefusalReason, status: int, request_id: str | None = None, hint: str = "") -> None:
        """Count a refusal, and log one a second for each reason; without `request_id` the application gives the request its id."""
        self._on_refusal(reason, status)
        named = {name: text for name, text in (("request_id", request_id), ("hint", hint)) if text}
        self._log.write(f"{reason} {hint}".strip(), "serving.refused", reason=reason, status=status, **named)

    def answer(self, status: int, reason: ServerRefusalReason, *, accept: str = "", hint: str = "") -> bytes:
        """Return the response, with which the connection ends; `hint` goes into the log."""
        request_id = new_request_id()
        self.note(reason, status, request_id, hint)
        try:
            content_type, body = self._page(status, accept)
        except Exception:
            logger.exception("The page of a refusal broke")
            content_type, body = default_page(status, accept)
        fields = [("content-type", content_type), ("cache-control", "no-store"), (REQUEST_ID_HEADER, request_id)]
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            fields.append(("retry-after", self._retry_after))
        return Head(status, fields).encoded(closes=True, length=len(body)) + body
