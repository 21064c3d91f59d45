"""Reads JWTs that this tenant signed: RS256 and nothing else, under a key that the tenant publishes."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from app.identity.directory.tenants.signing_keys import ALGORITHM
from app.identity.platform.context import Context

_LONGEST = 8_000


class NotOurs(Exception):
    """The text is no JWT of this tenant."""


def read(context: Context, text: str, *, kinds: tuple[str, ...] = ("JWT",)) -> dict[str, Any]:
    """Return the claims of a JWT whose signature is right; its times are not looked at.

    Args:
        kinds: the `typ` that is expected, so that one kind of token is never taken for another (RFC 8725 section 3.11).

    Raises:
        NotOurs: anything else.
    """
    if len(text) > _LONGEST or text.count(".") != 2:
        raise NotOurs
    try:
        header = jws.extract_compact(text.encode()).headers()
        if header.get("alg") != ALGORITHM or header.get("typ") not in kinds:
            raise NotOurs
        key = next(
            key for key in context.services.signing_keys.current(context.work).public if key["kid"] == header.get("kid")
        )
        return dict(jwt.decode(text, _loaded(json.dumps(key, sort_keys=True)), algorithms=[ALGORITHM]).claims)
    except (JoseError, ValueError, StopIteration):
        raise NotOurs from None


@lru_cache(maxsize=1024)
def _loaded(public_jwk: str) -> RSAKey:
    return RSAKey.import_key(json.loads(public_jwk))
