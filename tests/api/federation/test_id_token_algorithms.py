"""ID tokens are accepted by every safe signature algorithm, by keys that the provider publishes (RFC 7518 section 3.1, RFC 8037)."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from joserfc.jwk import ECKey, Key, KeyParameters, OctKey, OKPKey, RSAKey

from app.identity.authentication.federation.federated_sign_in import ConnectionBroken
from app.identity.platform.jwts import PUBLIC_KEY_ALGORITHMS
from tests.support.accounts.connecting import finished, led
from tests.support.accounts.connection_failures import traces_of
from tests.support.fakes.identity_provider import FakeProvider, key
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer

pytestmark = on_one_database
NAME = "elsewhere"
_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}


@pytest.fixture
def acme(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> TenantServer:
    made = new_tenant_server()
    fake_provider.known_to(made, NAME)
    return made


@cache
def rsa_key() -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": "of-the-test"})


def key_for(algorithm: str) -> Key:
    options: KeyParameters = {"kid": "of-the-test"}
    if algorithm in _CURVES:
        return ECKey.generate_key(_CURVES[algorithm], options)
    if algorithm.startswith("Ed"):
        return OKPKey.generate_key("Ed25519", options)
    return rsa_key()


def publish(upstream: FakeProvider, signing: Key, algorithm: str, *published: Key) -> None:
    """Let the provider sign with a key, and publish others."""
    upstream.key, upstream.header = signing, {"alg": algorithm}
    upstream.published = [{**item.as_dict(private=False), "use": "sig"} for item in published]


def sign_in(tenant: TenantServer, upstream: FakeProvider) -> str:
    upstream.claims["at_hash"] = None
    identity, _ = finished(tenant, upstream.signs_in(led(tenant, NAME)))
    return identity.subject


@pytest.mark.parametrize("algorithm", PUBLIC_KEY_ALGORITHMS)
def test_safe_algorithm_is_accepted(acme: TenantServer, fake_provider: FakeProvider, algorithm: str) -> None:
    signing = key_for(algorithm)
    publish(fake_provider, signing, algorithm, key(1), signing)
    assert sign_in(acme, fake_provider) == "ada-1815"


def other_key(kind: str) -> tuple[Key, list[Any]]:
    """Return a signing key that no provider may use, and what is published for it."""
    if kind == "an HMAC key":
        secret = OctKey.generate_key(256, {"kid": "of-the-test"})
        return secret, [{**secret.as_dict(), "use": "sig"}]
    if kind == "the curve secp256k1":
        curve = ECKey.generate_key("secp256k1", {"kid": "of-the-test"})
        return curve, [curve.as_dict(private=False)]
    weak = RSAKey.generate_key(1024, {"kid": "of-the-test"})
    return weak, [weak.as_dict(private=False)]


@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
@pytest.mark.parametrize(
    ("kind", "algorithm"),
    [("an HMAC key", "HS256"), ("the curve secp256k1", "ES256K"), ("an RSA key of 1,024 bits", "RS256")],
)
def test_unsafe_key_or_algorithm_is_refused(
    acme: TenantServer, fake_provider: FakeProvider, kind: str, algorithm: str
) -> None:
    fake_provider.key, fake_provider.published = other_key(kind)
    fake_provider.header = {"alg": algorithm}
    with pytest.raises(ConnectionBroken):
        sign_in(acme, fake_provider)
    assert traces_of(acme)[0].failed_check in ("token_format", "signature", "keys")


def test_rotated_key_is_found_by_its_id(acme: TenantServer, fake_provider: FakeProvider) -> None:
    first, second = (ECKey.generate_key("P-256", {"kid": kid}) for kid in ("first", "second"))
    publish(fake_provider, first, "ES256", first)
    assert sign_in(acme, fake_provider) == "ada-1815"
    publish(fake_provider, second, "ES256", second)
    acme.services.clock.advance(seconds=61)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
    assert sign_in(acme, fake_provider) == "ada-1815"
    publish(fake_provider, first, "ES256", second)
    with pytest.raises(ConnectionBroken):
        sign_in(acme, fake_provider)
