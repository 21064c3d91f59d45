"""The protocol of captcha providers, and the HTTP call to one."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import BoundedSemaphore
from typing import Any, Protocol

from pydantic_core import from_json

from app.kit.clock import monotonic

TIMEOUT_SECONDS = 4.0
_MAX_WAIT_SECONDS = 1.0  # for a free slot
_MAX_BYTES = 64_000
_CONCURRENT_CALLS = BoundedSemaphore(8)  # a slow provider must not block every thread


class CaptchaUnavailable(Exception):
    """The provider does not answer, its response is malformed, or it rejects the key. Whether the visitor's response is right is
    unknown, so the request fails with 503."""

    unavailable_status = 503


@dataclass(frozen=True)
class ProviderRequest:
    """A visitor's response with the parameters to verify it."""

    answer: str
    site_key: str
    secret: str = field(repr=False)
    threshold: float
    address: str  # the visitor's
    randstr: str = ""  # the second part of Tencent's response
    url: str = ""  # overrides the provider's URL


class CaptchaProvider(Protocol):
    """Verifies captcha responses."""

    url: str

    def is_solved(self, request: ProviderRequest) -> bool:
        """Return whether the provider accepts the response. Raises CaptchaUnavailable."""


def call(method: str, url: str, facts: dict[str, str]) -> dict[str, Any]:
    """Call a provider and return its JSON object. Raises CaptchaUnavailable for anything else, and after TIMEOUT_SECONDS."""
    import httpx

    if not _CONCURRENT_CALLS.acquire(timeout=_MAX_WAIT_SECONDS):
        raise CaptchaUnavailable("too many requests wait for the captcha provider")
    try:
        content = _content(method, url, facts)
    except httpx.HTTPError as problem:  # its text may contain the URL with the secret
        raise CaptchaUnavailable(f"the captcha provider did not answer: {type(problem).__name__}") from None
    finally:
        _CONCURRENT_CALLS.release()
    try:
        members = from_json(content)
    except ValueError:
        members = None
    if not isinstance(members, dict):
        raise CaptchaUnavailable("the captcha provider answered no JSON object")
    return members


def _content(method: str, url: str, facts: dict[str, str]) -> bytes:
    import httpx

    from app.identity.platform.outbound.bounded_transport import tls_context

    arguments: dict[str, Any] = {"params": facts} if method == "GET" else {"data": facts}
    deadline, content = monotonic() + TIMEOUT_SECONDS, b""
    with httpx.stream(
        method, url, timeout=TIMEOUT_SECONDS / 2, verify=tls_context(), follow_redirects=False, **arguments
    ) as response:
        if response.status_code != httpx.codes.OK:
            raise CaptchaUnavailable(f"the captcha provider answered {response.status_code}")
        for part in response.iter_bytes():
            content += part
            if len(content) > _MAX_BYTES or monotonic() > deadline:
                raise CaptchaUnavailable("the captcha provider's response is too long")
    return content
