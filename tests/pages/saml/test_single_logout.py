"""Single logout: a service provider ends the session here and at the others, and so does our own sign-out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.identity.platform.saml.expectations import AcceptedAssertion, SamlNameId
from app.identity.platform.saml_writing import message_bindings
from app.identity.protocols.saml import logout_chain
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.saml.service_provider import SIGN_OUT, ServiceProvider, own_key
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors.visitor import VisitedPage, Visitor

POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.test")


@pytest.fixture
def wiki(tenant: TenantServer) -> ServiceProvider:
    return ServiceProvider(tenant, key=own_key("wiki"))


@pytest.fixture
def desk(tenant: TenantServer) -> ServiceProvider:
    return ServiceProvider(tenant, "Desk", "https://desk.example", "https://desk.example/acs", own_key("desk"))


def visited(visitor: Visitor, provider: ServiceProvider, ada: Person, **members: Any) -> AcceptedAssertion:
    """Store a client, and sign in at its service provider."""
    provider.store(**{"SpLogoutUrl": f"{provider.acs_url}/slo", **members})
    page = provider.open(visitor)
    if page.is_sign_in:
        page = page.press("Sign in", identifier=ada.email, password=ada.password)
    return provider.accept(visitor, page)


def demand(
    visitor: Visitor, provider: ServiceProvider, accepted: AcceptedAssertion, **changed: Any
) -> tuple[Any, VisitedPage]:
    request = provider.sign_out_request(visitor, accepted, **changed)
    url = message_bindings.redirect_url(request, provider.logout_url(visitor), provider.key, "its state")
    return request, visitor.open(url)


def is_signed_in(visitor: Visitor) -> bool:
    return not visitor.open("/profile").is_sign_in


def failed_checks(tenant: TenantServer) -> list[str]:
    found = answered(ask(tenant, machine(tenant, "provider:read"), "GET", "/v2/manage/connection-traces"))["Data"]
    return [trace["Check"] for trace in found]


@pytest.mark.both_databases
def test_service_provider_ends_the_session_here(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    accepted = visited(visitor, wiki, ada)
    assert is_signed_in(visitor)
    request, page = demand(visitor, wiki, accepted)
    assert page.address.startswith(f"{wiki.acs_url}/slo?SAMLResponse=")
    answer = wiki.signed_out(visitor, page.address, request)
    assert (answer.is_success, answer.relay_state) == (True, "its state")
    assert not is_signed_in(visitor)


def test_posted_demand_ends_the_session_with_the_cookies(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    accepted = visited(visitor, wiki, ada)
    request = wiki.sign_out_request(visitor, accepted)
    fields = message_bindings.posted_fields(request, wiki.key, "its state")
    page = visitor.send("POST", wiki.logout_url(visitor), fields)
    assert wiki.signed_out(visitor, page.address, request).is_success
    assert not is_signed_in(visitor)


@pytest.mark.parametrize("is_complete", [True, False])
def test_other_service_providers_are_asked_before_the_answer(
    visitor: Visitor, wiki: ServiceProvider, desk: ServiceProvider, ada: Person, is_complete: bool
) -> None:
    at_wiki, at_desk = visited(visitor, wiki, ada), visited(visitor, desk, ada)
    request, page = demand(visitor, wiki, at_wiki)
    _, asked = desk.logout_request(visitor, page.address)
    assert (asked.name_id, asked.session_indexes) == (at_desk.name_id, (at_desk.session_index,))
    assert not is_signed_in(visitor), "the session ended before the others are asked"
    back = visitor.open(desk.answer(visitor, page.address, is_complete=is_complete))
    assert wiki.signed_out(visitor, back.address, request).is_success is is_complete


def test_our_sign_out_reaches_the_service_providers(
    visitor: Visitor, wiki: ServiceProvider, desk: ServiceProvider, ada: Person
) -> None:
    visited(visitor, wiki, ada)
    visited(visitor, desk, ada)
    page = visitor.open("/logout").press("Sign out")
    page = visitor.open(desk.answer(visitor, page.address))
    page = visitor.open(wiki.answer(visitor, page.address))
    assert page.status == 200
    assert "signed out" in page.text
    assert not is_signed_in(visitor)


def test_service_provider_without_a_logout_address_is_left_out(
    visitor: Visitor, wiki: ServiceProvider, desk: ServiceProvider, ada: Person
) -> None:
    at_wiki = visited(visitor, wiki, ada)
    visited(visitor, desk, ada, SpLogoutUrl=None)
    request, page = demand(visitor, wiki, at_wiki)
    assert not wiki.signed_out(visitor, page.address, request).is_success, "its session lives on"


def test_unvisited_service_provider_makes_the_sign_out_partial(
    monkeypatch: pytest.MonkeyPatch, visitor: Visitor, wiki: ServiceProvider, desk: ServiceProvider, ada: Person
) -> None:
    monkeypatch.setattr(logout_chain, "MAX_SERVICE_PROVIDERS", 0)
    at_wiki = visited(visitor, wiki, ada)
    visited(visitor, desk, ada)
    request, page = demand(visitor, wiki, at_wiki)
    assert not wiki.signed_out(visitor, page.address, request).is_success


def test_answer_by_another_key_makes_the_sign_out_partial(
    tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, desk: ServiceProvider, ada: Person
) -> None:
    at_wiki = visited(visitor, wiki, ada)
    visited(visitor, desk, ada)
    request, page = demand(visitor, wiki, at_wiki)
    back = visitor.open(desk.answer(visitor, page.address, key=own_key("evil")))
    assert not wiki.signed_out(visitor, back.address, request).is_success
    assert failed_checks(tenant) == ["saml_sp_key"]


def test_answer_is_taken_once(
    tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, desk: ServiceProvider, ada: Person
) -> None:
    at_wiki = visited(visitor, wiki, ada)
    visited(visitor, desk, ada)
    _, page = demand(visitor, wiki, at_wiki)
    answer = desk.answer(visitor, page.address)
    assert visitor.open(answer).address.startswith(f"{wiki.acs_url}/slo")
    again = visitor.open(answer)
    assert again.status == 400
    assert failed_checks(tenant) == ["saml_sp_request"]


def test_binding_is_the_clients(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    visited(visitor, wiki, ada, DefaultRequestBinding=POST)
    page = visitor.open("/logout").press("Sign out")
    form = page.form("Continue")
    assert form.action == f"{wiki.acs_url}/slo"
    assert set(form.fields) >= {"SAMLRequest", "RelayState"}


def test_without_a_message_our_page_asks(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    visited(visitor, wiki, ada, SpLogoutUrl=None, AfterLogoutUrl="https://wiki.example/bye")
    page = visitor.open(wiki.logout_url(visitor))
    assert is_signed_in(visitor), "a link signs nobody out"
    assert page.press("Sign out").address == "https://wiki.example/bye"


def test_after_logout_address_stands_in_for_an_answer(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    accepted = visited(visitor, wiki, ada, SpLogoutUrl=None, AfterLogoutUrl="https://wiki.example/bye")
    assert demand(visitor, wiki, accepted)[1].address == "https://wiki.example/bye"
    assert not is_signed_in(visitor)


@pytest.mark.parametrize("case", ["another person", "another session", "another service provider’s index"])
def test_session_that_the_demand_does_not_name_stays(
    visitor: Visitor, wiki: ServiceProvider, desk: ServiceProvider, ada: Person, case: str
) -> None:
    at_wiki, at_desk = visited(visitor, wiki, ada), visited(visitor, desk, ada)
    cases: dict[str, dict[str, Any]] = {
        "another person": {"name_id": SamlNameId(value="eve", name_format=at_wiki.name_id.name_format)},
        "another session": {"session_indexes": ["AAAA"]},
        "another service provider’s index": {"session_indexes": [at_desk.session_index]},
    }
    demand(visitor, wiki, at_wiki, **cases[case])
    assert is_signed_in(visitor)


@pytest.mark.parametrize("case", ["unsigned", "another key", "old", "another address", "twice"])
def test_refused_demand_ends_nothing(
    tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, ada: Person, case: str
) -> None:
    accepted = visited(visitor, wiki, ada)
    cases: dict[str, dict[str, Any]] = {
        "old": {"now": datetime.now(UTC) - timedelta(minutes=20)},
        "another address": {"destination": "https://evil.example"},
    }
    request = wiki.sign_out_request(visitor, accepted, **cases.get(case, {}))
    key = {"unsigned": None, "another key": own_key("evil")}.get(case, wiki.key)
    url = message_bindings.redirect_url(request, wiki.logout_url(visitor), key, "s")
    if case == "twice":
        visitor.open(url)
        wiki.accept(visitor, wiki.open(visitor).press("Sign in", identifier=ada.email, password=ada.password))
    page = visitor.open(url)
    assert page.status == 400
    assert "SAMLResponse" not in page.address
    assert is_signed_in(visitor)
    assert len(failed_checks(tenant)) == 1


def test_client_without_a_certificate_cannot_sign_out(tenant: TenantServer, visitor: Visitor, ada: Person) -> None:
    wiki = ServiceProvider(tenant)
    accepted = visited(visitor, wiki, ada, SpLogoutUrl=SIGN_OUT)
    wiki.key = own_key()
    _, page = demand(visitor, wiki, accepted)
    assert page.status == 400
    assert "2015" in page.text
    assert is_signed_in(visitor)


def test_foreign_chain_is_worth_nothing(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    visited(visitor, wiki, ada)
    assert "signed out" in visitor.open("/service/saml/idp/logout?chain=none").text
    assert is_signed_in(visitor)


def test_token_without_an_answer_makes_the_sign_out_partial(
    visitor: Visitor, wiki: ServiceProvider, desk: ServiceProvider, ada: Person
) -> None:
    at_wiki = visited(visitor, wiki, ada)
    visited(visitor, desk, ada)
    request, page = demand(visitor, wiki, at_wiki)
    envelope, _ = desk.logout_request(visitor, page.address)
    back = visitor.open(f"/service/saml/idp/logout?chain={envelope.relay_state}")
    assert not wiki.signed_out(visitor, back.address, request).is_success


def test_twenty_service_providers_are_visited(
    tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, ada: Person
) -> None:
    visited(visitor, wiki, ada)
    others = [
        ServiceProvider(
            tenant, f"App{number}", f"https://a{number}.example", f"https://a{number}.example/acs", wiki.key
        )
        for number in range(21)
    ]
    for other in others:
        visited(visitor, other, ada)
    page = visitor.open("/logout").press("Sign out")
    for other in reversed(others[1:]):
        page = visitor.open(other.answer(visitor, page.address))
    assert "signed out" in page.text, "the two that took part first are not visited"
