"""What can be wrong with the token that a JWT provider gives a browser, and with its key set."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from joserfc.jwk import OctKey

from tests.support.fakes.https_receiver import HttpsReceiver
from tests.support.fakes.identity_provider import key, public
from tests.support.fakes.native_apps import jwt_sender
from tests.support.oauth.world import World
from tests.support.organizations.connected_organization import business_of
from tests.support.refused_answers.misdeeds import HTML, METADATA_SERVICE
from tests.support.visitors.visitor import VisitedPage, Visitor

CUSTOM_JWT = "custom-jwt"
ISSUER, AUDIENCE = "https://portal.example", "gatehouse"
DOMAIN = "example.test"
KEYS = json.dumps({"keys": public(1)}).encode()
_EXACT = {"MatchValue": True, "IsMandatory": True}


class JwtVisit:
    """A visitor with a token of a JWT provider that publishes its keys and whose claims are checked."""

    def __init__(self, world: World, app: Any, visitor: Visitor, portal: HttpsReceiver) -> None:
        self.world, self.visitor, self.portal = world, visitor, portal
        portal.answers(200, KEYS)
        self._token = jwt_sender(
            business_of(world, app).tenant, Algo="RS256", Key=None, JWKSUrl=portal.url("/keys"), Domain=DOMAIN,
            Issuer={**_EXACT, "ExpectedValue": ISSUER}, Audience={**_EXACT, "ExpectedValues": [AUDIENCE]},
        )  # fmt: skip

    def token(self, header: dict[str, Any] | None = None, signing: Any = None, **claims: Any) -> str:
        stored = {"iss": ISSUER, "aud": AUDIENCE, "email": "ada@example.test", "email_verified": True, **claims}
        return self._token({"kid": "key-1", **(header or {})}, signing or key(1), **stored)

    def brings(self, *tokens: str) -> VisitedPage:
        return self.visitor.open(f"/access/jwt?{urlencode([('jwttoken', token) for token in tokens])}")


@dataclass(frozen=True)
class JwtRefusal:
    """One thing that goes wrong; with `registers` the form of a new account follows, for which nothing is stored yet.

    Operators find the failed check by the page's reference, unless it is unknown whose token it would be.
    """

    case: str
    does: Callable[[JwtVisit], VisitedPage]
    registers: bool = False
    has_provider: bool = True


def claims(**changed: Any) -> Callable[[JwtVisit], VisitedPage]:
    """Return a token with other claims; None removes one."""
    return lambda visit: visit.brings(visit.token(**changed))


def signed(header: dict[str, Any], number: int = 1) -> Callable[[JwtVisit], VisitedPage]:
    return lambda visit: visit.brings(visit.token(header, key(number)))


def text(value: str) -> Callable[[JwtVisit], VisitedPage]:
    return lambda visit: visit.brings(value)


def with_public_key_as_secret(visit: JwtVisit) -> VisitedPage:
    secret = OctKey.import_key(json.dumps(public(1)[0]))
    return visit.brings(visit.token({"alg": "HS256"}, secret))


def twice(visit: JwtVisit) -> VisitedPage:
    return visit.brings(visit.token(), visit.token())


def replayed(visit: JwtVisit) -> VisitedPage:
    """Return a token that another browser used."""
    token = visit.token(jti="one", email_verified=False)
    visit.brings(token)
    for part in ("session", "attempt"):
        visit.visitor.forget(part)
    return visit.brings(token)


def keys(status: int, headers: dict[str, str], body: bytes) -> Callable[[JwtVisit], VisitedPage]:
    def misdeed(visit: JwtVisit) -> VisitedPage:
        visit.portal.answers(status, body, headers)
        return visit.brings(visit.token())

    return misdeed


def without_keys(visit: JwtVisit) -> VisitedPage:
    """The caller shortens the deadline."""
    visit.portal.hangs()
    return visit.brings(visit.token())


JWT = (
    JwtRefusal("iss", claims(iss="https://evil.example")),
    JwtRefusal("iss missing", claims(iss=None)),
    JwtRefusal("aud", claims(aud="another-app")),
    JwtRefusal("aud missing", claims(aud=None)),
    JwtRefusal("expired", claims(exp=1)),
    JwtRefusal("exp missing", claims(exp=None)),
    JwtRefusal("exp is text", claims(exp="soon")),
    JwtRefusal("not valid yet", claims(nbf=9_999_999_999)),
    JwtRefusal("sub missing", claims(sub=None)),
    JwtRefusal("sub is a fraction", claims(sub=1.5)),
    JwtRefusal("sub is true", claims(sub=True)),
    JwtRefusal("sub is a list", claims(sub=["ada"])),
    JwtRefusal("sub empty", claims(sub="")),
    JwtRefusal("alg HS256", with_public_key_as_secret),
    JwtRefusal("alg none", text("eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.")),
    JwtRefusal("kid unknown", signed({"kid": "key-9"})),
    JwtRefusal("another key", signed({}, 2)),
    JwtRefusal("no token", text(""), has_provider=False),
    JwtRefusal("no JWT", text("a.b.c")),
    JwtRefusal("token twice", twice, has_provider=False),
    JwtRefusal("used token", replayed),
    JwtRefusal("slow", without_keys),
    JwtRefusal("keys: HTML", keys(*HTML)),
    JwtRefusal("keys: list", keys(200, {}, b"[]")),
    JwtRefusal("keys: wrong types", keys(200, {}, b'{"keys": 1}')),
    JwtRefusal("keys: redirect", keys(302, {"Location": METADATA_SERVICE}, b"")),
    JwtRefusal("keys: server error", keys(500, {}, b"{}")),
    JwtRefusal("keys: 10 MB", keys(200, {}, KEYS + b" " * 10_000_000)),
    JwtRefusal("email unverified", claims(email_verified=False), registers=True),
    JwtRefusal("email of a foreign domain", claims(email="ada@initech.example"), registers=True),
)
