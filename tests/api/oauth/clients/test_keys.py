"""Keys that a client publishes at its `jwks_uri` (RFC 7591 section 2): rotation, bad keys, and servers that do not answer."""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey
from werkzeug.test import TestResponse

from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.signed_requests import Signer, client_key, public_jwks
from tests.support.oauth.world import World
from tests.support.services.identity_service import MovableClock

MACHINE = {"grant_type": "client_credentials"}
Publish = Callable[..., None]


@pytest.fixture
def publish(fake_provider: FakeProvider) -> Publish:
    def put(*keys: Key, content: bytes | None = None, status: int = 200) -> None:
        body = json.dumps(public_jwks(*keys)).encode() if content is None else content
        fake_provider.answers["/keys"] = (status, {}, body)

    put(client_key("ES256"))
    return put


@pytest.fixture
def client(world: World, fake_provider: FakeProvider, publish: Publish) -> RelyingParty:
    return world.application(
        "remote",
        secret=None,
        token_endpoint_auth_method="private_key_jwt",
        jwks_uri=f"{fake_provider.url}/keys",
        grant_types=["client_credentials"],
    )


def ask(client: RelyingParty, signer: Signer | None = None) -> TestResponse:
    return client.back("token", {**MACHINE, **(signer or Signer(client)).assertion()})


def reads(fake_provider: FakeProvider) -> int:
    return sum(item.path == "/keys" for item in fake_provider.received)


@pytest.fixture
def later(fake_provider: FakeProvider) -> Callable[[timedelta], None]:
    """Move the time of the cache alone."""
    clock = MovableClock()
    fake_provider.services.provider_metadata._clock = clock
    return lambda by: clock.advance(seconds=by.total_seconds())


def test_key_at_an_address_is_read_once(client: RelyingParty, fake_provider: FakeProvider) -> None:
    assert [ask(client).status_code for _ in range(3)] == [200, 200, 200]
    assert reads(fake_provider) == 1


def test_new_key_is_read_by_its_id_once_a_minute(
    client: RelyingParty, fake_provider: FakeProvider, publish: Publish, later: Callable[[timedelta], None]
) -> None:
    assert ask(client).status_code == 200
    newer = Signer(client, key=client_key("ES256", "2"))
    publish(client_key("ES256", "2"))
    assert ask(client, newer).status_code == 401, "not before a minute has passed"
    later(timedelta(seconds=61))
    assert ask(client, newer).status_code == 200
    assert ask(client).status_code == 401, "the withdrawn key no longer counts"
    outsiders = [Signer(client, key=client_key("ES256", f"unknown {number}")) for number in range(5)]
    later(timedelta(seconds=61))
    assert {ask(client, outsider).status_code for outsider in outsiders} == {401}
    assert reads(fake_provider) == 3


def test_unknown_ids_do_not_hammer_a_server_that_fails(
    client: RelyingParty, fake_provider: FakeProvider, publish: Publish, later: Callable[[timedelta], None]
) -> None:
    assert ask(client).status_code == 200
    publish(content=b"", status=500)
    later(timedelta(seconds=61))
    for number in range(5):
        assert ask(client, Signer(client, key=client_key("ES256", f"unknown {number}"))).status_code == 401
    assert reads(fake_provider) == 2
    assert ask(client).status_code == 200, "known keys still count"


def test_server_that_fails_is_left_alone_for_seconds(
    client: RelyingParty, fake_provider: FakeProvider, publish: Publish, later: Callable[[timedelta], None]
) -> None:
    publish(content=b"", status=500)
    assert {ask(client).status_code for _ in range(5)} == {401}
    assert reads(fake_provider) == 1
    publish(client_key("ES256"))
    later(timedelta(seconds=6))
    assert ask(client).status_code == 200


DEEP = b'{"keys": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"keys": {}}',
        b'{"keys": []}',
        b'{"keys": [7, null, {}]}',
        b'{"keys": [{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "1"}]}',
        b'{"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "1"}]}',
        b'{"keys": "' + b"x" * 1_000_000 + b'"}',
        DEEP,
    ],
    ids=lambda content: content[:20],
)
def test_unusable_key_set_is_refused(client: RelyingParty, publish: Publish, content: bytes) -> None:
    publish(content=content)
    assert ask(client).status_code == 401


def test_slow_key_server_is_given_up(
    client: RelyingParty, fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that drips would otherwise hold a thread for as long as it likes."""
    monkeypatch.setattr("app.identity.platform.outbound.bounded_transport.TIMEOUT_SECONDS", 0.3)
    fake_provider.drip_seconds = 0.05
    assert ask(client).status_code == 401
    fake_provider.drip_seconds = 0


def weak(kind: str) -> tuple[Key, str]:
    if kind == "RSA 1024":
        return RSAKey.generate_key(1024, {"kid": "1"}), "RS256"
    if kind == "P-384":
        return ECKey.generate_key("P-384", {"kid": "1"}), "ES256"
    curve, _, algorithm = kind.partition(" ")
    return OKPKey.generate_key("Ed448" if curve == "Ed448" else "X25519", {"kid": "1"}), algorithm or "EdDSA"


@pytest.mark.parametrize("kind", ["RSA 1024", "P-384", "X25519", "Ed448 EdDSA", "Ed448 Ed448"])
@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
def test_weak_key_or_wrong_curve_is_refused(client: RelyingParty, publish: Publish, kind: str) -> None:
    """RFC 7518 sections 3.3 and 3.4, RFC 8037 section 3.1."""
    key, algorithm = weak(kind)
    publish(key)
    try:
        signed = Signer(client, algorithm, key).assertion()
    except Exception:  # noqa: BLE001 - the library signs with no such key
        signed = {**Signer(client).assertion()}
    assert client.back("token", {**MACHINE, **signed}).status_code == 401


@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
def test_weak_key_beside_a_good_one_does_not_count(client: RelyingParty, publish: Publish) -> None:
    small = RSAKey.generate_key(1024, {"kid": "small"})
    publish(small, client_key("ES256"))
    assert ask(client).status_code == 200
    assert ask(client, Signer(client, "RS256", small)).status_code == 401


def test_encryption_keys_do_not_sign(client: RelyingParty, publish: Publish) -> None:
    key = dict(client_key("ES256").as_dict(private=False)) | {"use": "enc"}
    publish(content=json.dumps({"keys": [key]}).encode())
    assert ask(client).status_code == 401


def test_assertion_without_kid_tries_every_key(client: RelyingParty, publish: Publish) -> None:
    publish(client_key("ES256", "another"), client_key("RS256"), client_key("ES256"))
    signer = Signer(client)
    signer.assertion_header = {"kid": None}
    assert ask(client, signer).status_code == 200
