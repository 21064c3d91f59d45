"""The algorithms of an application's tokens, and the tenant's keys for them (RFC 7518 section 3.1) (RFC 8037 section 3.1)."""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest
from joserfc import jws, jwt
from joserfc.jwk import ECKey, KeySet, RSAKey
from sqlalchemy import text

from app.contract.steps import SignedOutStep
from app.identity import create_services
from app.identity.administration import key_revocation
from app.identity.directory.accounts.tables import accounts
from app.identity.directory.tenants.keys.signing_algorithms import ALGORITHMS
from app.identity.directory.tenants.keys.signing_keys import LEAD, StoredSigningKeys
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.protocols.oauth.tokens import issued_jwts, machine_tokens
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, parameters_of
from tests.support.oauth.world import NewWorld, World
from tests.support.processes.installation import eventually
from tests.support.services.identity_service import MovableClock, pass_time
from tests.support.tenants.callers import call_of
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered

OTHERS = ("PS256", "ES256", "EdDSA", "Ed25519")
ALL = ("RS256", *OTHERS)


def header_of(token: str) -> dict[str, Any]:
    return dict(jws.extract_compact(token.encode()).headers())


def published(client: RelyingParty) -> list[dict[str, Any]]:
    keys: list[dict[str, Any]] = (client.get("/service/oidc/jwks").json or {})["keys"]
    return keys


def decoded(client: RelyingParty, token: str, algorithm: str) -> dict[str, Any]:
    """Verify as a relying party does that is registered for one algorithm."""
    keys = KeySet.import_key_set({"keys": published(client)})
    return dict(jwt.decode(token, keys, algorithms=[algorithm]).claims)


def tokens_of(client: RelyingParty, browser: Browser, ada: Person, **changed: str | None) -> dict[str, Any]:
    return dict(client.redeem(browser.code(client, ada, **changed)).json or {})


def signed_with(world: World, algorithm: str, name: str = "signed", **settings: Any) -> RelyingParty:
    return world.application(
        name,
        id_token_signed_response_alg=algorithm,
        userinfo_signed_response_alg=algorithm,
        access_token_format="jwt",
        access_token_signing_alg=algorithm,
        **settings,
    )


def by_public_key(kid: str, public: bytes, text: bytes) -> str:
    """Return a token whose HMAC key is a public key (RFC 8725 section 2.1)."""
    header = json.dumps({"alg": "HS256", "kid": kid, "typ": "JWT"}).encode()
    signed = b".".join(urlsafe_b64encode(part).rstrip(b"=") for part in (header, text))
    mac = urlsafe_b64encode(hmac.new(public, signed, "sha256").digest()).rstrip(b"=")
    return (signed + b"." + mac).decode()


@pytest.mark.parametrize("algorithm", ALL)
def test_tokens_are_signed_with_registered_algorithm(
    world: World, browser: Browser, ada: Person, algorithm: str
) -> None:
    """OpenID Connect Dynamic Client Registration section 2; the published key names its algorithm (RFC 7517 section 4.4)."""
    client = signed_with(world, algorithm)
    stored = tokens_of(client, browser, ada)
    userinfo = client.userinfo(stored["access_token"])
    assert userinfo.mimetype == "application/jwt"
    by_kid = {key["kid"]: key for key in published(client)}
    for token in (stored["id_token"], stored["access_token"], userinfo.text):
        header = header_of(token)
        assert header["alg"] == algorithm == by_kid[header["kid"]]["alg"]
        assert by_kid[header["kid"]]["use"] == "sig"
        assert decoded(client, token, algorithm)["sub"] == ada.uid
    assert header_of(stored["access_token"])["typ"] == "at+jwt"


@pytest.mark.parametrize(
    ("algorithm", "digest"), [("RS256", "sha256"), ("ES256", "sha256"), ("EdDSA", "sha512"), ("Ed25519", "sha512")]
)
def test_at_hash_uses_digest_of_algorithm(
    world: World, browser: Browser, ada: Person, algorithm: str, digest: str
) -> None:
    """OpenID Connect Core section 3.1.3.6."""
    client = world.application("signed", id_token_signed_response_alg=algorithm)
    stored = tokens_of(client, browser, ada)
    complete = hashlib.new(digest, stored["access_token"].encode()).digest()
    left = urlsafe_b64encode(complete[: len(complete) // 2]).rstrip(b"=").decode()
    assert decoded(client, stored["id_token"], algorithm)["at_hash"] == left


def test_signed_userinfo_alone_takes_algorithm_of_id_tokens(world: World, browser: Browser, ada: Person) -> None:
    client = world.application("signed", signed_userinfo=True, id_token_signed_response_alg="ES256")
    answer = client.userinfo(tokens_of(client, browser, ada)["access_token"])
    assert decoded(client, answer.text, "ES256")["aud"] == client.client_id


def test_tenant_without_other_algorithms_publishes_one_key(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    tokens_of(shop, browser, ada)
    assert [key["alg"] for key in published(shop)] == ["RS256"]


def test_every_advertised_algorithm_can_be_registered(world: World) -> None:
    """(RFC 9701 section 7) (OpenID Connect Discovery section 3)"""
    metadata = world.application("any").get("/.well-known/openid-configuration").json or {}
    for name in ("id_token", "userinfo", "introspection"):
        assert metadata[f"{name}_signing_alg_values_supported"] == list(ALL) == list(ALGORITHMS)


@pytest.mark.parametrize("algorithm", OTHERS)
def test_other_algorithm_costs_no_more_statements(
    world: World, shop: RelyingParty, browser: Browser, ada: Person, algorithm: str
) -> None:
    client = signed_with(world, algorithm)

    def spent(item: RelyingParty) -> int:
        item.redeem(browser.code(item, ada))  # fills the caches
        return browser.spent(item.redeem(browser.code(item, ada)))["sql"]

    assert spent(client) == spent(shop)


def test_key_is_published_when_application_is_registered(acme: TenantServer, world: World) -> None:
    """The relying party can fetch the key before its first token (OpenID Connect Core section 10.1.1)."""
    token = machine(acme, "client:create", "client:update")
    address = f"http://{acme.name}.{acme.services.settings.hub_domain}"

    def algorithms() -> set[str]:
        keys = (world.wsgi.get("/service/oidc/jwks", base_url=address).json or {})["keys"]
        return {key["alg"] for key in keys}

    body = {"AppName": "Shop", "RedirectURIs": ["https://shop.example/in"], "IdTokenSignedResponseAlg": "ES256"}
    assert algorithms() == {"RS256"}
    answered(ask(acme, token, "POST", "/v2/manage/oauth-clients", body))
    assert algorithms() == {"RS256", "ES256"}
    change = {"AccessTokenFormat": "jwt", "AccessTokenSigningAlg": "EdDSA", "UserinfoSignedResponseAlg": "ES256"}
    answered(ask(acme, token, "PUT", "/v2/manage/oauth-clients/Shop", change))
    assert algorithms() == {"RS256", "ES256", "EdDSA"}


@pytest.mark.parametrize("value", ["none", "HS256", "RS512", "es256", ""])
def test_other_algorithm_is_refused_at_registration(acme: TenantServer, value: str) -> None:
    token = machine(acme, "client:create")
    body = {"AppName": "Shop", "RedirectURIs": ["https://shop.example/in"], "IdTokenSignedResponseAlg": value}
    assert ask(acme, token, "POST", "/v2/manage/oauth-clients", body).status_code == 400


@pytest.mark.parametrize("algorithm", ALL)
def test_id_token_hint_of_any_algorithm_is_read(world: World, browser: Browser, ada: Person, algorithm: str) -> None:
    client = world.application("signed", id_token_signed_response_alg=algorithm)
    hint = tokens_of(client, browser, ada)["id_token"]
    step = browser.authorize(client.authorization_parameters(id_token_hint=hint, prompt="none"))
    assert "code" in parameters_of(step)
    assert browser.sign_out(id_token_hint=hint).kind is SignedOutStep


def test_token_with_another_algorithm_than_its_key_is_refused(
    services: IdentityServices, world: World, browser: Browser, ada: Person
) -> None:
    """RFC 8725 section 3.1: the key decides the algorithm, whatever the header says."""
    client = world.application("signed", id_token_signed_response_alg="ES256")
    claims = decoded(client, tokens_of(client, browser, ada)["id_token"], "ES256")
    with call_of(services, world.name) as call:
        keys = services.signing_keys.current(call.work)
        rsa, ec = keys.signers["RS256"], keys.signers["ES256"]
        assert isinstance(rsa.key, RSAKey)
        assert isinstance(ec.key, ECKey)
        text = json.dumps(claims).encode()
        forged = [
            jws.serialize_compact({"alg": "PS256", "kid": rsa.kid, "typ": "JWT"}, text, rsa.key, algorithms=["PS256"]),
            jws.serialize_compact({"alg": "RS256", "kid": ec.kid, "typ": "JWT"}, text, rsa.key),
            by_public_key(rsa.kid, rsa.key.as_pem(private=False), text),
            by_public_key(ec.kid, ec.key.as_pem(private=False), text),
            by_public_key(ec.kid, json.dumps(ec.key.as_dict(private=False)).encode(), text),
            jws.serialize_compact({"alg": "ES256", "typ": "JWT"}, text, ec.key),
            jws.serialize_compact({"alg": "ES256", "kid": "other", "typ": "JWT"}, text, ec.key),
            jws.serialize_compact({"alg": "ES256", "kid": ec.kid}, text, ec.key),
            jws.serialize_compact({"alg": "ES256", "kid": ec.kid, "typ": "logout+jwt"}, text, ec.key),
            ".".join([urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').decode().rstrip("="), "e30", ""]),
        ]
        good = jws.serialize_compact({"alg": "ES256", "kid": ec.kid, "typ": "JWT"}, text, ec.key)
        assert issued_jwts.read_id_token_hint(call, good) is not None
        for item in forged:
            assert issued_jwts.read_id_token_hint(call, item) is None


def test_machine_token_of_another_algorithm_is_refused(services: IdentityServices, world: World) -> None:
    with call_of(services, world.name) as call:
        services.signing_keys.current(call.work, "ES256")
        claims = {"iss": machine_tokens.issuer(call), "gty": "client_credentials"}
        token = services.signing_keys.sign(call.work, claims, "JWT", "ES256")
        with pytest.raises(issued_jwts.InvalidJwt):
            issued_jwts.read(call, token, kinds=(machine_tokens.KIND,))


@pytest.mark.both_databases
def test_rotation_and_revocation_concern_one_algorithm(
    services: IdentityServices, world: World, browser: Browser, ada: Person
) -> None:
    """A leaked ES256 key ends the tokens that it signed, and no others."""
    elliptic = signed_with(world, "ES256", "elliptic")
    rsa = world.application("rsa", access_token_format="jwt")
    of_elliptic, of_rsa = tokens_of(elliptic, browser, ada), tokens_of(rsa, browser, ada)
    leaked, remaining = header_of(of_elliptic["id_token"])["kid"], header_of(of_rsa["id_token"])["kid"]
    with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
        rotated = services.signing_keys.rotate(work, "ES256")
    assert {key["kid"] for key in published(rsa)} == {leaked, remaining, rotated}
    assert header_of(tokens_of(elliptic, browser, ada)["id_token"])["kid"] == leaked, "not before LEAD"
    with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
        revoked = key_revocation.revoke(services, work, leaked)
    services.directory.clear_cache()
    assert revoked.signs == rotated
    assert {key["kid"] for key in published(rsa)} == {remaining, rotated}
    assert elliptic.userinfo(of_elliptic["access_token"]).status_code == 401
    assert rsa.userinfo(of_rsa["access_token"]).status_code == 200
    assert header_of(tokens_of(elliptic, browser, ada)["id_token"])["kid"] == rotated
    assert header_of(tokens_of(rsa, browser, ada)["id_token"])["kid"] == remaining


@pytest.mark.both_databases
def test_only_key_of_algorithm_is_replaced_at_revocation(
    services: IdentityServices, world: World, browser: Browser, ada: Person
) -> None:
    client = signed_with(world, "EdDSA")
    leaked = header_of(tokens_of(client, browser, ada)["id_token"])["kid"]
    with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
        revoked = key_revocation.revoke(services, work, leaked)
    services.directory.clear_cache()
    header = header_of(tokens_of(client, browser, ada)["id_token"])
    assert (header["alg"], header["kid"]) == ("EdDSA", revoked.signs)


@pytest.mark.both_databases
def test_rotated_key_signs_after_its_lead(
    services: IdentityServices, world: World, browser: Browser, ada: Person
) -> None:
    client = world.application("signed", id_token_signed_response_alg="ES256")
    tokens_of(client, browser, ada)
    with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
        rotated = services.signing_keys.rotate(work, "ES256")
    assert isinstance(services.clock, MovableClock)
    pass_time(services, seconds=(LEAD + timedelta(minutes=1)).total_seconds())
    services.signing_keys.clear_cache()
    assert header_of(tokens_of(client, browser, ada)["id_token"])["kid"] == rotated


def test_every_process_signs_with_the_same_key(services: IdentityServices, world: World) -> None:
    other = create_services(services.settings, services.clock)
    with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
        first = services.signing_keys.sign(work, {"sub": "ada"}, algorithm="EdDSA")
    with UnitOfWork(other.database, world.tenant_id).separate_transaction() as work:
        second = other.signing_keys.sign(work, {"sub": "ada"}, algorithm="EdDSA")
    other.database.dispose()
    assert first == second


def test_key_of_a_rolled_back_request_never_signs_again(
    services: IdentityServices, world: World, browser: Browser, ada: Person
) -> None:
    """A request that has written creates a missing key in its own transaction."""
    client = world.application("signed", id_token_signed_response_alg="ES256")
    with call_of(services, world.name) as call:
        call.work.run(accounts.update().where(accounts.c.uid == ada.uid).values(email=ada.email))
        lost = header_of(services.signing_keys.sign(call.work, {"sub": "ada"}, algorithm="ES256"))["kid"]
    assert lost not in {key["kid"] for key in published(client)}
    kid = header_of(tokens_of(client, browser, ada)["id_token"])["kid"]
    assert kid != lost
    assert kid in {key["kid"] for key in published(client)}


@pytest.mark.parametrize("is_registered", [True, False])
def test_every_process_publishes_a_new_key_at_once(
    services: IdentityServices, world: World, shop: RelyingParty, *, is_registered: bool
) -> None:
    """A relying party may fetch the key set from a process that did not create the key."""
    published(shop)
    other = create_services(services.settings, services.clock)
    with UnitOfWork(other.database, world.tenant_id).separate_transaction() as work:
        if is_registered:
            other.signing_keys.publish(work, ["ES256"])
        else:
            other.signing_keys.sign(work, {"sub": "ada"}, algorithm="ES256")
    other.database.dispose()
    services.directory.clear_cache()  # as its copy grows old within seconds
    assert {key["alg"] for key in published(shop)} == {"RS256", "ES256"}


def test_key_is_published_when_application_registers_itself(new_world: NewWorld) -> None:
    """RFC 7591 section 3.2.1."""
    world = new_world(client_registration={"mode": "open"})
    client = world.application("any")
    assert [key["alg"] for key in published(client)] == ["RS256"]
    body = {"redirect_uris": ["https://rp.example/cb"], "id_token_signed_response_alg": "EdDSA"}
    answer = world.wsgi.post("/api/oidc/register", json=body, base_url=client.hub_url)
    assert answer.status_code == 201, answer.text
    world.services.directory.clear_cache()
    assert {key["alg"] for key in published(client)} == {"RS256", "EdDSA"}


def test_either_name_of_the_curve_is_signed_and_accepted_alone(world: World, browser: Browser, ada: Person) -> None:
    """RFC 9864 section 2.2: a client is registered for one name, and gets that one, with a key that states it."""
    for name, other in (("EdDSA", "Ed25519"), ("Ed25519", "EdDSA")):
        client = signed_with(world, name, name)
        signed = (client.redeem(browser.code(client, ada)).json or {})["id_token"]
        header = jws.extract_compact(signed.encode()).headers()
        (key,) = [item for item in published(client) if item["kid"] == header["kid"]]
        assert (header["alg"], key["alg"], key["crv"]) == (name, name, "Ed25519")
        step = browser.authorize(client.authorization_parameters(id_token_hint=signed, prompt="none"))
        assert "code" in parameters_of(step)
        head, _, rest = signed.partition(".")
        forged = json.loads(urlsafe_b64decode(head + "=" * (-len(head) % 4))) | {"alg": other}
        renamed = urlsafe_b64encode(json.dumps(forged).encode()).rstrip(b"=").decode()
        step = browser.authorize(client.authorization_parameters(id_token_hint=f"{renamed}.{rest}", prompt="none"))
        assert parameters_of(step)["error"] == "invalid_request"


def test_who_waits_for_new_keys_holds_no_connection(services: IdentityServices, world: World) -> None:
    """Else as many requests as a pooler has connections would keep them from the request that creates the keys."""
    other = create_services(services.settings, services.clock)
    keys = other.signing_keys
    assert isinstance(keys, StoredSigningKeys)
    work = UnitOfWork(other.database, world.tenant_id)
    work.one(text("SELECT 1"))
    with keys._lock:
        waiting = Thread(target=keys.current, args=(work, "ES256"))
        waiting.start()
        eventually(lambda: work._borrowed is None)
    waiting.join()
    work.rollback()
    other.database.dispose()
