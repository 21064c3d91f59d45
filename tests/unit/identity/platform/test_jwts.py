"""Every kind of JWT that others sign is refused for the same reasons (RFC 8725 section 3)."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, Key, OctKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

from app.identity.authentication.federation.providers import id_tokens
from app.identity.platform import jwts
from app.identity.platform.jwts import JwtNotAccepted, JwtProfile, SignatureRefused, TypeRefused
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.protocols.oauth.authorize import request_object
from app.identity.protocols.oauth.client_authentication import client_assertions
from app.identity.protocols.oauth.registration import software_statements
from app.identity.protocols.oauth.sender_constraints import dpop
from app.identity.protocols.oauth.tokens import issuer_assertions

NOW = datetime(2026, 11, 29, tzinfo=UTC)
AT = int(NOW.timestamp())
RSA = RSAKey.generate_key(2048, {"kid": "rsa"})
CLAIMS: dict[str, Any] = {"iss": "https://hr.example", "exp": AT + 60}
PROFILES = {
    "request object": request_object.PROFILE,
    "client assertion": client_assertions.PROFILE,
    "software statement": software_statements.PROFILE,
    "assertion": issuer_assertions.PROFILE,
    "DPoP proof": dpop.PROFILE,
    "id_token": id_tokens.PROFILE,
}
EVERY_KIND = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)


def part(value: object) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def header_of(profile: JwtProfile, **members: Any) -> dict[str, Any]:
    return {"alg": "RS256", **({"typ": profile.types[-1]} if profile.types else {}), **members}


def signed(profile: JwtProfile, key: Key = RSA, claims: object = None, **header: Any) -> str:
    return jwt.encode(header_of(profile, **header), CLAIMS if claims is None else claims, key)  # type: ignore[arg-type]  # also what is no object


def refusal(text: str, profile: JwtProfile, *keys: Key) -> type[JwtNotAccepted] | None:
    try:
        jwts.read_jwt(text, lambda _: keys or (RSA,), profile)
    except JwtNotAccepted as problem:
        return type(problem)
    return None


@EVERY_KIND
def test_jwt_of_its_kind_is_read(profile: JwtProfile) -> None:
    token = jwts.read_jwt(signed(profile), lambda _: (RSA,), profile)
    assert (token.claims, token.header["alg"]) == (CLAIMS, "RS256")


@EVERY_KIND
@pytest.mark.parametrize("name", ["none", "None", "NONE"])
def test_unsigned_jwt_is_refused(profile: JwtProfile, name: str) -> None:
    body = f"{part(header_of(profile, alg=name))}.{part(CLAIMS)}."
    assert {refusal(body + end, profile) for end in ("", "AA")} == {SignatureRefused}


@EVERY_KIND
def test_public_key_is_no_shared_secret(profile: JwtProfile) -> None:
    body = f"{part(header_of(profile, alg='HS256'))}.{part(CLAIMS)}"
    for secret in (RSA.as_pem(private=False), json.dumps(RSA.as_dict(private=False)).encode()):
        mac = urlsafe_b64encode(hmac.digest(secret, body.encode(), "sha256")).rstrip(b"=").decode()
        assert refusal(f"{body}.{mac}", profile) is SignatureRefused


@EVERY_KIND
@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
def test_weak_or_unserved_key_signs_nothing(profile: JwtProfile) -> None:
    small = RSAKey.generate_key(1024)
    assert refusal(signed(profile, small), profile, small) is SignatureRefused
    assert refusal(signed(profile, small), profile, small, RSA) is SignatureRefused
    assert not jwts.is_strong(OKPKey.generate_key("Ed448"))


@EVERY_KIND
def test_foreign_key_in_the_header_is_not_used(profile: JwtProfile) -> None:
    own = RSAKey.generate_key(2048)
    for header in ({"jwk": own.as_dict(private=False)}, {"jku": "https://evil.example/keys"}, {"x5u": "https://a.b"}):
        assert refusal(signed(profile, own, **header), profile) is SignatureRefused


@EVERY_KIND
def test_other_kind_of_token_is_refused(profile: JwtProfile) -> None:
    for kind in ("at+jwt", "logout+jwt", "secevent+jwt"):
        expected = TypeRefused if profile.types else None
        assert refusal(unchecked(profile, typ=kind), profile) is expected, kind
    for malformed in (7, ["jwt"]):
        assert refusal(unchecked(profile, typ=malformed), profile) is SignatureRefused, malformed


def unchecked(profile: JwtProfile, **header: Any) -> str:
    """Sign a header that the library would not write."""
    body = f"{part(header_of(profile, **header))}.{part(CLAIMS)}"
    mark = JWSRegistry(algorithms=["RS256"]).get_alg("RS256").sign(body.encode(), RSA)
    return f"{body}.{urlsafe_b64encode(mark).rstrip(b'=').decode()}"


@EVERY_KIND
def test_critical_extension_is_refused(profile: JwtProfile) -> None:
    headers: tuple[dict[str, Any], ...] = (
        {"crit": ["x"], "x": 1},
        {"crit": ["b64"], "b64": False},
        {"crit": []},
        {"crit": "alg"},
    )
    for header in headers:
        assert refusal(unchecked(profile, **header), profile) is not None, header


@EVERY_KIND
def test_nested_or_encrypted_jwt_is_refused(profile: JwtProfile) -> None:
    inner = part(signed(profile))
    body = f"{part(header_of(profile, cty='JWT'))}.{inner}"
    for text in (f"{body}.AA", "AA.AA.AA.AA.AA", f"{part({'alg': 'dir', 'enc': 'A128GCM'})}.AA.AA.AA.AA"):
        assert refusal(text, profile) is SignatureRefused


@EVERY_KIND
def test_long_or_deep_text_is_refused(profile: JwtProfile) -> None:
    long = signed(profile, claims={**CLAIMS, "long": "x" * profile.max_length})
    deep = f"{part(header_of(profile))}.{urlsafe_b64encode(b'[' * 5_000).decode()}.AA"
    for text in (long, deep, "", "..", "a.b.c", "é.é.é", signed(profile) + ".", signed(profile)[:-1] + "é"):
        assert refusal(text, profile) is SignatureRefused, text[:20]


@EVERY_KIND
def test_times_are_checked(profile: JwtProfile) -> None:
    never = [True, "9", 10**400, float("inf"), float("nan"), [], {}]
    for name, wrong in (("exp", [AT - 61, *never]), ("nbf", [AT + 61, *never]), ("iat", [AT + 61, *never])):
        for value in wrong:
            times = profile.times({**CLAIMS, name: value}, NOW)
            assert [item for item, is_right in times.items() if not is_right] == [name], value
    assert all(profile.times(CLAIMS, NOW).values())


@pytest.mark.parametrize("kind", ["client assertion", "assertion"])
def test_assertion_ends_within_an_hour(kind: str) -> None:
    profile = PROFILES[kind]
    for exp, is_right in ((None, False), (AT + 3_661, False), (10**12, False), (AT + 3_660, True)):
        assert profile.times({"exp": exp}, NOW)["exp"] is is_right, exp
    assert profile.times({}, NOW)["exp"] is False


def test_unavailable_keys_are_no_wrong_signature() -> None:
    def keys(kid: str | None) -> tuple[Key, ...]:
        raise ProviderUnavailable("hr.example did not answer")

    with pytest.raises(ProviderUnavailable):
        jwts.read_jwt(signed(PROFILES["assertion"]), keys, PROFILES["assertion"])
    assert not issubclass(JwtNotAccepted, ProviderUnavailable)


def test_key_of_another_type_signs_nothing() -> None:
    profile = JwtProfile(("ES256", "HS256"), 10_000)
    for key in (ECKey.generate_key("P-384"), OKPKey.generate_key("Ed25519"), RSA):
        assert refusal(f"{part({'alg': 'ES256'})}.{part(CLAIMS)}.AA", profile, key) is SignatureRefused
    secret = OctKey.import_key("k" * 32)
    assert refusal(jwt.encode({"alg": "HS256"}, CLAIMS, secret), profile, secret) is None
