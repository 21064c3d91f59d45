"""Sign-on at Shopify, BigCommerce and PerfectMind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey
from standardwebhooks import Webhook
from werkzeug.test import TestResponse

from app.contract.resources import file_resources
from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.authentication.workflows.call_signatures import secret_of
from app.identity.platform.services import IdentityServices
from app.kit.resources.resource import MASKED
from tests.support.fakes.storefronts import (
    ACCESS_KEY,
    API_TOKEN,
    BIGCOMMERCE,
    CLIENT_SECRET,
    PERFECTMIND,
    SHOPIFY,
    FakeStorefront,
    open_multipass,
    storefront,
)
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # both: test_every_resource
EMAIL = "ada@example.test"
STORES = {"shopify": SHOPIFY, "bigcommerce": BIGCOMMERCE, "perfectmind": PERFECTMIND}
PLUGINS = ("shopify", "bigcommerce")


@pytest.fixture
def there(services: IdentityServices) -> Iterator[FakeStorefront]:
    with storefront(services) as running:
        yield running


@pytest.fixture
def acme(new_tenant_server: NewTenantServer) -> TenantServer:
    tenant = new_tenant_server(url_whitelist=["https://www.acme.example"])
    for plugin in STORES:
        answered(configure(tenant, plugin))
    return tenant


def configure(tenant: TenantServer, plugin: str, **members: Any) -> TestResponse:
    body = {"Data": [{**STORES[plugin], **members}]}
    return ask(tenant, machine(tenant, "client:update"), "PUT", f"/v2/manage/hosted-plugins/{plugin}", body)


def person(tenant: TenantServer, email: str = EMAIL, *, is_verified: bool = True, **members: Any) -> dict[str, Any]:
    """Create an account, and return it with an access token."""
    made = tenant.create(Email=[{"Type": "Primary", "Value": email}], EmailVerified=is_verified, **members)
    return {**made, "token": tenant.tokens(made["Uid"])["access_token"]}


def sign_on(tenant: TenantServer, who: dict[str, Any], plugin: str = "shopify", **query: Any) -> TestResponse:
    return tenant.send("GET", f"/sso/{plugin}/api/token", bearer=who["token"], **{"store": "shop", **query})


def contacts(tenant: TenantServer, who: dict[str, Any], site: str = "pool") -> TestResponse:
    return tenant.send("GET", "/sso/perfectmind/contact", bearer=who["token"], perfectMindSiteName=site)


def customer_of(answer: TestResponse) -> dict[str, Any]:
    begins = "https://shop.example/account/login/multipass/"
    address = answered(answer)["loginUrl"]
    assert address.startswith(begins)
    return open_multipass(address.removeprefix(begins))


def claims_of(answer: TestResponse) -> dict[str, Any]:
    begins = "https://shop.example/login/token/"
    address = answered(answer)["url"]
    assert address.startswith(begins)
    token = jwt.decode(address.removeprefix(begins), OctKey.import_key(CLIENT_SECRET), algorithms=["HS256"])
    assert token.header == {"typ": "JWT", "alg": "HS256"}
    return dict(token.claims)


def test_multipass_has_the_customer_of_the_account(acme: TenantServer) -> None:
    ada = person(acme, FirstName="Ada", LastName="Lovelace")
    customer = customer_of(sign_on(acme, ada))
    assert datetime.fromisoformat(customer.pop("created_at")) == acme.services.clock.now().replace(microsecond=0)
    assert customer == {"email": EMAIL, "identifier": ada["Uid"], "first_name": "Ada", "last_name": "Lovelace"}
    first, second = (answered(sign_on(acme, ada))["loginUrl"] for _ in range(2))
    assert first != second


@pytest.mark.parametrize("plugin", PLUGINS)
def test_unverified_email_is_refused(acme: TenantServer, there: FakeStorefront, plugin: str) -> None:
    eve = person(acme, is_verified=False)
    assert refused(sign_on(acme, eve, plugin)) == (403, 970)
    assert refused(contacts(acme, eve)) == (403, 970)
    assert there.received == []


@pytest.mark.parametrize("plugin", PLUGINS)
def test_email_beyond_ascii_is_refused(acme: TenantServer, there: FakeStorefront, plugin: str) -> None:
    eve = person(acme, "\N{LATIN SMALL LETTER LONG S}am@example.test")
    assert refused(sign_on(acme, eve, plugin)) == (400, 1038)
    assert refused(contacts(acme, eve)) == (400, 1038)
    assert there.received == []


WRONG: list[tuple[dict[str, Any], tuple[int, int]]] = [
    ({"store": None}, (400, 1193)),
    ({"store": ""}, (400, 1193)),
    ({"store": "other"}, (401, 1178)),
    ({"callback": "show"}, (400, 908)),
    ({"return_url": "https://evil.example/"}, (400, 908)),
]


@pytest.mark.parametrize("plugin", PLUGINS)
def test_wrong_parameter_is_refused(
    acme: TenantServer, there: FakeStorefront, plugin: str, subtests: pytest.Subtests
) -> None:
    ada = person(acme)
    for query, refusal in WRONG:
        with subtests.test(str(query)):
            answer = sign_on(acme, ada, plugin, **query)
            assert refused(answer) == refusal
            assert answer.content_type == "application/json"
            assert there.received == []


def test_store_of_another_tenant_is_not_found(acme: TenantServer, globex: TenantServer) -> None:
    who = person(globex)
    assert [refused(sign_on(globex, who, plugin)) for plugin in PLUGINS] == [(401, 1178)] * 2
    assert refused(contacts(globex, who)) == (401, 1178)


def test_store_without_its_secret_is_invalid(globex: TenantServer, tmp_path: Path) -> None:
    text = f"""
tenants:
  - name: {globex.name}
    shopify_stores: [{{store: shop, domain: shop.example}}]
    bigcommerce_stores:
      - {{store: shop, store_hash: abc123, store_url: "https://shop.example", client_id: client, client_secret: {"c" * 32}}}
    perfectmind_sites: [{{site: pool, host: pool.perfectmind.com, client_number: "24588"}}]
"""
    apply_configuration.apply(globex.services, read(text.encode(), "f.yaml", tmp_path, file_resources()))
    globex.services.directory.clear_cache()
    who = person(globex)
    assert [refused(sign_on(globex, who, plugin)) for plugin in PLUGINS] == [(401, 1192)] * 2
    assert refused(contacts(globex, who)) == (401, 1192)


@pytest.mark.parametrize(
    ("return_url", "leads_to"),
    [
        ("/cart?a=1#b", "https://shop.example/cart?a=1#b"),
        ("https://shop.example/cart", "https://shop.example/cart"),
        ("https://www.acme.example/done", "https://www.acme.example/done"),
    ],
)
def test_return_url_at_store_or_whitelist_is_passed_on(acme: TenantServer, return_url: str, leads_to: str) -> None:
    assert customer_of(sign_on(acme, person(acme), return_url=return_url))["return_to"] == leads_to


OTHER_HOSTS = [
    "https://shop.example.evil.example/", "https://shop.example@evil.example/", "http://shop.example/", "//evil.example/",
    "https://shop.example//evil.example/", "/%2Fevil.example", "/%5Cevil.example", "/\\evil.example", "javascript:alert(1)",
    "https://shop.example:8443/", "cart",
]  # fmt: skip


@pytest.mark.parametrize("plugin", PLUGINS)
def test_return_url_to_another_host_is_refused(
    acme: TenantServer, there: FakeStorefront, plugin: str, subtests: pytest.Subtests
) -> None:
    ada = person(acme)
    for return_url in OTHER_HOSTS:
        with subtests.test(return_url):
            answer = sign_on(acme, ada, plugin, return_url=return_url)
            assert refused(answer) == (400, 908)
            assert "return_url" in answer.text
            assert there.received == []


def test_bigcommerce_customer_is_found_and_signed_in(acme: TenantServer, there: FakeStorefront) -> None:
    there.customers = [{"id": 7, "email": "Ada@Example.test"}, {"id": 8, "email": "bob@example.test"}]
    ada = person(acme)
    before = int(acme.services.clock.now().timestamp())
    claims = claims_of(sign_on(acme, ada, "bigcommerce"))
    assert before <= claims.pop("iat") <= acme.services.clock.now().timestamp()
    first = claims.pop("jti")
    login = {"iss": "client-of-acme", "operation": "customer_login", "store_hash": "abc123", "customer_id": 7}
    assert claims == login
    assert there.received == [("GET", f"/stores/abc123/v3/customers?email%3Ain={quote(EMAIL)}")]
    assert claims_of(sign_on(acme, ada, "bigcommerce"))["jti"] != first


def test_new_bigcommerce_customer_is_created_once(acme: TenantServer, there: FakeStorefront) -> None:
    ada = person(acme, FirstName="Ada")
    assert claims_of(sign_on(acme, ada, "bigcommerce"))["customer_id"] == 100
    assert there.customers == [{"id": 100, "email": EMAIL, "first_name": "Ada", "last_name": "-"}]
    assert claims_of(sign_on(acme, ada, "bigcommerce"))["customer_id"] == 100
    assert len(there.customers) == 1


@pytest.mark.parametrize("return_url", ["/cart?a=1", "https://shop.example/cart?a=1"])
def test_bigcommerce_leads_to_a_path(acme: TenantServer, there: FakeStorefront, return_url: str) -> None:
    claims = claims_of(sign_on(acme, person(acme), "bigcommerce", return_url=return_url))
    assert claims["redirect_to"] == "/cart?a=1"
    foreign = sign_on(acme, person(acme, "bob@example.test"), "bigcommerce", return_url="https://www.acme.example/")
    assert refused(foreign) == (400, 908)
    assert len(there.customers) == 1


BROKEN = {
    "refused": (401, b"{}"), "broken": (500, b"{}"), "no JSON": (200, b"<html>"), "no members": (200, b"[1]"),
    "no list": (200, b'{"data": 1}'), "long": (200, b" " * 300_000),
}  # fmt: skip


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
def test_failing_store_is_named(
    acme: TenantServer, there: FakeStorefront, answer: tuple[int, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    there.answer = answer
    ada = person(acme)
    assert refused(sign_on(acme, ada, "bigcommerce")) == (401, 1195)
    there.answer = (200, b"{}") if answer[1] == b"[1]" else answer
    assert refused(contacts(acme, ada)) == (401, 2016)
    assert "bigcommerce: " in caplog.text
    assert "perfectmind: " in caplog.text
    assert not any(secret in caplog.text for secret in (CLIENT_SECRET, API_TOKEN, ACCESS_KEY, EMAIL))


def test_two_customers_of_one_address_are_refused(acme: TenantServer, there: FakeStorefront) -> None:
    there.customers = [{"id": 7, "email": EMAIL}, {"id": 8, "email": EMAIL}]
    assert refused(sign_on(acme, person(acme), "bigcommerce")) == (401, 1195)


def test_perfectmind_contacts_of_the_address_are_read(acme: TenantServer, there: FakeStorefront) -> None:
    there.contacts = [
        {"ID": "one", "Email": EMAIL}, {"ID": "two", "Email": "Ada@example.test"}, {"ID": "other", "Email": "bob@example.test"},
    ]  # fmt: skip
    ada = person(acme)
    assert answered(contacts(acme, ada)) == {"Email": EMAIL, "ContactId": ["one", "two"]}
    there.contacts = []
    assert answered(contacts(acme, ada)) == {"Email": EMAIL, "ContactId": []}
    missing = acme.send("GET", "/sso/perfectmind/contact", bearer=ada["token"])
    assert refused(missing) == (400, 908)
    assert refused(contacts(acme, ada, "other")) == (401, 1178)


def test_contacts_of_other_addresses_are_left_out(acme: TenantServer, there: FakeStorefront) -> None:
    there.answer = (
        200,
        b'[{"ID": "other", "Email": "bob@example.test"}, {"ID": null, "Email": "ada@example.test"}, 1]',
    )
    assert answered(contacts(acme, person(acme)))["ContactId"] == []


def test_address_with_an_apostrophe_is_not_queried(acme: TenantServer, there: FakeStorefront) -> None:
    assert refused(contacts(acme, person(acme, "o'brien@example.test"))) == (401, 2016)
    assert there.received == []


def test_requests_of_one_account_are_limited(acme: TenantServer) -> None:
    ada = person(acme)
    assert {sign_on(acme, ada).status_code for _ in range(20)} == {200}
    assert sign_on(acme, ada).status_code == 429


@pytest.mark.parametrize(
    ("plugin", "member"),
    [
        ("shopify", "MultipassSecret"), ("bigcommerce", "ClientSecret"), ("bigcommerce", "AccessToken"), ("perfectmind", "AccessKey"),
    ],
)  # fmt: skip
def test_store_without_secret_is_not_stored(globex: TenantServer, plugin: str, member: str) -> None:
    for missing in (None, MASKED):
        answer = configure(globex, plugin, **{member: missing})
        assert refused(answer) == (400, 7900)
        assert member in answer.get_json()["Description"]
    assert configure(globex, plugin).status_code == 200
    assert answered(configure(globex, plugin, **{member: MASKED}))["Data"][0][member] == MASKED


def test_removed_store_signs_in_no_more(acme: TenantServer) -> None:
    token, ada = machine(acme, "client:update"), person(acme)
    assert sign_on(acme, ada).status_code == 200
    answered(ask(acme, token, "PUT", "/v2/manage/hosted-plugins/shopify", {"Data": []}))
    assert refused(sign_on(acme, ada)) == (401, 1178)


SESSION = {"SessionId": "s-1", "URL": "https://pool.perfectmind.com/enter?s=1", "IsNewLink": True}


def session(tenant: TenantServer, who: dict[str, Any], site: str = "pool") -> TestResponse:
    return tenant.send("GET", "/sso/perfectmind/session", bearer=who["token"], perfectMindSiteName=site)


def with_session_url(tenant: TenantServer) -> TenantServer:
    answered(configure(tenant, "perfectmind", SessionUrl="https://hooks.acme.example/sessions"))
    return tenant


def test_perfectmind_session_is_asked_of_the_tenants_server(acme: TenantServer, there: FakeStorefront) -> None:
    ada, there.session = person(acme, FirstName="Ada", LastName="Lovelace"), SESSION
    assert answered(session(with_session_url(acme), ada)) == SESSION
    ((headers, body),) = there.calls
    account = {"Uid": ada["Uid"], "Email": EMAIL, "FirstName": "Ada", "LastName": "Lovelace"}
    assert (body["Type"], body["Site"], body["Account"]) == ("perfectmind.session", "pool", account)
    secret = secret_of(acme.api_secret, "perfectmind")
    lower = {name.lower(): text for name, text in headers.items()}
    assert Webhook(secret).verify(json.dumps(body, separators=(",", ":"), ensure_ascii=False), lower) == body
    assert ACCESS_KEY not in str(there.calls)
    there.session = {**SESSION, "URL": "/enter?s=2"}
    assert answered(session(acme, ada))["URL"] == "https://pool.perfectmind.com/enter?s=2"


def test_perfectmind_session_without_its_call_is_refused(acme: TenantServer, there: FakeStorefront) -> None:
    assert refused(session(acme, person(acme))) == (400, 2017)
    assert refused(session(acme, person(acme, "bob@example.test"), "other")) == (401, 1178)
    assert refused(session(with_session_url(acme), person(acme, "eve@example.test", is_verified=False)))[0] == 403
    assert there.calls == []


@pytest.mark.parametrize("url", [*OTHER_HOSTS, "", "https://pool.perfectmind.com.evil.example/", 7, None])
def test_perfectmind_session_leads_to_the_site_alone(acme: TenantServer, there: FakeStorefront, url: Any) -> None:
    there.session = {**SESSION, "URL": url}
    assert refused(session(with_session_url(acme), person(acme))) == (401, 2016)


def test_unusable_answers_begin_no_perfectmind_session(
    acme: TenantServer, there: FakeStorefront, caplog: pytest.LogCaptureFixture
) -> None:
    ada = person(with_session_url(acme))
    without = {"SessionId": "", **{name: text for name, text in SESSION.items() if name != "SessionId"}}
    answers: tuple[Any, ...] = (
        [],
        "text",
        None,
        {},
        without,
        {**SESSION, "IsNewLink": "perhaps"},
        {**SESSION, "SessionId": "x" * 501},
    )
    for answer in answers:
        there.session = answer
        assert refused(session(acme, ada)) == (401, 2016), answer
    there.answer = (500, b"{}")
    assert refused(session(acme, ada)) == (401, 2016)
    assert EMAIL not in caplog.text


@pytest.mark.parametrize(
    "address", ["http://pool.example/s", "javascript:alert(1)", "pool", "https://pool.example/#a b"]
)
def test_session_url_must_be_secure(acme: TenantServer, address: str) -> None:
    assert configure(acme, "perfectmind", SessionUrl=address).status_code == 400
