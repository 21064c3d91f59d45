"""Each application gets the claims that the tenant maps for it, and no more (RFC 9068 section 2.2.2)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.identity.protocols.oauth.claims.mapped_claims import MAX_TOKEN_BYTES
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in
from tests.support.oauth.world import World
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused

MAPPING = {
    "id_token": {"department": "CustomFields.department", "company": "Company"},
    "userinfo": {"https://acme.example/company": "Company"},
    "access_token": {"tier": "CustomFields.tier"},
}
Mapping = dict[str, dict[str, str]]


@pytest.fixture
def eve(world: World) -> Person:
    custom = {"department": "Sales", "tier": "gold"}
    names = {"FirstName": "Eve", "LastName": "Adams", "FullName": "Eve Adams", "NickName": "E"}
    return world.person("eve@example.test", **names, Company="Acme", CustomFields=custom)


def mapped(world: World, mapping: Mapping, name: str = "app", **settings: Any) -> RelyingParty:
    return world.application(name, claims_mapping=mapping, access_token_format="jwt", **settings)


def tokens_of(client: RelyingParty, browser: Browser, person: Person, **changed: str | None) -> dict[str, Any]:
    return dict(client.redeem(browser.code(client, person, **changed)).json or {})


def test_each_token_gets_its_own_claims(world: World, browser: Browser, eve: Person) -> None:
    client = mapped(world, MAPPING)
    stored = tokens_of(client, browser, eve, scope="openid")
    userinfo = client.userinfo(stored["access_token"])
    id_token, access_token = claims_in(stored["id_token"]), claims_in(stored["access_token"])
    assert (id_token["department"], id_token["company"]) == ("Sales", "Acme")
    assert access_token["tier"] == "gold"
    assert userinfo.json == {"sub": eve.uid, "https://acme.example/company": "Acme"}
    assert (userinfo.mimetype, userinfo.headers["Cache-Control"]) == ("application/json", "no-store")
    assert "tier" not in id_token
    assert not {"department", "company"} & set(access_token)


@pytest.mark.both_databases
def test_renewed_tokens_have_the_present_values(world: World, browser: Browser, eve: Person) -> None:
    client = mapped(world, MAPPING)
    stored = tokens_of(client, browser, eve)
    eve.set_columns(profile={"CustomFields": {"tier": "silver"}})
    renewed = client.refresh(stored["refresh_token"]).json or {}
    assert claims_in(renewed["access_token"])["tier"] == "silver"
    assert "department" not in claims_in(renewed["id_token"]), "an empty field gives no claim"


def test_other_application_gets_no_mapped_claim(world: World, browser: Browser, eve: Person) -> None:
    mapped(world, MAPPING)
    other = mapped(world, {}, "other")
    stored = tokens_of(other, browser, eve)
    assert not {"department", "company", "tier"} & {*claims_in(stored["id_token"]), *claims_in(stored["access_token"])}


def test_claim_of_a_scope_needs_the_scope(world: World, browser: Browser, eve: Person) -> None:
    client = mapped(world, {"id_token": {"email": "Email", "nickname": "Company"}, "userinfo": {"nickname": "Company"}})
    for scope, expected in (("openid", {}), ("openid email profile", {"email": eve.email, "nickname": "Acme"})):
        stored = tokens_of(client, browser, eve, scope=scope)
        claims = claims_in(stored["id_token"])
        assert {name: claims[name] for name in ("email", "nickname") if name in claims} == expected
        assert (client.userinfo(stored["access_token"]).json or {}).get("nickname") == expected.get("nickname")
    requested = json.dumps({"id_token": {"nickname": None}})
    stored = tokens_of(client, browser, eve, scope="openid", claims=requested)
    assert claims_in(stored["id_token"])["nickname"] == "Acme"


def test_signed_userinfo_has_mapped_claims(world: World, browser: Browser, eve: Person) -> None:
    client = mapped(world, MAPPING, userinfo_signed_response_alg="ES256")
    answer = client.userinfo(tokens_of(client, browser, eve)["access_token"])
    assert claims_in(answer.text)["https://acme.example/company"] == "Acme"


def test_claims_that_do_not_fit_are_left_out_of_tokens(world: World, browser: Browser) -> None:
    """Servers accept 8 KiB of headers; userinfo has everything."""
    long = world.person("long@example.test", About="x" * MAX_TOKEN_BYTES, Company="Acme")
    claims = {"about": "About", "company": "Company"}
    client = mapped(world, {"access_token": claims, "userinfo": claims})
    stored = tokens_of(client, browser, long)
    assert "about" not in claims_in(stored["access_token"])
    assert len((client.userinfo(stored["access_token"]).json or {})["about"]) == MAX_TOKEN_BYTES


def test_mapping_costs_no_statement(world: World, shop: RelyingParty, browser: Browser, eve: Person) -> None:
    client = mapped(world, MAPPING)

    def spent(item: RelyingParty) -> int:
        item.redeem(browser.code(item, eve))  # fills the caches
        return browser.spent(item.redeem(browser.code(item, eve)))["sql"]

    assert spent(client) == spent(shop)


@pytest.fixture
def create(acme: TenantServer) -> Any:
    token = machine(acme, "client:create", "client:update", "client:read")
    body = {"AppName": "Shop", "RedirectURIs": ["https://shop.example/in"]}
    return lambda **members: ask(acme, token, "POST", "/v2/manage/oauth-clients", {**body, **members})


def test_management_reads_and_writes_the_mapping(create: Any) -> None:
    mapping = {
        "IdToken": {"department": "CustomFields.department"},
        "UserInfo": {"https://acme.example/company": "Company"},
        "AccessToken": {},
    }
    assert answered(create(DataMapping=mapping))["DataMapping"] == mapping


RESERVED_CLAIM_OR_FIELD = [
    *((name, "Company") for name in ("sub", "iss", "aud", "exp", "sid", "acr", "azp", "nonce", "client_id", "scope")),
    *((name, "Company") for name in ("roles", "permissions", "org_id", "act", "cnf", "_claim_names", "events")),
    ("email_verified", "IsActive"),
    ("email", "Company"),
    ("phone_number", "Email"),
    ("1", "Company"),
    ("a b", "Company"),
    ("x" * 201, "Company"),
    ("secret", "Password"),
    ("pin", "PIN"),
    ("token", "LastPasswordChangeToken"),
    ("grant", "ProviderAccessCredential"),
    ("other", "Addresses"),
    ("other", "NoSuchField"),
    ("other", "CustomFields."),
    ("other", "__class__"),
]


def test_reserved_claim_or_field_is_refused(create: Any, subtests: pytest.Subtests) -> None:
    for claim, field in RESERVED_CLAIM_OR_FIELD:
        with subtests.test(str((claim, field))[:60]):
            for place in ("IdToken", "UserInfo", "AccessToken"):
                assert refused(create(DataMapping={place: {claim: field}})) == (400, 7900)


def test_too_many_claims_are_refused(create: Any) -> None:
    many = {f"claim{number}": "Company" for number in range(51)}
    assert refused(create(DataMapping={"IdToken": many})) == (400, 7900)


@pytest.mark.parametrize("field", ["Uid", "ID", "PreviousUids", "ExternalUserLoginId", "LRUserID"])
def test_pairwise_application_gets_no_common_identifier(create: Any, field: str) -> None:
    """OpenID Connect Core section 8.1: an identifier that is the same everywhere would undo the pairwise `sub`."""
    mapping = {"UserInfo": {"account": field}}
    assert refused(create(DataMapping=mapping, SubjectType="pairwise")) == (400, 7900)
    answered(create(DataMapping=mapping))
