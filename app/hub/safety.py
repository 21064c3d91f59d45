"""What stands between a page and an attacker: tokens of forms, the content security policy, headers."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

from flask import Response

from app.kit import randomness
from app.kit.web_addresses import is_source

_MASK_BYTES: Final = 16


class FormTokens:
    """Makes and checks the token that proves a form was drawn by us for this browser.

    A token is an HMAC over the tenant, the attempt and the browser's binding secret. It has no clock and does not
    change when the session is renewed, so a page may stay open for as long as somebody needs. It is masked anew each
    time it is drawn, so that compression betrays nothing of it (BREACH).

    Args:
        keys: the first signs tokens, any of them verifies (rotation).
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = keys

    def make(self, *bound_to: str) -> str:
        """Return a freshly masked token."""
        mask = randomness.random_bytes(_MASK_BYTES)
        masked = bytes(a ^ b for a, b in zip(mask, self._proofs(bound_to)[0], strict=True))
        return base64.urlsafe_b64encode(mask + masked).rstrip(b"=").decode()

    def is_good(self, token: str, *bound_to: str) -> bool:
        """Whether a token was made for the same tenant, attempt and browser. Without a binding secret nothing is."""
        if not all(bound_to[-1:]) or len(token) > 64:
            return False
        try:
            raw = base64.urlsafe_b64decode(token.encode("ascii") + b"=" * (-len(token) % 4))
        except ValueError:  # UnicodeEncodeError and binascii.Error are both of this kind
            return False
        if len(raw) != 2 * _MASK_BYTES:
            return False
        proof = bytes(a ^ b for a, b in zip(raw[:_MASK_BYTES], raw[_MASK_BYTES:], strict=True))
        return any(hmac.compare_digest(proof, one) for one in self._proofs(bound_to))

    def _proofs(self, bound_to: Iterable[str]) -> list[bytes]:
        message = "\0".join(bound_to).encode("utf-8", "surrogatepass")
        return [hmac.new(key, message, hashlib.sha256).digest()[:_MASK_BYTES] for key in self._keys]


_OURSELVES: Final = frozenset({"same-origin", "none"})
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def is_cross_origin(site: str, origin: str, host: str, *, is_https: bool) -> bool:
    """Whether the browser says that a form was sent by a page of another origin; a second lock beside the form token.

    `Sec-Fetch-Site` (Fetch Metadata) decides where it is there, as no script can write it. Another tenant's host is
    `same-site` and as foreign as any. Without it, over plain HTTP or in an older browser, `Origin` decides. `null` is
    then no sign of a stranger: our own pages say `Referrer-Policy: no-referrer`, for which browsers write `Origin: null`
    on our own forms too (Fetch, "append a request Origin header"). Who sends neither is left to the token.

    Args:
        site: the header field `Sec-Fetch-Site`, empty where there is none.
        origin: `Origin`, likewise.
        host: `Host`.
        is_https: the hub is served over HTTPS, so a page of the same host over HTTP is not ours.
    """
    if site:
        return site.lower() not in _OURSELVES
    return origin not in ("", "null") and not _is_at(origin, host, is_https=is_https)


def _is_at(origin: str, host: str, *, is_https: bool) -> bool:
    try:
        sent, ours = urlsplit(origin), urlsplit(f"//{host}")
        default = _DEFAULT_PORTS.get(sent.scheme)
        where, here = (sent.hostname, sent.port or default), (ours.hostname, ours.port or default)
    except ValueError:
        return False
    return default is not None and where == here and (sent.scheme == "https" or not is_https)


def content_security_policy(
    nonce: str,
    *,
    form_targets: Iterable[str] = (),
    images: Iterable[str] = (),
    services: tuple[str, ...] = (),
    allows_fetch: bool = False,
) -> str:
    """Return the Content-Security-Policy of a page. What is not one plain source is left out: it could end a directive.

    Args:
        nonce: marks the page's own style and scripts.
        form_targets: sources beside ourselves where the redirects after a form may lead; browsers hold `form-action`
            against every redirect that follows a POST.
        images: origins of pictures that the tenant or the page names.
        calls_home: whether the page's own script asks us something while the page stands.
        services: sources of a service whose scripts run on this page (`captcha_widget`): they may call and frame it.
        calls_home: whether the page's own script asks us something.
    """
    sources = " ".join(["'self' data:", *filter(is_source, images)])
    targets = " ".join(dict.fromkeys(["'self'", *filter(is_source, form_targets)]))
    own = " ".join([f"'nonce-{nonce}'", *services])
    called = " ".join([*(["'self'"] if allows_fetch else []), *services])
    theirs = f"frame-src {' '.join(services)}; " if services else ""
    theirs += f"connect-src {called}; " if called else ""
    return (
        f"default-src 'none'; script-src {own}; style-src {own}; {theirs}img-src {sources}; "
        f"form-action {targets}; frame-ancestors 'none'; base-uri 'none'"
    )


_HEADERS: Final = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-Robots-Tag": "none",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()",
}


def add_security_headers(response: Response) -> Response:
    """Give an answer of the hub the headers that every one of them bears; what a view has set stays."""
    there = {name for name, _ in response.headers}
    response.headers.extend([(name, value) for name, value in _HEADERS.items() if name not in there])
    return response
