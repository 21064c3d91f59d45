"""One try of a delivery: what became of it, and what the log of deliveries shows of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

from app.identity.platform.outbound import target_posts
from app.identity.platform.outbound.target_posts import TRIALS, PostLimits, TargetAnswer, TargetUnavailable
from app.identity.platform.resource_storage.items import Item
from app.identity.webhooks import webhook_requests
from app.identity.webhooks.webhook_requests import WebhookRequest
from app.kit.outbound.host_resolver import Resolver

IN_BACKGROUND: Final = PostLimits(seconds=15, max_bytes=4_096, truncates=True)
WHILE_ONE_WAITS: Final = PostLimits(seconds=15, max_bytes=4_096, truncates=True, slots=TRIALS)
GONE: Final = 410
_MAX_HEADERS: Final = 40
_MAX_HEADER_LENGTH: Final = 500


@dataclass(frozen=True)
class Outcome:
    """What became of a try.

    Attributes:
        status_code: of the answer; None without one.
        problem: empty if the target took the delivery.
        record: what was sent and answered, without the tenant's secrets.
        retry_after: how long the target asks to be left alone.
    """

    status_code: int | None
    problem: str
    record: dict[str, Any]
    retry_after: timedelta | None = None

    @property
    def is_gone(self) -> bool:
        return self.status_code == GONE


def try_once(resolver: Resolver, webhook: Item, request: WebhookRequest, now: datetime, limits: PostLimits) -> Outcome:
    """Send a request. A status of 2xx means that the target took it, whatever follows; a redirect does not."""
    sent = webhook_requests.shown(request, webhook)
    try:
        answer = target_posts.post(resolver, request.url, request.headers, request.body, limits)
    except TargetUnavailable as problem:
        return Outcome(None, request.struck_out(str(problem)), {"request": sent})
    record = {"request": sent, "response": _shown(answer, request)}
    if answer.is_success:
        return Outcome(answer.status, "", record)
    from app.identity.platform.outbound.unusable_answers import status_in_words  # noqa: PLC0415 - with the first failure

    said = status_in_words(answer.status, answer.header("location"))
    problem_text = request.struck_out(f"{urlsplit(request.url).netloc} answered {said}")
    return Outcome(answer.status, problem_text, record, wait_asked_for(answer.header("retry-after"), now))


def wait_asked_for(text: str, now: datetime) -> timedelta | None:
    """Return the wait that a header Retry-After asks for (RFC 9110 section 10.2.3); None for none, or for anything else."""
    text = text.strip()
    if text.isascii() and text.isdigit() and len(text) <= 9:
        return timedelta(seconds=int(text)) or None
    try:
        until = parsedate_to_datetime(text)
        until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
        return max(until - now, timedelta()) or None
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _shown(answer: TargetAnswer, request: WebhookRequest) -> dict[str, Any]:
    def shown(text: str) -> str:
        return request.struck_out(text)[:_MAX_HEADER_LENGTH]

    headers = {shown(name): shown(value) for name, value in answer.headers[:_MAX_HEADERS]}
    body = answer.body.decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return {"status": answer.status, "headers": headers, "body": request.struck_out(body, is_cut=True)}
