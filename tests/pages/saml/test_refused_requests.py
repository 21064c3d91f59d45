"""Requests of service providers that are refused: an error page with the interface's code, and a trace for the operator."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import quote_plus

import pytest
from lxml import etree
from werkzeug.test import Client as WsgiClient

from app.identity.platform.saml_writing import message_bindings, request_writer
from app.identity.platform.saml_writing.request_writer import AuthnRequestContents
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.races import at_once
from tests.support.saml.service_provider import ACS, ENTITY, ServiceProvider, own_key
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

EVIL = "https://evil.example/acs"
EMAIL = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"


@pytest.fixture
def wiki(tenant: TenantServer) -> ServiceProvider:
    return ServiceProvider(tenant)


def traces(tenant: TenantServer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answered(
        ask(tenant, machine(tenant, "provider:read"), "GET", "/v2/manage/connection-traces")
    )["Data"]
    return found


def check_refused(tenant: TenantServer, page: VisitedPage, code: str, check: str) -> None:
    """The page has the code and a reference, leads nowhere else, and the doctor knows the reference."""
    assert page.status == 400
    assert f"{code}: " in page.text
    assert "SAMLResponse" not in page.html
    assert EVIL not in page.html
    trace = traces(tenant)[0]
    assert trace["Reference"] in page.text
    assert trace["Check"] == f"saml_sp_{check}"
    assert trace["Problem"]
    assert trace["Advice"]


def test_unknown_app_is_refused(tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider) -> None:
    check_refused(tenant, wiki.open(visitor), "1197", "client")


def test_inactive_app_is_refused(tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider) -> None:
    wiki.store(IsActive=False)
    check_refused(tenant, wiki.open(visitor), "1197", "client")


def test_app_without_issuer_is_refused(tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider) -> None:
    wiki.store(IssuerUrl=None)
    check_refused(tenant, wiki.open(visitor), "1197", "client")


@pytest.mark.parametrize(
    "service",
    [
        {"Location": None},
        {"Location": ACS, "Binding": "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Artifact"},
    ],
)
def test_app_without_consumer_service_is_refused(
    tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, service: dict[str, Any]
) -> None:
    wiki.store(AssertionConsumerService=service)
    check_refused(tenant, wiki.open(visitor), "2004", "acs")


def test_start_here_is_refused_unless_allowed(tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider) -> None:
    wiki.store()
    check_refused(tenant, visitor.open("/service/saml/idp/login?appname=Wiki"), "2016", "unsolicited")
    page = visitor.send("POST", wiki.login_url(visitor), {"RelayState": "x"})
    check_refused(tenant, page, "2016", "unsolicited")


@pytest.mark.parametrize("url", [EVIL, f"{ACS}/", f"{ACS}?x=1", ACS.upper(), "http://wiki.example/acs", ""])
@pytest.mark.parametrize("signs", [False, True])
def test_unregistered_address_is_refused(
    tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, url: str, signs: bool
) -> None:
    wiki.key = own_key() if signs else None
    wiki.store()
    check_refused(tenant, wiki.open(visitor, acs_url=url), "1197", "request")


@pytest.mark.parametrize(
    ("changed", "code", "check"),
    [
        ({"issuer": "https://evil.example"}, "1197", "request"),
        ({"issuer": f"{ENTITY}/"}, "1197", "request"),
        ({"destination": "https://evil.example/login"}, "1197", "conditions"),
        ({"name_id_hint": "eve"}, "1197", "request"),
    ],
)
def test_wrong_message_is_refused(
    tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, changed: dict[str, str], code: str, check: str
) -> None:
    wiki.store()
    check_refused(tenant, wiki.open(visitor, **changed), code, check)


@pytest.mark.parametrize("signer", [None, "other"])
def test_request_without_the_right_signature_is_refused(
    tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, signer: str | None
) -> None:
    wiki.key = own_key()
    wiki.store()
    wiki.key = own_key(signer) if signer else None
    check = "key" if signer else "verified"
    check_refused(tenant, wiki.open(visitor), "2015", check)
    check_refused(tenant, wiki.post(visitor), "2015", check)


def test_signature_covers_the_query_as_it_was_sent(
    tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider
) -> None:
    wiki.key = own_key()
    wiki.store()
    link = wiki.link(visitor, relay_state="/a b")
    assert "RelayState=%2Fa+b" in link
    for changed in (
        link.replace("%2Fa+b", "%2Fa+c"),
        link.replace("%2Fa+b", "%2fa+b"),
        link.replace("%2Fa+b", "%2Fa%20b"),
    ):
        check_refused(tenant, visitor.open(changed), "2015", "key")
    assert visitor.open(link).is_sign_in, "what was refused is not spent"


def test_signed_request_signs_in_once(tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider) -> None:
    wiki.key = own_key()
    wiki.store()
    link = wiki.link(visitor)
    assert visitor.open(link).is_sign_in
    check_refused(tenant, visitor.open(link), "1197", "replay")


@pytest.mark.parametrize("age", [timedelta(minutes=12), timedelta(minutes=-2)])
def test_request_of_another_time_is_refused(
    tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, age: timedelta
) -> None:
    wiki.store()
    contents = AuthnRequestContents(issuer=ENTITY, destination=wiki.login_url(visitor), acs_url=ACS)
    made = request_writer.authn_request(contents, datetime.now(UTC) - age)
    check_refused(tenant, visitor.open(wiki.link(visitor, made)), "1197", "conditions")


MALFORMED = {
    "no base64": "***",
    "no deflate": base64.b64encode(b"<x/>").decode(),
    "empty": "",
    "long": "A" * 5_000,
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
def test_unreadable_message_is_refused(
    tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, text: str
) -> None:
    wiki.store()
    page = visitor.open(f"{wiki.login_url(visitor)}&SAMLRequest={quote_plus(text)}")
    check_refused(tenant, page, "1197", "size")


@pytest.mark.parametrize(
    ("content", "check"),
    [
        (b'<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r>&e;</r>', "parser"),
        (b"<r><!-- --></r>", "nodes"),
        (b"<r/>", "structure"),
        (b"<r" + b" a='1'" * 100 + b"/>", "parser"),
    ],
)
def test_hostile_document_is_refused(
    tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, content: bytes, check: str
) -> None:
    wiki.store()
    fields = message_bindings.form_fields("SAMLRequest", content)
    check_refused(tenant, visitor.send("POST", wiki.login_url(visitor), fields), "1197", check)


def test_message_twice_is_refused(tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider) -> None:
    wiki.store()
    link = wiki.link(visitor)
    message = link.partition("SAMLRequest=")[2].partition("&")[0]
    check_refused(tenant, visitor.open(f"{link}&SAMLRequest={message}"), "1197", "size")


def test_unverified_address_is_not_asserted(
    tenant: TenantServer, world: World, visitor: Visitor, wiki: ServiceProvider
) -> None:
    person: Person = world.person("eve@example.test")
    person.set_columns(email_verified=False)
    wiki.store(NameIdFormat=EMAIL, Attributes={"mail": {"Value": "Email"}})
    page = wiki.open(visitor).press("Sign in", identifier=person.email, password=person.password)
    assert "SAMLResponse" not in page.html


def test_client_switched_off_meanwhile_gets_nothing(
    tenant: TenantServer, world: World, visitor: Visitor, wiki: ServiceProvider
) -> None:
    person = world.person("ada@example.test")
    wiki.store()
    page = wiki.open(visitor)
    wiki.change(IsActive=False)
    check_refused(tenant, page.press("Sign in", identifier=person.email, password=person.password), "1197", "client")


def test_address_removed_meanwhile_gets_nothing(
    tenant: TenantServer, world: World, visitor: Visitor, wiki: ServiceProvider
) -> None:
    person = world.person("ada@example.test")
    wiki.store(ReplyUrl="https://wiki.example/old")
    page = wiki.open(visitor, acs_url="https://wiki.example/old")
    wiki.change(ReplyUrl=None)
    check_refused(tenant, page.press("Sign in", identifier=person.email, password=person.password), "1197", "client")


def test_another_tenant_does_not_know_the_client(
    tenant: TenantServer, new_tenant_server: NewTenantServer, identity_app: Any, new_visitor_at: NewVisitorAt,
    wiki: ServiceProvider,
) -> None:  # fmt: skip
    wiki.store()
    other = new_tenant_server()
    elsewhere = new_visitor_at(
        World(other.services, WsgiClient(identity_app), other.tenant_id, other.name, other.api_key)
    )
    check_refused(other, wiki.open(elsewhere), "1197", "client")
    assert traces(tenant) == []


def test_stored_request_is_of_its_client_alone(tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider) -> None:
    other = ServiceProvider(tenant, "Desk", "https://desk.example", "https://desk.example/acs")
    wiki.store()
    other.store()
    answer = visitor.client.post(
        wiki.login_url(visitor), data=message_bindings.posted_fields(wiki.request(visitor), None), base_url=visitor.home
    )
    assert answer.status_code == 303
    moved = answer.location.replace("appname=Wiki", "appname=Desk")
    check_refused(tenant, visitor.open(moved), "2016", "unsolicited")
    assert visitor.open(answer.location).is_sign_in


def test_error_page_repeats_no_markup(tenant: TenantServer, visitor: Visitor) -> None:
    page = visitor.open("/service/saml/idp/login?appname=%3Cscript%3Ealert(1)%3C/script%3E")
    assert "<script>alert" not in page.html
    assert traces(tenant)[0]["Connection"] == "saml-client:"


def test_document_of_the_request_is_not_repeated(tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider) -> None:
    wiki.store()
    made = wiki.request(visitor)
    etree.SubElement(made, "{urn:x}Secret").text = "do not log this"
    page = visitor.open(wiki.link(visitor, made, destination="x"))
    assert "do not log this" not in page.html
    assert all("do not log this" not in str(trace) for trace in traces(tenant))


@pytest.mark.parametrize("count", [60, 5_000])
def test_many_parameters_are_refused(tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, count: int) -> None:
    wiki.store()
    page = visitor.open(f"{wiki.login_url(visitor)}{'&a=1' * count}&SAMLRequest=x")
    assert page.status == 400


@pytest.mark.parametrize(
    "query",
    [
        "appname=Wiki&SAMLRequest=%ff%fe",
        "appname=%ff",
        "appname=Wiki&SAMLRequest=%zz",
        "appname=Wiki&SAMLRequest=\u00e9",
        "&&&",
        "",
    ],
)
def test_broken_query_is_refused(tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, query: str) -> None:
    wiki.store()
    for path in ("login", "logout"):
        assert visitor.open(f"/service/saml/idp/{path}?{query}").status == 400


def test_too_long_post_is_refused(tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider) -> None:
    wiki.store()
    page = visitor.send("POST", wiki.login_url(visitor), {"SAMLRequest": "A" * 70_000})
    assert page.status == 413


def test_address_removed_after_a_post_gets_nothing(
    tenant: TenantServer, world: World, visitor: Visitor, wiki: ServiceProvider
) -> None:
    wiki.store(ReplyUrl="https://wiki.example/old")
    fields = message_bindings.posted_fields(wiki.request(visitor, acs_url="https://wiki.example/old"), None)
    answer = visitor.client.post(wiki.login_url(visitor), data=fields, base_url=visitor.home)
    wiki.change(ReplyUrl=None)
    check_refused(tenant, visitor.open(answer.location), "2016", "unsolicited")


@pytest.mark.both_databases
def test_two_uses_of_one_signed_request_race(
    tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, world: World, new_visitor_at: NewVisitorAt
) -> None:
    wiki.key = own_key()
    wiki.store()
    link = wiki.link(visitor)
    pages = at_once([partial(new_visitor_at(world).open, link) for _ in range(4)])
    assert sorted(page.status for page in pages) == [200, 400, 400, 400]
