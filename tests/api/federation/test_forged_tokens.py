"""Forged and malformed responses of an OpenID provider are refused (OpenID Connect Core section 3.1.3.7, RFC 9207)."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import pytest
from joserfc.jwk import OctKey

from app.identity.authentication.federation.federated_sign_in import ConnectionBroken
from tests.support.accounts.connecting import finished, led
from tests.support.fakes.identity_provider import CLIENT, SECRET, FakeProvider, key
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer

pytestmark = on_one_database
NAME = "elsewhere"


@pytest.fixture
def acme(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> TenantServer:
    """Return a tenant with a connection to the provider."""
    made = new_tenant_server()
    fake_provider.known_to(made, NAME)
    return made


def claims(**values: Any) -> Callable[[FakeProvider], None]:
    return lambda item: item.claims.update(values)


def answers(status: int, text: str, **headers: str) -> Callable[[FakeProvider], None]:
    """Let the token endpoint answer this."""
    return lambda item: item.answers.update({"/token": (status, headers, text.encode())})


def changes(**changed: Any) -> Callable[[FakeProvider], None]:
    def change(item: FakeProvider) -> None:
        for name, value in changed.items():
            setattr(item, name, value(item) if callable(value) else value)

    return change


FORGERIES: dict[str, tuple[Callable[[FakeProvider], None], str]] = {
    "another issuer": (claims(iss="https://evil.example"), "not good: iss"),
    "another audience": (claims(aud="another"), "not good: aud"),
    "no audience": (claims(aud=None), "not good: aud"),
    "another party": (claims(azp="another"), "not good: azp"),
    "audiences without a party": (claims(aud=[CLIENT, "another"]), "not good: azp"),
    "another nonce": (claims(nonce="another"), "not good: nonce"),
    "no nonce": (claims(nonce=None), "not good: nonce"),
    "no subject": (claims(sub=None), "not good: sub"),
    "a subject that is a number": (claims(sub=7), "not good: sub"),
    "an empty subject": (claims(sub=""), "names nobody"),
    "a subject with a blank": (claims(sub="ada-1815 "), "names nobody"),
    "a subject without end": (claims(sub="a" * 256), "names nobody"),
    "over": (claims(exp=1), "not good: exp"),
    "without end": (claims(exp=None), "not good: exp"),
    "an end that is a text": (claims(exp="9999999999"), "not good: exp"),
    "an end that is no number": (claims(exp=float("nan")), "not good: exp"),
    "from tomorrow": (claims(iat=9_999_999_999), "not good: iat"),
    "not before tomorrow": (claims(nbf=9_999_999_999), "not good: nbf"),
    "another access token's": (claims(at_hash="AAAAAAAAAAAAAAAAAAAAAA"), "not good: at_hash"),
    "another key's": (changes(key=lambda _: key(2), header=lambda _: {"kid": key(1).kid}), "none of the keys signed it"),
    "an unknown key": (changes(header={"kid": "absent"}), "none of the keys signed it"),
    "unsigned": (changes(id_token="eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."), "its alg is not accepted"),
    "signed with the client's secret": (
        changes(key=OctKey.import_key(SECRET), header=lambda _: {"alg": "HS256", "kid": key(1).kid}), "its alg is not accepted",
    ),
    "signed with the public key as a secret": (changes(id_token=lambda item: hmac_with_public_key(item)), "its alg is not accepted"),
    "no token": (answers(200, '{"access_token": "a", "token_type": "Bearer"}'), "cannot be read"),
    "a token that is a list": (answers(200, '{"id_token": ["a"]}'), "cannot be read"),
    "an answer without end": (answers(200, '{"access_token": "a", "expires_in": Infinity}'), "did not answer: OverflowError"),
    "lists in lists": (answers(200, "[" * 100_000), "did not answer: RecursionError"),
    "a header of lists in lists": (changes(id_token=f"{'W1tb' * 1_900}.e30.e30"), "cannot be read"),
    "a list": (answers(200, "[]"), "did not answer: ValueError"),
    "no JSON": (answers(200, "<html>"), "did not answer: ValueError"),
    "a redirect": (answers(307, "", Location="/else"), "did not answer: HTTPStatusError"),
    "out of order": (answers(500, "{}"), "did not answer: HTTPStatusError"),
    "does not know us": (answers(401, '{"error": "invalid_client"}'), "answered invalid_client"),
    "an error that is a list": (answers(400, '{"error": ["invalid_grant"]}'), "17 characters that are no error code"),
    "too much": (answers(200, '"' + "a" * 10_000_000 + '"'), "did not answer: InvalidResponse"),
    "packed": (answers(200, "x", **{"Content-Encoding": "gzip"}), "did not answer: InvalidResponse"),
    "nothing": (answers(200, "", **{"Content-Length": "9"}), "did not answer: "),
    "no keys": (changes(published=[]), "publishes no key"),
    "keys of other types": (changes(published=[7, {"kty": "RSA"}, {"kty": "oct", "k": "AAAA"}]), "publishes no key"),
    "answers as another issuer": (changes(back={"iss": "https://evil.example"}), "another issuer's"),
}  # fmt: skip


def hmac_with_public_key(item: FakeProvider) -> str:
    parts = [{"alg": "HS256", "kid": key(1).kid}, {"iss": item.url, "sub": "ada"}]
    signed = b".".join(urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    mark = hmac.digest(key(1).as_pem(private=False), signed, "sha256")
    return b".".join([signed, urlsafe_b64encode(mark).rstrip(b"=")]).decode()


@pytest.mark.parametrize(("forge", "reason"), FORGERIES.values(), ids=FORGERIES)
def test_invalid_provider_response_is_refused(
    acme: TenantServer,
    fake_provider: FakeProvider,
    forge: Callable[[FakeProvider], None],
    reason: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    address = led(acme, NAME)
    forge(fake_provider)
    answer = fake_provider.signs_in(address)
    with pytest.raises(ConnectionBroken):
        finished(acme, answer)
    assert fake_provider.requests_to("/else") == 0
    assert reason in caplog.text
    assert not any(secret in caplog.text for secret in (SECRET, answer["code"], answer["state"], "eyJ"))
