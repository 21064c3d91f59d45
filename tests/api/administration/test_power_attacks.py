"""A program with a narrow scope tries to gain by an edit what it lacks: tokens of a client, of a person, of an organization."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from joserfc import jws

from app.contract.applications.file import JWT_BEARER, TOKEN_EXCHANGE
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys.tenant_secrets import CONNECTIONS, encrypt_merged
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.resources.resource import MASKED
from tests.support.oauth.managed_clients import CLIENTS, SHOP, give, host_of, machine_token, worker
from tests.support.oauth.signed_requests import ASSERTION_TYPE, client_key, part, public_jwks
from tests.support.operations.resource_samples import SAMPLES
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient

KEYS = public_jwks(client_key("ES256"))
ISSUER = {"Issuer": "https://evil.example", "Jwks": KEYS}
LACKS = (403, 6002)
EDITS: dict[str, dict[str, Any]] = {
    "own keys": {"Jwks": KEYS, "TokenEndpointAuthMethod": "private_key_jwt"},
    "own key set": {"JwksUri": "https://evil.example/jwks", "TokenEndpointAuthMethod": "private_key_jwt"},
    "own certificate": {"TlsClientAuthSanDns": "evil.example", "TokenEndpointAuthMethod": "tls_client_auth"},
    "no authentication": {"TokenEndpointAuthMethod": "none"},
    "own address": {"RedirectURIs": ["https://evil.example/in"]},
    "own issuer": {"GrantTypes": [JWT_BEARER], "AssertionIssuers": [ISSUER], "RedirectURIs": []},
    "another grant": {"GrantTypes": ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"]},
    "exchange for others": {"GrantTypes": [TOKEN_EXCHANGE], "ExchangeAudiences": ["payroll"]},
    "own request address": {"RequestURIs": ["https://evil.example/request"]},
    "own logout address": {"PostLogoutRedirectURIs": ["https://evil.example/out"]},
    "own origin": {"AllowedCorsOrigin": ["https://evil.example"]},
    "off": {"IsActive": False},
    "nothing but a name": {"DisplayName": "Evil"},
    "no scopes": {"AudienceScopes": {}},
}


@pytest.fixture
def robber(acme: TenantServer) -> str:
    return machine(acme, "client:read", "client:create", "client:update", "client:delete")


def assertion_of(tenant: TenantServer, client_id: str) -> dict[str, str]:
    """Return a client assertion that the attacker's key signs (RFC 7523 section 2.2)."""
    now = int(tenant.services.clock.now().timestamp())
    claims = {"iss": client_id, "sub": client_id, "aud": host_of(tenant), "exp": now + 60, "jti": randomness.token(8)}
    key = client_key("ES256")
    signed = f"{part({'alg': 'ES256', 'kid': key.kid})}.{part(claims)}"
    mark = jws.JWSRegistry.algorithms["ES256"].sign(signed.encode(), key)
    text = f"{signed}.{base64.urlsafe_b64encode(mark).decode().rstrip('=')}"
    return {"client_assertion_type": ASSERTION_TYPE, "client_assertion": text}


@pytest.mark.parametrize("power", ["all", "interface", "resource server"])
def test_client_with_more_is_not_changed(
    acme: TenantServer, robber: str, power: str, subtests: pytest.Subtests
) -> None:
    root = machine(acme, "all")
    answered(ask(acme, root, "POST", CLIENTS, worker(acme, "all") if power == "all" else {**SHOP, "AppName": "Worker"}))
    if power != "all":
        give(acme, "Worker", **({"interface_access": "full"} if power == "interface" else {"resource_server": True}))
    before = ask(acme, root, "GET", f"{CLIENTS}/Worker").get_json()
    for edit, body in EDITS.items():
        with subtests.test(edit):
            assert refused(ask(acme, robber, "PUT", f"{CLIENTS}/Worker", body)) == LACKS
    assert refused(ask(acme, robber, "PUT", f"{CLIENTS}/credentials/Worker")) == LACKS
    assert refused(ask(acme, robber, "DELETE", f"{CLIENTS}/Worker")) == LACKS, "it would come again under its name"
    assert ask(acme, root, "GET", f"{CLIENTS}/Worker").get_json() == before


def test_own_keys_give_no_token_of_a_wider_client(acme: TenantServer, robber: str) -> None:
    made = answered(ask(acme, machine(acme, "all"), "POST", CLIENTS, worker(acme, "all")))
    ask(acme, robber, "PUT", f"{CLIENTS}/Worker", EDITS["own keys"])
    forged = machine_token(acme, made, client_secret=None, **assertion_of(acme, made["ClientId"]))
    assert forged.status_code >= 400
    assert "access_token" not in forged.get_json()
    answered(ask(acme, machine(acme, "all"), "PUT", f"{CLIENTS}/Worker", EDITS["own keys"]))
    answered(machine_token(acme, made, client_secret=None, **assertion_of(acme, made["ClientId"])))


def test_rotated_secret_gives_no_token_of_a_wider_client(acme: TenantServer, robber: str) -> None:
    made = answered(ask(acme, machine(acme, "all"), "POST", CLIENTS, worker(acme, "all")))
    rotated = ask(acme, robber, "PUT", f"{CLIENTS}/credentials/Worker").get_json()
    assert "ClientSecret" not in rotated
    assert machine_token(acme, {**made, "ClientSecret": rotated.get("ClientSecret", "guess")}).status_code == 403


def test_issuer_of_a_new_client_reads_no_account(acme: TenantServer, robber: str, subtests: pytest.Subtests) -> None:
    uid = acme.create()["Uid"]
    connected: dict[str, Any] = {
        "Subject": "identity",
        "Connection": "google",
        "CreatesAccounts": True,
        "TrustsEmail": True,
    }
    subjects: list[dict[str, Any]] = [{"Subject": "uid"}, {"Subject": "email"}, connected]
    for number, how in enumerate(subjects):
        body = {
            "AppName": f"Evil{number}",
            "GrantTypes": [JWT_BEARER],
            "RedirectURIs": [],
            "AssertionIssuers": [{**ISSUER, **how}],
        }
        with subtests.test(how["Subject"]):
            made = ask(acme, robber, "POST", CLIENTS, body)
            assert refused(made) == LACKS
            answered(ask(acme, robber, "POST", CLIENTS, {**SHOP, "AppName": f"Evil{number}"}))
            members = {name: value for name, value in body.items() if name != "AppName"}
            assert refused(ask(acme, robber, "PUT", f"{CLIENTS}/Evil{number}", members)) == LACKS
    assert answered(acme.send("GET", f"{MANAGE}/{uid}"))["Uid"] == uid, "the API secret reads on"


def test_client_that_may_act_for_others_is_not_changed(acme: TenantServer, robber: str) -> None:
    """Who signs in as a client that another one names in `may_act` exchanges the tokens of that one's people."""
    root = machine(acme, "all")
    stock = answered(ask(acme, robber, "POST", CLIENTS, {**SHOP, "AppName": "Stock"}))
    answered(ask(acme, robber, "PUT", f"{CLIENTS}/Stock", {"DisplayName": "Stock room"}))
    answered(ask(acme, root, "POST", CLIENTS, {**SHOP, "MayAct": [stock["ClientId"]]}))
    assert refused(ask(acme, robber, "PUT", f"{CLIENTS}/Stock", EDITS["own keys"])) == LACKS
    assert refused(ask(acme, robber, "PUT", f"{CLIENTS}/credentials/Stock")) == LACKS
    assert refused(ask(acme, robber, "DELETE", f"{CLIENTS}/Shop")) == LACKS
    answered(ask(acme, root, "PUT", f"{CLIENTS}/Shop", {"MayAct": []}))
    answered(ask(acme, robber, "PUT", f"{CLIENTS}/credentials/Stock"))


@pytest.mark.both_databases
def test_client_named_in_another_tenant_stays_free(acme: TenantServer, new_tenant_server: NewTenantServer) -> None:
    other, keeper = new_tenant_server(), machine(acme, "client:create", "client:update")
    stock = answered(ask(acme, keeper, "POST", CLIENTS, {**SHOP, "AppName": "Stock"}))
    body = {**SHOP, "MayAct": [stock["ClientId"]]}
    answered(ask(other, machine(other, "all"), "POST", CLIENTS, body))
    answered(ask(acme, keeper, "PUT", f"{CLIENTS}/credentials/Stock"))
    answered(ask(acme, machine(acme, "all"), "POST", CLIENTS, body))
    assert refused(ask(acme, keeper, "PUT", f"{CLIENTS}/credentials/Stock")) == LACKS


@pytest.mark.both_databases
def test_registration_token_changes_no_client_with_more(acme: TenantServer) -> None:
    """RFC 7592: who registered the application gains nothing by what the tenant gave it since."""
    acme.change_settings(client_registration={"mode": "open"})
    public, base = PlainClient(acme.app), host_of(acme)
    metadata = {"client_name": "Calendar", "redirect_uris": ["https://calendar.example/cb"]}
    made = public.post("/api/oidc/register", json=metadata, base_url=base).json or {}
    bearer = {"Authorization": f"Bearer {made['registration_access_token']}"}
    path = f"/api/oidc/register/{made['client_id']}"
    listed = answered(ask(acme, machine(acme, "client:read"), "GET", CLIENTS))["Data"]
    name = next(item["AppName"] for item in listed if item["ClientId"] == made["client_id"])
    give(acme, name, resource_server=True)
    change = {**metadata, "client_id": made["client_id"], "redirect_uris": ["https://evil.example/cb"]}
    answers = [public.put(path, json=change, base_url=base, headers=bearer)]
    answers.append(public.delete(path, base_url=base, headers=bearer))
    assert [(answer.status_code, (answer.json or {})["error"]) for answer in answers] == [(403, "access_denied")] * 2
    give(acme, name, resource_server=False)
    assert public.put(path, json=change, base_url=base, headers=bearer).status_code == 200


def test_repeated_creation_shows_no_secret_to_a_narrower_token(acme: TenantServer) -> None:
    """The stored response of an idempotent request has the secret of the new client."""
    made = answered(ask(acme, machine(acme, "all"), "POST", CLIENTS, worker(acme, "all")))
    wide, narrow = (
        answered(machine_token(acme, made, scope=item))["access_token"] for item in ("all", "client:create")
    )
    body, key = worker(acme, "all", name="Second"), {"Idempotency-Key": "a key"}
    second = answered(ask(acme, wide, "POST", CLIENTS, body, headers=key))
    assert answered(ask(acme, wide, "POST", CLIENTS, body, headers=key)) == second
    repeated = ask(acme, narrow, "POST", CLIENTS, body, headers=key)
    assert repeated.status_code in (403, 409)
    assert second["ClientSecret"] not in repeated.text


def test_name_in_another_case_does_not_stop_a_provider(acme: TenantServer) -> None:
    """Of two JWT providers whose names differ only in case neither signs in."""
    path, maker = "/v2/manage/custom-providers/jwt", machine(acme, "provider:create")
    checks = {
        "Issuer": {"ExpectedValue": "https://partner.example", "MatchValue": True, "IsMandatory": True},
        "Audience": {"ExpectedValues": ["acme"], "MatchValue": True, "IsMandatory": True},
    }
    body = {"AppName": "Partner", "Algo": "HS256", "Key": "k" * 32, **checks}
    answered(ask(acme, machine(acme, "all"), "POST", path, {**body, "Domain": "acme.example"}))
    assert refused(ask(acme, maker, "POST", path, {**body, "AppName": "PARTNER"})) == LACKS
    answered(ask(acme, maker, "POST", path, {**body, "AppName": "Other"}))


def test_narrow_token_of_a_wide_client_stays_narrow(acme: TenantServer) -> None:
    """The scopes of the token count, not those that its client could ask for."""
    made = answered(ask(acme, machine(acme, "all"), "POST", CLIENTS, worker(acme, "all")))
    narrow = answered(machine_token(acme, made, scope="client:update"))["access_token"]
    assert refused(ask(acme, narrow, "PUT", f"{CLIENTS}/credentials/Worker")) == LACKS


@pytest.mark.both_databases
def test_stored_secret_of_a_provider_goes_nowhere_else(acme: TenantServer, subtests: pytest.Subtests) -> None:
    """A sign-in sends the secret to `AccessTokenEndpoint`."""
    path, maker = "/v2/manage/custom-providers/oauth", machine(acme, "provider:update")
    body = {**SAMPLES["oauth_providers"].item(1), "ApplicationSecret": "of the partner"}
    answered(ask(acme, machine(acme, "all"), "POST", path, body))
    evil = {**body, "AccessTokenEndpoint": "https://evil.example/token"}
    for omitted in ({}, {"ApplicationSecret": None}, {"ApplicationSecret": ""}, {"ApplicationSecret": MASKED}):
        with subtests.test(str(omitted)):
            members = {name: value for name, value in evil.items() if name != "ApplicationSecret"}
            assert refused(ask(acme, maker, "PUT", path, {**members, **omitted})) == LACKS
    answered(ask(acme, maker, "PUT", path, {**body, "ApplicationSecret": MASKED, "Scope": "all"}))
    answered(ask(acme, maker, "PUT", path, {**evil, "ApplicationSecret": "of another"}))


@pytest.mark.both_databases
def test_secret_stored_meanwhile_goes_nowhere_else(acme: TenantServer) -> None:
    """A request that moves the address waits for the request that stores the first secret, and sees it."""
    path, maker = "/v2/manage/custom-providers/oauth", machine(acme, "provider:create", "provider:update")
    members = {name: item for name, item in SAMPLES["oauth_providers"].item(1).items() if name != "ApplicationSecret"}
    made = answered(ask(acme, maker, "POST", path, members))
    evil = {**members, "AccessTokenEndpoint": "https://evil.example/token"}
    encryption, secrets = acme.services.encryption, {CONNECTIONS: {made["ProviderName"]: "of the partner"}}
    with ThreadPoolExecutor(1) as pool:
        with UnitOfWork(acme.services.database, acme.tenant_id).separate_transaction() as work:
            work.begin()
            tenant_writes.lock(work)
            moved = pool.submit(ask, acme, maker, "PUT", path, evil)
            with pytest.raises(TimeoutError):
                moved.result(timeout=1)
            tenant_writes.change(work, service_secrets=encrypt_merged(encryption, acme.tenant_id, None, **secrets))
        assert refused(moved.result(timeout=20)) == LACKS
    answered(ask(acme, maker, "PUT", path, members))
