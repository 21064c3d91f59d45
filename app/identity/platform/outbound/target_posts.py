"""Posts to systems that a tenant names: one request, bounded in time and size, without redirects, to judged addresses only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app.contract.federation.connection_checks import CallFailure
from app.kit.outbound.host_resolver import Resolver

CONNECT_SECONDS: Final = 5.0
TRIALS: Final = "trials"
CALLS: Final = "calls"
"""Requests that a person waits for: trials of a target, and calls during sign-ins."""


@dataclass(frozen=True)
class PostLimits:
    """The limits of a request.

    Attributes:
        seconds: for the name's look-up, the connection and the answer together.
        max_bytes: of the answer's body.
        truncates: whether the status alone counts: a body that is longer, packed or broken off is cut there, instead of refused.
        slots: TRIALS or CALLS, whose number at once is limited, so that servers that hang hold few threads.
        owner: the tenant whose call it is; each has a few slots.
    """

    seconds: float
    max_bytes: int
    truncates: bool = False
    slots: str = ""
    owner: str = ""


@dataclass(frozen=True)
class TargetAnswer:
    """The answer of a target; names of headers in lower case."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def header(self, name: str) -> str:
        """Return the first value of a header, or an empty string."""
        return next((value for known, value in self.headers if known == name), "")


class TargetUnavailable(Exception):
    """The target did not answer; the text says why, without the URL. It was not asked, if no slot was free."""

    def __init__(self, text: str, *, was_asked: bool = True) -> None:
        super().__init__(text)
        self.was_asked = was_asked


def post(resolver: Resolver, url: str, headers: Mapping[str, str], body: bytes, limits: PostLimits) -> TargetAnswer:
    """Post a body and return the answer of any status. Raises TargetUnavailable."""
    import httpx

    from app.identity.platform.outbound import bounded_transport
    from app.identity.platform.outbound.bounded_transport import OWNER, BoundedTransport, Bounds, answer_of
    from app.identity.platform.outbound.unusable_answers import host_of  # noqa: PLC0415 - with the first call

    by_name = {TRIALS: bounded_transport.TRIAL_SLOTS, CALLS: bounded_transport.CALL_SLOTS}
    connect_seconds = min(CONNECT_SECONDS, limits.seconds)
    slots = by_name.get(limits.slots)
    bounds = Bounds(limits.seconds, connect_seconds, limits.max_bytes, limits.truncates, slots)
    try:
        with httpx.Client(transport=BoundedTransport(resolver, bounds=bounds)) as client:
            extensions = {OWNER: limits.owner}
            response = client.post(
                url, headers=dict(headers), content=body, follow_redirects=False, extensions=extensions
            )
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as problem:
        answer = answer_of(problem)
        text = f"{host_of(url)}: {answer.received}"
        raise TargetUnavailable(text, was_asked=answer.failure is not CallFailure.BUSY) from None
    return TargetAnswer(
        response.status_code,
        tuple((name.lower(), value) for name, value in response.headers.multi_items()),
        response.content,
    )
