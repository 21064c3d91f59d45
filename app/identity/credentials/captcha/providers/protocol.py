"""What every captcha provider can do, and how one is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import BoundedSemaphore
from typing import Any, Protocol

import httpx
from pydantic_core import from_json

from app.kit.clock import monotonic

TIMEOUT_SECONDS = 4.0
_MAX_WAIT_SECONDS = 1.0  # for those who ask before
_MAX_BYTES = 64_000
_CONCURRENT_CALLS = BoundedSemaphore(8)  # a provider that hangs must not hold every thread of the server


class CaptchaUnavailable(Exception):
    """The provider does not answer, answers nonsense, or does not accept our key: nobody can tell whether the visitor's
    answer is right, so the request is refused with 503 rather than let through or blamed on the visitor."""

    unavailable_status = 503


@dataclass(frozen=True)
class ProviderRequest:
    """One answer of a visitor, and what it is weighed with."""

    answer: str
    site_key: str
    secret: str = field(repr=False)
    threshold: float
    address: str  # the visitor's
    randstr: str = ""  # Tencent's second half of the answer
    url: str = ""  # where the provider is, where the operator says so


class CaptchaProvider(Protocol):
    """Tells whether a person answered."""

    url: str

    def is_solved(self, asked: ProviderRequest) -> bool:
        """Return whether the provider believes the answer. Raises CaptchaUnavailable."""


def call(method: str, url: str, facts: dict[str, str]) -> dict[str, Any]:
    """Ask a provider and return its JSON object; raises CaptchaUnavailable for anything else, and after SECONDS."""
    if not _CONCURRENT_CALLS.acquire(timeout=_MAX_WAIT_SECONDS):
        raise CaptchaUnavailable("too many requests wait for the captcha provider")
    try:
        answer = _content(method, url, facts)
    except httpx.HTTPError as problem:  # its text may bear the address, and that the secret
        raise CaptchaUnavailable(f"the captcha provider did not answer: {type(problem).__name__}") from None
    finally:
        _CONCURRENT_CALLS.release()
    try:
        members = from_json(answer)
    except ValueError:
        members = None
    if not isinstance(members, dict):
        raise CaptchaUnavailable("the captcha provider answered no JSON object")
    return members


def _content(method: str, url: str, facts: dict[str, str]) -> bytes:
    given: dict[str, Any] = {"params": facts} if method == "GET" else {"data": facts}
    until, content = monotonic() + TIMEOUT_SECONDS, b""
    with httpx.stream(method, url, timeout=TIMEOUT_SECONDS / 2, follow_redirects=False, **given) as answer:
        if answer.status_code != httpx.codes.OK:
            raise CaptchaUnavailable(f"the captcha provider answered {answer.status_code}")
        for part in answer.iter_bytes():
            content += part
            if len(content) > _MAX_BYTES or monotonic() > until:
                raise CaptchaUnavailable("the captcha provider talks too long")
    return content
