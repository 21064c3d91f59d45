"""Sign-outs that the issuer's server reports (OpenID Connect Back-Channel Logout 1.0).

The shop keeps its sessions in cookies, so it remembers which ones ended. An application with sessions in a database deletes them instead.
"""

from collections import OrderedDict
from typing import Any

from joserfc import jwt
from joserfc.errors import InvalidKeyIdError
from joserfc.jwk import KeySet

EVENT = "http://schemas.openid.net/event/backchannel-logout"
MOST_ENDED = 10_000


def read(client: Any, text: str) -> dict[str, Any]:
    """Return the claims of a logout token. Raises JoseError or ValueError if it is not the issuer's, not for us, or too old."""
    issuer = client.load_server_metadata()["issuer"]
    try:
        token = _decoded(client, text)
    except InvalidKeyIdError:  # the issuer has a new key
        token = _decoded(client, text, force=True)
    expected = {
        "iss": {"essential": True, "value": issuer},
        "aud": {"essential": True, "value": client.client_id},
        "iat": {"essential": True},
        "exp": {"essential": True},
    }
    jwt.JWTClaimsRegistry(leeway=60, **expected).validate(token.claims)
    claims: dict[str, Any] = token.claims
    if token.header.get("typ") != "logout+jwt" or EVENT not in claims.get("events", {}) or "nonce" in claims:
        raise ValueError("not a logout token")
    if not claims.get("sid") and not claims.get("sub"):
        raise ValueError("no account is signed out")
    return claims


def _decoded(client: Any, text: str, *, force: bool = False) -> jwt.Token:
    return jwt.decode(text, KeySet.import_key_set(client.fetch_jwk_set(force=force)), algorithms=["RS256"])


class EndedSessions:
    """The issuer's sessions that ended, the most recent ones. A token without `sid` ends all sessions of `sub`."""

    def __init__(self) -> None:
        self._ended: OrderedDict[tuple[str, str, str], int] = OrderedDict()

    def add(self, issuer: str, claims: dict[str, Any]) -> None:
        name = "sid" if claims.get("sid") else "sub"
        self._ended[issuer, name, claims[name]] = claims["iat"]
        while len(self._ended) > MOST_ENDED:
            self._ended.popitem(last=False)

    def has(self, issuer: str, id_token: dict[str, Any]) -> bool:
        """Return whether the session of an id_token ended after it was issued."""
        keys = [(issuer, name, id_token.get(name, "")) for name in ("sid", "sub")]
        return any(self._ended.get(key, 0) >= id_token["iat"] for key in keys)
