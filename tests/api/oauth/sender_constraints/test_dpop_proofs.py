"""The checks of DPoP proofs, and their single use (RFC 9449 sections 4.3 and 11.1)."""

from __future__ import annotations

import base64
import json
import secrets
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from joserfc import jws
from joserfc.errors import SecurityWarning
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from werkzeug.test import Client as WsgiClient
from werkzeug.test import TestResponse

from app.identity import create_app, create_service, create_services
from app.identity.platform.services import IdentityServices
from app.identity.protocols.oauth.sender_constraints import dpop
from app.kit.limits.nonces import Nonces
from app.kit.operations.request_parsing import RawRequest
from tests.support.oauth.dpop import Prover
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, moved
from tests.support.oauth.signed_requests import part
from tests.support.oauth.world import World
from tests.support.tenants.callers import call_of


def status_and_error(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {})["error"]


@pytest.fixture
def prover(shop: RelyingParty) -> Prover:
    return Prover(shop)


def changed_header(**members: Any) -> Callable[[Prover, str], str]:
    return lambda prover, address: prover.dpop_proof("POST", address, header=members)


def changed_claims(**members: Any) -> Callable[[Prover, str], str]:
    return lambda prover, address: prover.dpop_proof("POST", address, **members)


def with_private_key(prover: Prover, address: str) -> str:
    return prover.dpop_proof("POST", address, header={"jwk": prover.key.as_dict(private=True)})


def unsigned(prover: Prover, address: str) -> str:
    head, payload, _ = prover.dpop_proof("POST", address, header={"alg": "none"}).split(".")
    return f"{head}.{payload}."


def signed_by_another(prover: Prover, address: str) -> str:
    return Prover(prover.client).dpop_proof("POST", address, header={"jwk": prover.public_jwk})


def with_weak_key(prover: Prover, address: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return Prover(prover.client, "RS256", RSAKey.generate_key(1024)).dpop_proof("POST", address)


def with_shared_secret(prover: Prover, address: str) -> str:
    key = OctKey.generate_key(256)
    return Prover(prover.client, "HS256", key).dpop_proof("POST", address, header={"jwk": key.as_dict()})


def with_other_curve(prover: Prover, address: str) -> str:
    return prover.dpop_proof("POST", address, header={"jwk": ECKey.generate_key("P-384").as_dict(private=False)})


def with_other_edwards_curve(prover: Prover, address: str) -> str:
    return Prover(prover.client, "EdDSA", OKPKey.generate_key("Ed448")).dpop_proof("POST", address)


def twice(prover: Prover, address: str) -> str:
    return f"{prover.dpop_proof('POST', address)},{prover.dpop_proof('POST', address)}"


WRONG: dict[str, Callable[[Prover, str], str]] = {
    "empty": lambda *_: "",
    "no JWT": lambda *_: "a.b.c",
    "no text": lambda *_: "\xe4.b.c",
    "too long": changed_claims(more="x" * 9_000),
    "several": twice,
    "no typ": changed_header(typ=None),
    "another typ": changed_header(typ="JWT"),
    "typ as a media type": changed_header(typ="application/dpop+jwt"),
    "alg none": unsigned,
    "alg HS256": with_shared_secret,
    "alg of another key": changed_header(alg="RS256"),
    "alg that is no text": changed_header(alg=["ES256"]),
    "no jwk": changed_header(jwk=None),
    "jwk that is no object": changed_header(jwk="key"),
    "empty jwk": changed_header(jwk={}),
    "jwk with huge numbers": changed_header(jwk={"kty": "RSA", "n": "x" * 3_000, "e": "x" * 3_000}),
    "jwk off the curve": changed_header(jwk={"kty": "EC", "crv": "P-256", "x": "A" * 43, "y": "A" * 43}),
    "private jwk": with_private_key,
    "weak key": with_weak_key,
    "another curve": with_other_curve,
    "another Edwards curve": with_other_edwards_curve,
    "signed by another key": signed_by_another,
    "crit": changed_header(crit=["exp"], exp=1),
    "no jti": changed_claims(jti=None),
    "jti that is no text": changed_claims(jti=7),
    "empty jti": changed_claims(jti=""),
    "no htm": changed_claims(htm=None),
    "another method": changed_claims(htm="GET"),
    "method in lower case": changed_claims(htm="post"),
    "no htu": changed_claims(htu=None),
    "htu that is no text": changed_claims(htu=["https://shop.example"]),
    "htu with a wrong port": changed_claims(htu="http://shop.example:x/"),
    "another host": changed_claims(htu="http://evil.example/api/oidc/token"),
    "only the path": changed_claims(htu="/api/oidc/token"),
    "no iat": changed_claims(iat=None),
    "iat that is no number": changed_claims(iat="1"),
    "iat that is true": changed_claims(iat=True),
    "old": changed_claims(iat=1),
    "of the future": changed_claims(iat=99_999_999_999),
    "infinite iat": changed_claims(iat=float("inf")),
    "iat that is no number at all": changed_claims(iat=float("nan")),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_dpop_proof_is_refused_and_keeps_the_code(
    prover: Prover, browser: Browser, ada: Person, name: str
) -> None:
    """(RFC 9449 section 4.3)"""
    code = browser.code(prover.client, ada)
    answer = prover.redeem(code, WRONG[name](prover, f"{prover.client.hub_url}/api/oidc/token"))
    assert status_and_error(answer) == (400, "invalid_dpop_proof")
    assert prover.redeem(code).status_code == 200


FORGED: dict[str, Callable[[str, str], str]] = {
    "claims of another": lambda good, other: ".".join((good.split(".")[0], *other.split(".")[1:])),
    "no signature": lambda good, _: f"{good.rpartition('.')[0]}.",
    "padded signature": lambda good, _: f"{good}==",
    "claims that are no object": lambda good, _: ".".join((good.split(".")[0], part([1]), good.split(".")[2])),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_dpop_proof_of_a_known_key_is_refused(prover: Prover, browser: Browser, ada: Person, name: str) -> None:
    """(RFC 9449 section 4.3): the process keeps what a header says, never that a signature was right."""
    prover.bound(browser, ada)
    address = f"{prover.client.hub_url}/api/oidc/token"
    good, other = (item.dpop_proof("POST", address) for item in (prover, Prover(prover.client)))
    assert status_and_error(prover.redeem("x", FORGED[name](good, other))) == (400, "invalid_dpop_proof")


def test_dpop_proof_without_claims_is_refused(prover: Prover) -> None:
    """(RFC 9449 section 4.2)"""
    head = prover.dpop_proof("POST", "x").split(".")[0]
    for payload in ("W10", "e30", "bnVsbA", "x"):
        signature = jws.JWSRegistry.algorithms["ES256"].sign(f"{head}.{payload}".encode(), prover.key)
        forged = f"{head}.{payload}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"
        assert status_and_error(prover.redeem("x", forged)) == (400, "invalid_dpop_proof")


def test_deeply_nested_dpop_proof_is_refused(prover: Prover) -> None:
    """(RFC 9449 section 4.3)"""
    nested = "[" * 2_000 + "]" * 2_000
    jwk = json.dumps(prover.public_jwk)
    header = f'{{"typ": "dpop+jwt", "alg": "ES256", "jwk": {jwk}, "more": {nested}}}'
    head, payload = (base64.urlsafe_b64encode(text.encode()).decode().rstrip("=") for text in (header, nested))
    for dpop_proof in (f"{head}.e30.{'x' * 86}", f"{part({'typ': 'dpop+jwt', 'alg': 'ES256'})}.{payload}.{'x' * 86}"):
        assert status_and_error(prover.redeem("x", dpop_proof)) == (400, "invalid_dpop_proof")


@pytest.mark.parametrize(
    "address",
    ["{url}/api/oidc/token?a=b", "{url}/api/oidc/token#c", "{upper}/api/oidc/token", "{url}/api/oidc/%74oken"],
)
def test_equal_addresses_are_accepted(prover: Prover, browser: Browser, ada: Person, address: str) -> None:
    """(RFC 9449 section 4.3): without query and fragment, normalized (RFC 3986 section 6.2.2)."""
    url = prover.client.hub_url
    htu = address.format(url=url, upper=url.upper())
    assert prover.redeem(browser.code(prover.client, ada), prover.dpop_proof("POST", htu)).status_code == 200


@pytest.mark.parametrize(
    "address", ["{url}/api/oidc/Shop/token", "{url}/api/oidc/revoke", "https://{host}/api/oidc/token"]
)
def test_dpop_proof_for_another_address_is_refused(prover: Prover, address: str) -> None:
    """(RFC 9449 section 4.3)"""
    url = prover.client.hub_url
    htu = address.format(url=url, host=url.partition("://")[2])
    assert status_and_error(prover.redeem("x", prover.dpop_proof("POST", htu))) == (400, "invalid_dpop_proof")


def test_forwarded_host_is_not_trusted(browser: Browser, ada: Person, prover: Prover) -> None:
    """(RFC 9449 section 4.3): the address is one of ours, whatever the request says of it."""
    path, shop = "/api/oidc/token", prover.client
    form = {"grant_type": "authorization_code", "code": browser.code(shop, ada), "redirect_uri": shop.redirect_uri}
    evil = prover.dpop_proof("POST", f"http://evil.example{path}")
    headers = {"DPoP": evil, "X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    answer = shop.post(path, {**form, **shop.client_credentials()}, headers=headers)
    assert status_and_error(answer) == (400, "invalid_dpop_proof")


def test_dpop_proof_names_the_custom_domain_of_its_request(world: World, prover: Prover) -> None:
    """(RFC 9449 section 4.3)"""
    base = world.services.settings.custom_url(world.add_custom_domain())
    form = {"grant_type": "authorization_code", "code": "x", "redirect_uri": "x", **prover.client.client_credentials()}

    def error(address: str) -> str:
        headers = {"DPoP": prover.dpop_proof("POST", f"{address}/api/oidc/token")}
        answer = world.wsgi.post("/api/oidc/token", data=form, base_url=base, headers=headers)
        return str((answer.json or {})["error"])

    assert error(base) == "invalid_grant"
    assert error(prover.client.hub_url) == "invalid_dpop_proof", "the tenant's other address is not the request's"


def test_own_issuer_takes_dpop_proofs_for_its_address(browser: Browser, ada: Person, shop: RelyingParty) -> None:
    """(RFC 9449 section 4.3)"""
    prover = Prover(shop.at_own_issuer())
    assert prover.bound(browser, ada)["token_type"] == "DPoP"


@pytest.mark.parametrize(("seconds", "status"), [(-58, 200), (58, 200), (-62, 400), (62, 400)])
def test_iat_may_be_a_minute_off(
    services: IdentityServices, prover: Prover, browser: Browser, ada: Person, seconds: int, status: int
) -> None:
    """(RFC 9449 section 11.1)"""
    at = int(services.clock.now().timestamp()) + seconds
    dpop_proof = prover.dpop_proof("POST", f"{prover.client.hub_url}/api/oidc/token", iat=at)
    assert prover.redeem(browser.code(prover.client, ada), dpop_proof).status_code == status


def test_nbf_and_exp_of_a_dpop_proof_are_no_error(prover: Prover, browser: Browser, ada: Person) -> None:
    """RFC 9449 section 4.2: a proof may have further claims."""
    now, hub_url = int(prover.client.services.clock.now().timestamp()), prover.client.hub_url
    more: dict[str, Any] = {"nbf": now, "exp": now + 300}
    answer = prover.redeem(
        browser.code(prover.client, ada), prover.dpop_proof("POST", f"{hub_url}/api/oidc/token", **more)
    )
    token = (answer.json or {})["access_token"]
    sent = prover.dpop_proof("GET", f"{hub_url}/service/oidc/userinfo", token=token, **more)
    assert (answer.status_code, prover.userinfo(token, sent).status_code) == (200, 200)


def test_dpop_proof_is_used_once_by_its_key(prover: Prover, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 11.1)"""
    dpop_proof = prover.dpop_proof("POST", f"{prover.client.hub_url}/api/oidc/token", jti="the same")
    assert prover.redeem(browser.code(prover.client, ada), dpop_proof).status_code == 200
    assert status_and_error(prover.redeem(browser.code(prover.client, ada), dpop_proof)) == (400, "invalid_dpop_proof")
    another = Prover(prover.client)
    dpop_proof = another.dpop_proof("POST", f"{prover.client.hub_url}/api/oidc/token", jti="the same")
    assert another.redeem(browser.code(prover.client, ada), dpop_proof).status_code == 200


@pytest.mark.parametrize("is_shared", [False, True], ids=["memory", "redis"])
@pytest.mark.parametrize("first", [False, True], ids=["without nonce", "with nonce"])
@pytest.mark.parametrize("second", [False, True], ids=["without nonce", "with nonce"])
def test_jti_in_a_newer_dpop_proof_is_refused(
    services: IdentityServices, prover: Prover, redis_url: str, is_shared: bool, first: bool, second: bool
) -> None:
    """(RFC 9449 section 11.1): the `jti` counts once, whatever `iat` and `nonce` stand beside it."""
    own = create_services(replace(services.settings, redis_url=redis_url if is_shared else ""), services.clock)
    prover.client = replace(prover.client, wsgi=WsgiClient(create_app(create_service(own))))
    nonces = [None if not item else prover.redeem("x").headers["DPoP-Nonce"] for item in (first, second)]
    now, address = int(services.clock.now().timestamp()), f"{prover.client.hub_url}/api/oidc/token"
    errors = []
    for seconds, prover.nonce in enumerate(nonces):
        dpop_proof = prover.dpop_proof("POST", address, jti="the same", iat=now - 20 + 10 * seconds)
        errors.append(status_and_error(prover.redeem("unknown", dpop_proof))[1])
    own.database.dispose()
    assert errors == ["invalid_grant", "invalid_dpop_proof"]


def test_jti_beside_the_next_nonce_is_refused(services: IdentityServices, prover: Prover) -> None:
    """(RFC 9449 sections 8 and 11.1)"""
    errors = []
    for seconds in (0, dpop.NONCE_SECONDS):
        with moved(services, seconds=seconds):
            prover.nonce = prover.redeem("x").headers["DPoP-Nonce"]
            dpop_proof = prover.dpop_proof("POST", f"{prover.client.hub_url}/api/oidc/token", jti="of two nonces")
            errors.append(status_and_error(prover.redeem("unknown", dpop_proof))[1])
    assert errors == ["invalid_grant", "invalid_dpop_proof"]


@pytest.mark.parametrize("with_nonce", [False, True])
@pytest.mark.parametrize("seconds", [1, 30, 59])
def test_dpop_proof_is_remembered_for_its_whole_life(
    services: IdentityServices, prover: Prover, with_nonce: bool, seconds: int
) -> None:
    """(RFC 9449 section 11.1): the time of the second use does not matter."""
    prover.nonce = prover.redeem("unknown").headers["DPoP-Nonce"] if with_nonce else None
    proof = prover.dpop_proof("POST", f"{prover.client.hub_url}/api/oidc/token")
    assert status_and_error(prover.redeem("unknown", proof)) == (400, "invalid_grant")
    with moved(services, seconds=seconds):
        assert status_and_error(prover.redeem("unknown", proof)) == (400, "invalid_dpop_proof")


def test_retry_of_a_request_may_use_its_dpop_proof_again(services: IdentityServices, prover: Prover) -> None:
    """(RFC 9449 section 11.1): the store aborted its transaction, so the service runs it again."""
    address, expected = f"{prover.client.hub_url}/api/oidc/token", dpop.ExpectedDpop()
    headers = {"dpop": prover.dpop_proof("POST", address)}
    with call_of(services, prover.client.tenant_name) as context:
        host = context.raw.host
        context.raw = RawRequest("POST", "/api/oidc/token", "", headers, b"", host=host)
        assert [dpop.verify(context, expected) for _ in range(2)] == [prover.thumbprint] * 2
        context.raw = RawRequest("POST", "/api/oidc/token", "", headers, b"", host=host, is_repeated=True)
        with pytest.raises(dpop.DpopProofRefused):
            dpop.verify(context, expected)


def test_refused_request_uses_its_dpop_proof_up(prover: Prover) -> None:
    """(RFC 9449 section 11.1)"""
    dpop_proof = prover.dpop_proof("POST", f"{prover.client.hub_url}/api/oidc/token")
    assert status_and_error(prover.redeem("unknown", dpop_proof)) == (400, "invalid_grant")
    assert status_and_error(prover.redeem("unknown", dpop_proof)) == (400, "invalid_dpop_proof")


@pytest.mark.both_databases
def test_one_of_many_requests_with_one_dpop_proof_wins(prover: Prover, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 11.1)"""
    token = prover.bound(browser, ada)["access_token"]
    dpop_proof = prover.dpop_proof("GET", f"{prover.client.hub_url}/service/oidc/userinfo", token=token)
    with ThreadPoolExecutor(10) as pool:
        statuses = list(pool.map(lambda _: prover.userinfo(token, dpop_proof).status_code, range(20)))
    assert (statuses.count(200), statuses.count(401)) == (1, 19)


@pytest.mark.both_databases
def test_one_of_many_token_requests_with_one_dpop_proof_wins(prover: Prover, browser: Browser, ada: Person) -> None:
    """(RFC 9449 section 11.1)"""
    codes = [browser.code(prover.client, ada) for _ in range(20)]
    dpop_proof = prover.dpop_proof("POST", f"{prover.client.hub_url}/api/oidc/token")
    with ThreadPoolExecutor(10) as pool:
        statuses = list(pool.map(lambda code: prover.redeem(code, dpop_proof).status_code, codes))
    assert (statuses.count(200), statuses.count(400)) == (1, 19)


def test_dpop_proof_used_at_another_instance_is_refused(
    services: IdentityServices, prover: Prover, redis_url: str
) -> None:
    """(RFC 9449 section 11.1)"""
    instances = [create_services(replace(services.settings, redis_url=redis_url), services.clock) for _ in range(2)]
    proof = prover.dpop_proof("POST", f"{prover.client.hub_url}/api/oidc/token")
    errors = []
    for instance in instances:
        client = replace(prover.client, wsgi=WsgiClient(create_app(create_service(instance))))
        errors.append(status_and_error(Prover(client).redeem("unknown", proof))[1])
        instance.database.dispose()
    assert errors == ["invalid_grant", "invalid_dpop_proof"]


def test_used_dpop_proofs_are_forgotten_after_they_expired(services: IdentityServices, prover: Prover) -> None:
    """(RFC 9449 section 11.1): the store is bounded by time."""
    services.used_proofs = Nonces(None, dpop.REPLAY_SECONDS, elapsed=lambda: services.clock.now().timestamp())
    dpop_proof = prover.dpop_proof("POST", f"{prover.client.hub_url}/api/oidc/token")
    prover.redeem("unknown", dpop_proof)
    assert services.used_proofs._taken
    with moved(services, seconds=2 * dpop.REPLAY_SECONDS + 2):
        now = int(services.clock.now().timestamp())
        assert services.used_proofs.take("another", now, now)
        assert status_and_error(prover.redeem("unknown", dpop_proof)) == (400, "invalid_dpop_proof"), (
            "its iat is too old"
        )
        assert services.used_proofs._taken == {"another"}
        assert sum(map(len, services.used_proofs._ending.values())) == 1


def test_many_dpop_proofs_share_no_store_with_the_hub(services: IdentityServices, prover: Prover) -> None:
    """(RFC 9449 section 11.1): a client that fills the store of proofs does not stop the hub's calls."""
    assert services.used_proofs is not services.nonces
    assert prover.redeem(secrets.token_hex(8)).status_code == 400
