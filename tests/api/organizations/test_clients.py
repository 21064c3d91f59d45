"""Servers call the operations of organizations with a client's id and secret in the query."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.contract.applications.settings import ApplicationSettings
from app.identity.directory.tenants.tables import applications
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from tests.support.oauth.relying_party import moved
from tests.support.organizations.management import PATH
from tests.support.tenants.machines import SECRET, audience, machine
from tests.support.tenants.machines import ask as as_machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server()


def client_of(tenant: TenantServer, *scopes: str) -> str:
    """Register a client with these scopes and return its id."""
    before = clients_of(tenant)
    machine(tenant, *scopes)
    return (clients_of(tenant) - before).pop()


def clients_of(tenant: TenantServer) -> set[str]:
    work = UnitOfWork(tenant.services.database, tenant.tenant_id)
    where = applications.c.tenant_id == tenant.tenant_id
    try:
        return {row.client_id for row in work.all(select(applications.c.client_id).where(where))}
    finally:
        work.rollback()


def ask(tenant: TenantServer, client_id: str, method: str = "GET", body: Any = None, **query: Any) -> TestResponse:
    credentials = {"apikey": None, "clientID": client_id, "clientSecret": SECRET}
    return tenant.send(method, PATH, body, with_secret=False, **{**credentials, **query})


@pytest.mark.both_databases
def test_pair_with_the_scope_is_admitted(tenant: TenantServer) -> None:
    client = client_of(tenant, "organization:read")
    assert answered(ask(tenant, client)) == {"Data": []}
    assert answered(ask(tenant, client, apikey=tenant.api_key)) == {"Data": []}
    assert refused(ask(tenant, client, "POST", {"Name": "x"})) == (403, 6002)


@pytest.mark.both_databases("first")
@pytest.mark.parametrize(
    "query",
    [{"clientSecret": "wrong"}, {"clientSecret": None}, {"clientID": "unknown"}, {"clientID": None}],
    ids=str,
)
def test_wrong_pair_is_refused(tenant: TenantServer, query: dict[str, Any]) -> None:
    client = client_of(tenant, "all")
    for key in (None, tenant.api_key):
        assert refused(ask(tenant, client, **{"apikey": key, **query})) == (403, 6002)


def test_pair_opens_its_own_tenant_alone(tenant: TenantServer, new_tenant_server: NewTenantServer) -> None:
    client, other = client_of(tenant, "all"), new_tenant_server()
    assert answered(ask(tenant, client, "POST", {"Name": "Acme"}))["Name"] == "Acme"
    assert refused(ask(other, client, apikey=other.api_key)) == (403, 6002)
    assert answered(other.send("GET", PATH)) == {"Data": []}


def test_pair_is_no_credential_of_other_operations(tenant: TenantServer) -> None:
    client = client_of(tenant, "all")
    answer = tenant.send(
        "GET",
        "/identity/v2/manage/account",
        with_secret=False,
        email="a@b.example",
        clientID=client,
        clientSecret=SECRET,
    )
    assert refused(answer) == (400, 923)


def test_pair_may_not_state_that_a_domain_is_verified(tenant: TenantServer) -> None:
    client = client_of(tenant, "all")
    body = {"Name": "Acme", "Domains": [{"DomainName": "acme.example", "IsVerified": True}]}
    assert refused(ask(tenant, client, "POST", body)) == (400, 7900)
    assert answered(ask(tenant, client, "POST", {**body, "Domains": [{"DomainName": "acme.example"}]}))["Domains"]


def test_guessed_pairs_of_one_network_are_limited(tenant: TenantServer) -> None:
    client = client_of(tenant, "all")
    answers = [ask(tenant, client, clientSecret=f"guess {number}", apikey=None) for number in range(201)]
    assert {refused(answer) for answer in answers[:200]} == {(403, 6002)}
    assert refused(answers[200]) == (429, 429)


def test_secret_beside_the_pair_decides(tenant: TenantServer) -> None:
    answer = tenant.send("GET", PATH, clientID="unknown", clientSecret="wrong")
    assert answered(answer) == {"Data": []}
    assert refused(tenant.send("GET", PATH, clientID="x", apisecret="wrong")) == (401, 902)


# An attacker who holds a client, a pair, or a guess


def registered(tenant: TenantServer, secret: str = SECRET, **settings: Any) -> str:
    """Register a client with these settings and a secret, even if its method does not use it, and return its id."""
    stored = ApplicationSettings.model_validate(
        {
            "name": f"client{randomness.uid()[:8]}",
            "redirect_uris": ("https://shop.example/in",),
            "audience_scopes": {audience(tenant): ("organization:read",)},
            **settings,
        }
    )
    row = {
        "tenant_id": tenant.tenant_id, "client_id": stored.name, "name": stored.name.lower(), "secret_hash": randomness.digest(secret),
        "settings": stored.model_dump(mode="json", exclude_unset=True), "created_at": tenant.services.clock.now(),
    }  # fmt: skip
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        work.run(applications.insert(), row)
    return stored.name


@pytest.mark.both_databases
def test_pair_needs_no_grant_for_its_scopes(tenant: TenantServer) -> None:
    client = registered(tenant)
    assert answered(ask(tenant, client)) == {"Data": []}
    assert answered(ask(tenant, client, apikey=tenant.api_key)) == {"Data": []}


def test_pair_has_scopes_of_its_audience_alone(tenant: TenantServer) -> None:
    other = {"https://api.example": ("organization:read", "all")}
    near = {f"{audience(tenant)}/": ("all",), audience(tenant).upper(): ("all",)}
    for settings in (
        {"audience_scopes": other},
        {"audience_scopes": near},
        {"audience_scopes": {}, "scope": "openid organization:read all"},
        {"audience_scopes": {}, "interface_access": "full"},
        {"audience_scopes": {}, "resource_server": True},
    ):
        assert refused(ask(tenant, registered(tenant, **settings))) == (403, 6002), settings
    assert refused(ask(tenant, registered(tenant), "POST", {"Name": "x"})) == (403, 6002)


UNUSABLE: list[dict[str, Any]] = [
    {"is_active": False},
    {"token_endpoint_auth_method": "none"},
    {"token_endpoint_auth_method": "client_secret_jwt"},
    {"token_endpoint_auth_method": "private_key_jwt"},
    {"token_endpoint_auth_method": "tls_client_auth"},
    {"token_endpoint_auth_method": "self_signed_tls_client_auth"},
    {"dpop_bound_access_tokens": True},
    {"tls_client_certificate_bound_access_tokens": True},
    {"security_profile": "fapi2"},
]


def test_secret_that_proves_too_little_is_refused(tenant: TenantServer, subtests: pytest.Subtests) -> None:
    for settings in UNUSABLE:
        with subtests.test(str(settings)):
            client = registered(tenant, **settings)
            for key in (None, tenant.api_key):
                assert refused(ask(tenant, client, apikey=key)) == (403, 6002)


def test_pair_names_are_read_in_the_query_alone(tenant: TenantServer) -> None:
    client = registered(tenant)
    for names in (("clientid", "clientsecret"), ("ClientId", "ClientSecret"), ("CLIENTID", "CLIENTSECRET")):
        query: dict[str, Any] = dict(zip(names, (client, SECRET), strict=True))
        answer = tenant.send("GET", PATH, apikey=None, with_secret=False, **query)
        assert answered(answer) == {"Data": []}, names
    pair: dict[str, Any] = {"clientID": client, "clientSecret": SECRET}
    in_header = tenant.send("GET", PATH, apikey=None, with_secret=False, headers=pair)
    in_body = tenant.send("POST", PATH, {"Name": "x", **pair}, apikey=None, with_secret=False)
    snake = tenant.send("GET", PATH, apikey=None, with_secret=False, client_id=client, client_secret=SECRET)
    assert [refused(item) for item in (in_header, in_body, snake)] == [(400, 908)] * 3


def test_repeated_name_of_the_pair_is_refused(tenant: TenantServer) -> None:
    client, other = registered(tenant), registered(tenant)
    twice: list[dict[str, Any]] = [
        {"clientID": [client, other]},
        {"clientSecret": [SECRET, "other"]},
        {"clientSecret": [SECRET, SECRET]},
    ]
    for repeated in twice:
        assert refused(ask(tenant, client, **repeated)) == (403, 6002), repeated


def test_other_credential_beside_the_pair_decides_alone(
    tenant: TenantServer, new_tenant_server: NewTenantServer
) -> None:
    client, other = registered(tenant), new_tenant_server()
    pair: dict[str, Any] = {"clientID": client, "clientSecret": SECRET}
    weak = machine(tenant, "role:read")
    refusals = [
        tenant.send("GET", PATH, bearer="wrong", **{"apikey": None, **pair}),
        tenant.send("GET", PATH, bearer=weak, **{"apikey": None, **pair}),
        tenant.send("GET", PATH, bearer=machine(other, "organization:read"), **pair),
        ask(tenant, client, apikey=other.api_key),
        tenant.send(
            "GET",
            PATH,
            with_secret=False,
            headers={"digest": "SHA-256=x", "X-Request-Expires": "2099-01-01 00:00:00"},
            **pair,
        ),
        tenant.send("GET", PATH, apisecret=other.api_secret, **pair),
    ]
    assert [refused(refusal)[0] for refusal in refusals[:4]] == [403] * 4
    assert {refused(refusal)[1] for refusal in refusals[4:]} <= {1208, 1212, 902}
    strong = machine(tenant, "organization:read")
    assert answered(tenant.send("GET", PATH, bearer=strong, **{"apikey": None, **pair, "clientSecret": "x"}))


def test_same_pair_at_two_tenants_needs_the_api_key(tenant: TenantServer, new_tenant_server: NewTenantServer) -> None:
    other = new_tenant_server()
    client = registered(tenant)
    registered(other, name=client)
    assert refused(ask(tenant, client)) == (403, 6002)
    assert answered(ask(tenant, client, apikey=tenant.api_key)) == {"Data": []}


def test_guesses_with_an_api_key_are_limited(tenant: TenantServer) -> None:
    client = registered(tenant)
    guesses = [ask(tenant, client, clientSecret=f"guess {number}", apikey=tenant.api_key) for number in range(200)]
    assert {refused(guess) for guess in guesses} == {(403, 6002)}
    for key in (None, tenant.api_key):
        assert refused(ask(tenant, client, apikey=key)) == (429, 429), "the right secret does not tell either"


def test_former_secret_ends_after_its_overlap(tenant: TenantServer) -> None:
    token = machine(tenant, "all")
    body = {
        "AppName": "Shop",
        "RedirectURIs": ["https://shop.example/in"],
        "AudienceScopes": {audience(tenant): ["organization:read"]},
    }
    made = answered(as_machine(tenant, token, "POST", "/v2/manage/oauth-clients", body))
    rotated = answered(as_machine(tenant, token, "PUT", "/v2/manage/oauth-clients/credentials/Shop", {}))
    pairs = [{"clientSecret": item["ClientSecret"]} for item in (made, rotated)]
    assert [ask(tenant, made["ClientId"], **pair).status_code for pair in pairs] == [200, 200]
    with moved(tenant.services, hours=25):
        assert [ask(tenant, made["ClientId"], **pair).status_code for pair in pairs] == [403, 200]
