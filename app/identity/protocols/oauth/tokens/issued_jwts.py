"""Verify JWTs that this tenant issued, id_token_hints among them, under a key that the tenant publishes and with its algorithm."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import Key

from app.identity.directory.tenants.keys.signing_algorithms import ALGORITHMS
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.claims import subjects

_MAX_LENGTH = 8_000


class InvalidJwt(Exception):
    """The text is no JWT of this tenant."""


@dataclass(frozen=True)
class IdTokenHint:
    """The client and the account that an id_token was issued for."""

    client: Application
    uid: str
    session_id: str | None


def read(context: Context, text: str, *, kinds: tuple[str, ...] = ("JWT",)) -> dict[str, Any]:
    """Verify the signature and return the claims; `exp` and `nbf` are not checked.

    Args:
        kinds: the accepted `typ` values, so that one kind of token is not accepted as another (RFC 8725 section 3.11).

    Raises:
        InvalidJwt: the tenant did not issue it, or it is of another kind.
    """
    if len(text) > _MAX_LENGTH or text.count(".") != 2:
        raise InvalidJwt
    try:
        header = jws.extract_compact(text.encode()).headers()
        if _kind_of(header) not in kinds:
            raise InvalidJwt
        public = context.services.signing_keys.current(context.work).public
        key = next(key for key in public if key["kid"] == header.get("kid"))
        algorithm = key["alg"]  # the key decides, never the header (RFC 8725 section 3.1)
        if header.get("alg") != algorithm or algorithm not in ALGORITHMS:
            raise InvalidJwt
        imported = _import_key(algorithm, json.dumps(key, sort_keys=True))
        return dict(jwt.decode(text, imported, algorithms=[algorithm]).claims)
    except (JoseError, ValueError, StopIteration):
        raise InvalidJwt from None


def _kind_of(header: Mapping[str, Any]) -> str:
    """Return the `typ`, whose letter case and prefix `application/` mean nothing (RFC 7515 section 4.1.9, RFC 9068 section 4)."""
    kind = str(header.get("typ", "")).lower().removeprefix("application/")
    return "JWT" if kind == "jwt" else kind


def read_id_token_hint(context: Context, text: str) -> IdTokenHint | None:
    """Return the hint if signature, issuer and audience are right; `exp` is not checked (OpenID Connect Core section 3.1.2.1)."""
    try:
        claims = read(context, text)
    except InvalidJwt:
        return None
    audience, subject, sid = claims.get("aud"), claims.get("sub"), claims.get("sid")
    if isinstance(audience, list):  # it has other audiences too; `azp` is the client (Core section 2)
        audience = claims.get("azp") if claims.get("azp") in audience else None
    client = context.application(client_id=audience) if isinstance(audience, str) else None
    if client is None or not isinstance(subject, str) or not issuers.is_issuer_of(context, claims.get("iss"), client):
        return None
    uid = subjects.uid_of(context, client, subject)
    if uid is None:
        return None
    return IdTokenHint(client, uid, subjects.session_id_of(context, client, sid) if isinstance(sid, str) else None)


@lru_cache(maxsize=1024)
def _import_key(algorithm: str, public_jwk: str) -> Key:
    return ALGORITHMS[algorithm].import_key(json.loads(public_jwk))
