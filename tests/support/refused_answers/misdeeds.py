"""What a provider, or a person between it and this service, can do wrong: each must be refused, with nothing left behind."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from joserfc.jwk import OctKey

from app.identity.platform.outbound.openid_metadata import DIRECTORY, ProviderMetadataCache
from tests.support.fakes.identity_provider import key
from tests.support.refused_answers.visits import ProviderVisit
from tests.support.visitors.visitor import VisitedPage

HTML = (200, {"Content-Type": "text/html"}, b"<!doctype html><title>Maintenance</title>")
METADATA_SERVICE = "http://169.254.169.254/latest/meta-data/"
DENIED, FORGED, BROKEN, GONE, REGISTERS, UNUSABLE = "denied", "forged", "broken", "gone", "registers", "unusable"


Misdeed = Callable[[ProviderVisit], VisitedPage]


@dataclass(frozen=True)
class Refusal:
    """One thing that goes wrong, and how it is refused: `reason` is one of the names above, or several with bars between."""

    case: str
    does: Misdeed
    reason: str


def denies(visit: ProviderVisit) -> VisitedPage:
    return visit.back({"error": "access_denied", "state": visit.state})


def without_code(visit: ProviderVisit) -> VisitedPage:
    return visit.back({"state": visit.state})


def in_another_browser(visit: ProviderVisit) -> VisitedPage:
    visit.visitor = visit.another_browser()
    return visit.back()


def with_guessed_state(visit: ProviderVisit) -> VisitedPage:
    return visit.back({**visit.answer(), "state": f"{visit.state.partition('.')[0]}.guessed"})


def with_used_code(visit: ProviderVisit) -> VisitedPage:
    code = visit.answer()["code"]
    issued: dict[str, Any] = getattr(visit.provider.upstream, "codes", visit.fake.sent_out)
    del issued[code]
    return visit.back({"code": code, "state": visit.state})


def with_used_callback(visit: ProviderVisit) -> VisitedPage:
    refused = {"error": "access_denied", "state": visit.state}
    visit.back(refused)
    return visit.back({**visit.answer(), "state": visit.state})


def repeats(name: str) -> Misdeed:
    def misdeed(visit: ProviderVisit) -> VisitedPage:
        answer = visit.answer()
        return visit.back([*answer.items(), (name, answer[name])])

    return misdeed


def answers(path_of: Callable[[ProviderVisit], str], status: int, headers: dict[str, str], body: bytes) -> Misdeed:
    def misdeed(visit: ProviderVisit) -> VisitedPage:
        parameters = visit.answer()
        visit.fake.answers[path_of(visit)] = (status, headers, body)
        return visit.back(parameters)

    return misdeed


def pads(path_of: Callable[[ProviderVisit], str]) -> Misdeed:
    """Return the right answer with 10 MB of spaces behind it."""

    def misdeed(visit: ProviderVisit) -> VisitedPage:
        parameters = visit.answer()
        visit.fake.padding[path_of(visit)] = 10_000_000
        return visit.back(parameters)

    return misdeed


def slowly(visit: ProviderVisit) -> VisitedPage:
    """The caller shortens the deadline."""
    parameters = visit.answer()
    visit.fake.delay_seconds = 0.5
    return visit.back(parameters)


def token_path(visit: ProviderVisit) -> str:
    return str(getattr(visit.provider.upstream, "token_path", "/token"))


def profile_path(visit: ProviderVisit) -> str:
    upstream = visit.provider.upstream
    return str(getattr(upstream, "subject_path", "") or getattr(upstream, "profile_path", "/keys"))


def discovery_path(visit: ProviderVisit) -> str:
    """Return the path of the discovery document, which is not in the cache any longer."""
    services = visit.world.services
    services.provider_metadata = ProviderMetadataCache(services.clock, services.provider_metadata.resolver)
    return "/.well-known/openid-configuration"


def begins(visit: ProviderVisit) -> VisitedPage:
    """Begin again, in another browser."""
    visit.visitor = visit.another_browser()
    return visit.visitor.open(visit.start)


def discovers(**members: Any) -> Misdeed:
    """Return a discovery document with other members; None removes one."""

    def misdeed(visit: ProviderVisit) -> VisitedPage:
        discovery_path(visit)
        visit.fake.metadata = {**visit.fake.metadata, **members}
        return begins(visit)

    return misdeed


def undiscovered(status: int, headers: dict[str, str], body: bytes) -> Misdeed:
    def misdeed(visit: ProviderVisit) -> VisitedPage:
        visit.fake.answers[discovery_path(visit)] = (status, headers, body)
        return begins(visit)

    return misdeed


def long_discovery(visit: ProviderVisit) -> VisitedPage:
    visit.fake.padding[discovery_path(visit)] = 10_000_000
    return begins(visit)


def notice_of(case: str) -> str:
    """Return how an answer of BODIES is refused: only a server with an error of its own does not respond."""
    return BROKEN if case == "server error" else FORGED


def bodies(name: str, path: Callable[[ProviderVisit], str]) -> tuple[Refusal, ...]:
    """Return the answers that no request of a provider may have."""
    cases = tuple(
        Refusal(f"{name}: {case}", answers(path, *answer), notice_of(case)) for case, answer in BODIES.items()
    )
    return (*cases, Refusal(f"{name}: 10 MB", pads(path), FORGED))


BODIES: Mapping[str, tuple[int, dict[str, str], bytes]] = MappingProxyType(
    {
        "HTML": HTML,
        "list": (200, {}, b"[]"),
        "text": (200, {}, b'"token"'),
        "empty object": (200, {}, b"{}"),
        "wrong types": (
            200,
            {},
            b'{"access_token": 7, "id_token": {}, "keys": 1, "id": {}, "openid": [], "user_id": true}',
        ),
        "deep": (200, {}, b"[" * 100_000),
        "redirect": (302, {"Location": METADATA_SERVICE}, b""),
        "server error": (500, {}, b"{}"),
    }
)


COMMON = (
    Refusal("denied", denies, DENIED),
    Refusal("no code", without_code, DENIED),
    Refusal("another browser", in_another_browser, GONE),
    Refusal("unknown state", with_guessed_state, ""),
    Refusal("used state", with_used_callback, ""),
    Refusal("used code", with_used_code, f"{DENIED}|{FORGED}"),
    Refusal("code twice", repeats("code"), DENIED),
    Refusal("state twice", repeats("state"), DENIED),
    Refusal("slow", slowly, BROKEN),
    *bodies("token", token_path),
    *bodies("profile or keys", profile_path),
)


def claims(**changed: Any) -> Misdeed:
    """Return ID tokens with other claims; None removes one."""

    def misdeed(visit: ProviderVisit) -> VisitedPage:
        parameters = visit.answer()
        now = visit.fake.now
        values = {
            name: now + value if isinstance(value, int) and name in TIMES else value for name, value in changed.items()
        }
        visit.fake.claims = {**visit.fake.claims, **values}
        return visit.back(parameters)

    return misdeed


TIMES = ("exp", "iat", "nbf")


def signed(header: dict[str, Any], signing: Any = None) -> Misdeed:
    def misdeed(visit: ProviderVisit) -> VisitedPage:
        parameters = visit.answer()
        visit.fake.header = header
        visit.fake.key = signing or visit.fake.key
        return visit.back(parameters)

    return misdeed


def without_id_token(visit: ProviderVisit) -> VisitedPage:
    return answers(token_path, 200, {}, json.dumps({"access_token": "any", "token_type": "Bearer"}).encode())(visit)


def with_public_key_as_secret(visit: ProviderVisit) -> VisitedPage:
    """Sign by HS256 with the public key, which everybody has."""
    return signed({"alg": "HS256"}, OctKey.import_key(json.dumps(visit.fake.published[0])))(visit)


def without_signature(visit: ProviderVisit) -> VisitedPage:
    """Return an ID token with `alg` none and no signature (RFC 7519 section 6)."""
    parameters = visit.answer()
    visit.fake.claims = {**visit.fake.claims, "at_hash": None}
    signed_token = visit.fake.signed(visit.fake.sent_out[parameters["code"]], "any")
    header = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    visit.fake.id_token = f"{header}.{signed_token.split('.')[1]}."
    return visit.back(parameters)


OPENID = (
    Refusal("iss", claims(iss="https://evil.example"), FORGED),
    Refusal("iss missing", claims(iss=None), FORGED),
    Refusal("iss template", claims(iss=f"https://login.microsoftonline.com/{DIRECTORY}/v2.0"), FORGED),
    Refusal("aud", claims(aud="another-app"), FORGED),
    Refusal("aud list without us", claims(aud=["another-app", "third"]), FORGED),
    Refusal("azp of another app", claims(azp="another-app"), FORGED),
    Refusal("aud list, azp missing", claims(aud=["gatehouse-of-acme", "another-app"]), FORGED),
    Refusal("nonce", claims(nonce="another"), FORGED),
    Refusal("nonce missing", claims(nonce=None), FORGED),
    Refusal("expired", claims(exp=-120), FORGED),
    Refusal("exp missing", claims(exp=None), FORGED),
    Refusal("exp is text", claims(exp="soon"), FORGED),
    Refusal("not valid yet", claims(iat=600, nbf=600), FORGED),
    Refusal("sub missing", claims(sub=None), FORGED),
    Refusal("sub is a number", claims(sub=1815), FORGED),
    Refusal("sub empty", claims(sub=""), FORGED),
    Refusal("at_hash", claims(at_hash="AAAA"), FORGED),
    Refusal("alg HS256", with_public_key_as_secret, FORGED),
    Refusal("alg none", without_signature, FORGED),
    Refusal("kid unknown", signed({"kid": "key-9"}), FORGED),
    Refusal("another key", signed({"kid": "key-1"}, key(2)), FORGED),
    Refusal("no id_token", without_id_token, FORGED),
    Refusal("discovery: another issuer", discovers(issuer="https://evil.example"), FORGED),
    Refusal("discovery: no token endpoint", discovers(token_endpoint=None), FORGED),
    Refusal("discovery: keys over HTTP", discovers(jwks_uri="http://keys.example/"), FORGED),
    *(Refusal(f"discovery: {case}", undiscovered(*answer), notice_of(case)) for case, answer in BODIES.items()),
    Refusal("discovery: 10 MB", long_discovery, FORGED),
)


def unverified(visit: ProviderVisit) -> VisitedPage:
    """Return an address that an account has, and that the provider does not call verified."""
    visit.world.person("ada@example.test")
    visit.remember()
    fake = visit.fake
    fake.claims = {name: value for name, value in fake.claims.items() if name != "email_verified"}
    return visit.back(visit.answer(**{"email_verified" if visit.provider.is_openid else "verified": False}))


def mailed_from(**who: Any) -> Misdeed:
    """Return another address."""
    return lambda visit: visit.back(visit.answer(**who))


def identified_as(subject: Any) -> Misdeed:
    """Return a profile of the right form, with this ID."""
    return lambda visit: visit.back(visit.answer(id=subject))


OAUTH = (
    Refusal("profile: 401", answers(profile_path, 401, {}, b"{}"), FORGED),
    Refusal("id is an object", identified_as({"a": 1}), FORGED),
    Refusal("id is null", identified_as(None), FORGED),
    Refusal("id is true", identified_as(True), FORGED),
    Refusal("id is a fraction", identified_as(1.5), FORGED),
    Refusal("id is empty", identified_as(""), FORGED),
    Refusal("id is too long", identified_as("1" * 300), FORGED),
    Refusal("id ends in a line break", identified_as("ada\n"), FORGED),
    Refusal("id begins with a space", identified_as(" ada"), FORGED),
)
UNVERIFIED = Refusal("email unverified", unverified, REGISTERS)
MEMBERS = (
    Refusal("email unverified", mailed_from(email_verified=False), UNUSABLE),
    Refusal("email of a foreign domain", mailed_from(email="ada@initech.example"), UNUSABLE),
    Refusal("email missing", mailed_from(email=None), UNUSABLE),
)
"""At an organization's connection, which signs in members of the organization's domain alone."""
