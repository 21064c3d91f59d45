"""CSRF tokens, and the check of a form's origin."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from app.kit import randomness
from app.kit.web.urls import origin_of, sent_origin

_MASK_BYTES: Final = 16


_TO_PLAIN: Final = bytes.maketrans(b"-_", b"+/")
"""From base64url to base64."""


class FormTokens:
    """Makes and verifies CSRF tokens.

    A token is an HMAC over the tenant, the interaction and the browser's binding secret. It does not expire and does not
    change when the session is renewed, so a page may stay open. It is masked anew each time it is rendered, so that
    compression does not leak it (BREACH).

    Args:
        keys: the first signs, each of them verifies (rotation).
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        # cached after key setup, which takes OpenSSL longer than the message
        self._started = [hmac.new(key, digestmod="sha256") for key in keys]

    def make(self, *bound_to: str) -> str:
        """Return a freshly masked token."""
        mask, digest = randomness.random_bytes(_MASK_BYTES), _digest(self._started[0], bound_to)
        return base64.urlsafe_b64encode(mask + _xor(mask, digest)).rstrip(b"=").decode()

    def is_valid(self, token: str, *bound_to: str) -> bool:
        """Return whether a token was made for the same tenant, interaction and browser; never without a binding secret."""
        if not all(bound_to[-1:]) or len(token) > 64:
            return False
        try:
            raw = binascii.a2b_base64(token.encode("ascii").translate(_TO_PLAIN) + b"=" * (-len(token) % 4))
        except ValueError:  # UnicodeEncodeError and binascii.Error are both of this kind
            return False
        if len(raw) != 2 * _MASK_BYTES:
            return False
        digest = _xor(raw[:_MASK_BYTES], raw[_MASK_BYTES:])
        return any(hmac.compare_digest(digest, _digest(started, bound_to)) for started in self._started)


def _digest(started: hmac.HMAC, bound_to: Iterable[str]) -> bytes:
    digest = started.copy()
    digest.update("\0".join(bound_to).encode("utf-8", "surrogatepass"))
    return digest.digest()[:_MASK_BYTES]


def _xor(a: bytes, b: bytes) -> bytes:
    return (int.from_bytes(a) ^ int.from_bytes(b)).to_bytes(_MASK_BYTES)


_SAME_ORIGIN: Final = frozenset({"same-origin", "none"})


def is_cross_origin(site: str, origin: str, host: str, *, is_https: bool) -> bool:
    """Return whether the browser says that another origin sent the form; defence in depth beside the CSRF token.

    `Sec-Fetch-Site` (Fetch Metadata) decides if it is present, since no script can set it. Another tenant's host is
    `same-site`, which is refused too. Without it (plain HTTP, older browsers) `Origin` decides. `Origin: null` is
    accepted: the hub's pages send `Referrer-Policy: no-referrer`, and browsers then send `null` for the hub's own forms
    (Fetch, "append a request Origin header"). With neither header the CSRF token alone decides.

    Args:
        site: the header `Sec-Fetch-Site`; empty if absent.
        origin: the header `Origin`; empty if absent.
        host: the header `Host`.
        is_https: whether the hub is served over HTTPS; the same host over HTTP is then another origin.
    """
    if site:
        return site.lower() not in _SAME_ORIGIN
    if origin in ("", "null"):
        return False
    sender = sent_origin(origin)
    return not sender or sender not in _own_origins(host, is_https)


@lru_cache(maxsize=1024)
def _own_origins(host: str, is_https: bool) -> frozenset[str]:
    return frozenset(origin_of(f"{scheme}://{host}") for scheme in (("https",) if is_https else ("http", "https")))


def is_cross_origin_request(environ: Mapping[str, Any], host: str, *, is_https: bool) -> bool:
    """Return whether another origin sent this form. Browsers send such a form without the cookies that they hold (`SameSite=Lax`)."""
    site, origin = environ.get("HTTP_SEC_FETCH_SITE", ""), environ.get("HTTP_ORIGIN", "")
    return environ.get("REQUEST_METHOD") == "POST" and is_cross_origin(site, origin, host, is_https=is_https)
