"""The tenant as an identity provider: a service provider gets an assertion after the sign-in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from werkzeug.test import Client as WsgiClient

from app.identity.authentication.sign_in.tables import interactions
from app.identity.platform.saml.expectations import SignedPart
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.journeys.account_security import one_factor_session
from tests.support.journeys.second_factors import APP_ALONE, app_of, code_now
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.saml.service_provider import (
    ACS,
    ENTITY,
    ServiceProvider,
    own_key,
    posted_form,
    read_document,
    response_xml,
)
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, refused
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

ADA = "ada@example.test"
FORMAT = "urn:oasis:names:tc:SAML:{}:nameid-format:{}"
PERSISTENT, TRANSIENT = FORMAT.format("2.0", "persistent"), FORMAT.format("2.0", "transient")
EMAIL, UNSPECIFIED = FORMAT.format("1.1", "emailAddress"), FORMAT.format("1.1", "unspecified")


@pytest.fixture
def ada(world: World) -> Person:
    return world.person(ADA)


@pytest.fixture
def wiki(tenant: TenantServer) -> ServiceProvider:
    return ServiceProvider(tenant)


def signed_in(page: VisitedPage, ada: Person) -> VisitedPage:
    return page.press("Sign in", identifier=ada.email, password=ada.password)


@pytest.mark.both_databases
def test_service_provider_gets_the_assertion(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    wiki.store()
    page = wiki.open(visitor)
    assert page.is_sign_in
    back = signed_in(page, ada)
    accepted = wiki.accept(visitor, back)
    assert (accepted.name_id.name_format, accepted.name_id.sp_name_qualifier) == (PERSISTENT, ENTITY)
    assert ada.uid not in accepted.name_id.value
    assert posted_form(back).fields["RelayState"] == "back here"
    again = wiki.accept(visitor, wiki.open(visitor))
    assert again.name_id == accepted.name_id, "a signed-in browser returns at once"
    assert again.session_index == accepted.session_index
    assert again.assertion_id != accepted.assertion_id


def test_posted_request_is_answered_with_the_cookies(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    wiki.store()
    first = wiki.accept(visitor, signed_in(wiki.post(visitor), ada))
    page = wiki.post(visitor)
    assert wiki.accept(visitor, page).name_id == first.name_id
    assert posted_form(page).fields["RelayState"] == "back here"


def test_response_page_lets_the_form_go_there_alone(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    wiki.store()
    page = signed_in(wiki.open(visitor), ada)
    assert page.answer is not None
    assert "no-store" in page.answer.headers["Cache-Control"]
    directive = page.answer.headers["Content-Security-Policy"].partition("form-action")[2].partition(";")[0]
    assert "https://wiki.example" in directive
    assert "*" not in directive


@pytest.mark.parametrize(
    ("members", "part", "is_encrypted"),
    [
        ({"SignResponse": True}, SignedPart.BOTH, False),
        ({"SignResponse": True, "SignAssertion": False}, SignedPart.RESPONSE, False),
        ({"EncryptAssertion": True}, SignedPart.ASSERTION, True),
        ({"EncryptAssertion": True, "SignResponse": True}, SignedPart.BOTH, True),
    ],
)
def test_signatures_and_encryption_are_the_clients(
    visitor: Visitor, wiki: ServiceProvider, ada: Person, members: dict[str, Any], part: SignedPart, is_encrypted: bool
) -> None:
    wiki.key = own_key()
    wiki.store(**members)
    accepted = wiki.accept(visitor, signed_in(wiki.open(visitor), ada), signed_part=part)
    assert accepted.was_encrypted is is_encrypted


def test_sign_in_begins_here_where_the_client_allows_it(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    wiki.store(IsIdpInitiated=True, RelayStateParameter="target")
    page = signed_in(visitor.open("/service/saml/idp/login?AppName=wiki&target=/start"), ada)
    accepted = wiki.accept(visitor, page, request_id=None)
    assert accepted.name_id.name_format == UNSPECIFIED
    assert posted_form(page).fields["target"] == "/start"
    requested = wiki.accept(visitor, wiki.open(visitor))
    assert requested.name_id.value == accepted.name_id.value, "one person, whoever begins"


@pytest.mark.parametrize(
    ("of_client", "requested", "given"),
    [
        (UNSPECIFIED, "", PERSISTENT),
        (UNSPECIFIED, UNSPECIFIED, PERSISTENT),
        (UNSPECIFIED, TRANSIENT, TRANSIENT),
        (UNSPECIFIED, EMAIL, EMAIL),
        (EMAIL, "", EMAIL),
        (EMAIL, EMAIL, EMAIL),
        (TRANSIENT, "", TRANSIENT),
    ],
)
def test_name_id_has_the_format_of_client_or_request(
    visitor: Visitor, wiki: ServiceProvider, ada: Person, of_client: str, requested: str, given: str
) -> None:
    wiki.store(NameIdFormat=of_client)
    page = signed_in(wiki.open(visitor, name_id_format=requested), ada)
    name_id = wiki.accept(visitor, page).name_id
    assert name_id.name_format == given
    assert (name_id.value == ADA) is (given == EMAIL)


def test_two_service_providers_cannot_match_accounts(
    tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, ada: Person
) -> None:
    other = ServiceProvider(tenant, "Desk", "https://desk.example", "https://desk.example/acs")
    wiki.store()
    other.store()
    first = wiki.accept(visitor, signed_in(wiki.open(visitor), ada))
    second = other.accept(visitor, other.open(visitor))
    assert first.name_id.value != second.name_id.value
    assert first.session_index != second.session_index


def test_attributes_are_mapped(tenant: TenantServer, visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    tenant.update(ada.uid, {"FirstName": "Ada", "Company": "Acme & <Co>"})
    name = "urn:oasis:names:tc:SAML:2.0:attrname-format:uri"
    wiki.store(
        Attributes={
            "urn:oid:2.5.4.42": {"Value": "FirstName", "Format": name},
            "nick": {"Value": "NickName", "AlternativeMappingKey": "Company"},
            "mail": {"Value": "Email"},
            "site": {"Value": "Berlin", "IsStatic": True},
            "middle": {"Value": "MiddleName"},
        }
    )
    found = wiki.accept(visitor, signed_in(wiki.open(visitor), ada)).attributes
    assert {key: value.values for key, value in found.items()} == {
        "urn:oid:2.5.4.42": ("Ada",),
        "nick": ("Acme & <Co>",),
        "mail": (ADA,),
        "site": ("Berlin",),
    }
    assert found["urn:oid:2.5.4.42"].name_format == name


@pytest.mark.parametrize(("minutes", "expected"), [(None, 5), (0, 5), (1, 1), (70, 70)])
def test_assertion_lives_as_long_as_the_client_states(
    visitor: Visitor, wiki: ServiceProvider, ada: Person, minutes: int | None, expected: int
) -> None:
    wiki.store(NotOnOrAfter=minutes)
    before = datetime.now(UTC)
    accepted = wiki.accept(visitor, signed_in(wiki.open(visitor), ada))
    left = accepted.expires_at - timedelta(minutes=1) - before
    assert timedelta(minutes=expected, seconds=-30) < left < timedelta(minutes=expected, seconds=30)


def test_audiences_are_in_addition_to_the_entity_id(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    wiki.store(Audiences=["urn:wiki:second"])
    page = signed_in(wiki.open(visitor), ada)
    for audience in (ENTITY, "urn:wiki:second"):
        wiki.accept(visitor, page, audience=audience)


def test_reply_url_is_a_second_address(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    wiki.store(ReplyUrl="https://wiki.example/acs2")
    page = signed_in(wiki.open(visitor, acs_url="https://wiki.example/acs2"), ada)
    wiki.acs_url = "https://wiki.example/acs2"
    wiki.accept(visitor, page)


def test_force_authn_asks_a_signed_in_person(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    wiki.store()
    first = wiki.accept(visitor, signed_in(wiki.open(visitor), ada))
    page = wiki.open(visitor, must_reauthenticate=True)
    assert "SAMLResponse" not in page.html
    back = page.press("Continue", password=ada.password)
    assert wiki.accept(visitor, back).authenticated_at >= first.authenticated_at


def test_passive_request_is_answered_without_a_page(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    wiki.store()
    page = wiki.open(visitor, is_passive=True)
    assert b"NoPassive" in response_xml(page)
    assert b"Assertion" not in response_xml(page)
    assert posted_form(page).action == ACS
    signed_in(wiki.open(visitor), ada)
    wiki.accept(visitor, wiki.open(visitor, is_passive=True))
    both = wiki.open(visitor, is_passive=True, must_reauthenticate=True)
    assert b"NoPassive" in response_xml(both)


@pytest.mark.parametrize(
    ("classes", "status"),
    [
        (["urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport"], b"Success"),
        (
            ["urn:oasis:names:tc:SAML:2.0:ac:classes:X509", "urn:oasis:names:tc:SAML:2.0:ac:classes:Password"],
            b"Success",
        ),
        (["urn:oasis:names:tc:SAML:2.0:ac:classes:X509"], b"NoAuthnContext"),
        (["https://refeds.org/profile/mfa"], b"NoAuthnContext"),
    ],
)
def test_requested_context_is_met_or_refused(
    visitor: Visitor, wiki: ServiceProvider, ada: Person, classes: list[str], status: bytes
) -> None:
    wiki.store()
    page = signed_in(wiki.open(visitor, context_classes=classes), ada)
    assert status in response_xml(page)
    if status == b"Success":
        assert wiki.accept(visitor, page).context_class in classes


@pytest.mark.parametrize("method", ["Password", "X509"])
def test_long_unknown_contexts_are_not_stored(
    world: World, visitor: Visitor, wiki: ServiceProvider, ada: Person, method: str
) -> None:
    """Anyone may send 50 texts of 1,024 bytes in an unsigned request."""
    wiki.store()
    last = f"urn:oasis:names:tc:SAML:2.0:ac:classes:{method}"
    page = wiki.open(visitor, context_classes=[*(f"urn:{n:0>900}" for n in range(49)), last])
    query = select(interactions.c.request).where(interactions.c.tenant_id == world.tenant_id)
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        assert len(str(work.run(query).scalar_one())) < 3_000
    assert (b"NoAuthnContext" in response_xml(signed_in(page, ada))) is (method == "X509")


def test_wrong_name_id_format_is_answered_by_a_status(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    wiki.store(NameIdFormat=EMAIL)
    page = signed_in(wiki.open(visitor, name_id_format=PERSISTENT), ada)
    assert b"InvalidNameIDPolicy" in response_xml(page)


def test_second_submit_of_the_form_gets_a_response(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    wiki.store()
    page = wiki.open(visitor)
    wiki.accept(visitor, signed_in(page, ada))
    wiki.accept(visitor, signed_in(page, ada))


def test_custom_domain_is_an_identity_provider_of_its_own(
    world: World, visitor: Visitor, wiki: ServiceProvider, ada: Person
) -> None:
    wiki.store()
    at_home = wiki.metadata(visitor)
    visitor.home = world.services.settings.custom_url(world.add_custom_domain())
    found = wiki.metadata(visitor)
    assert found.entity_id == f"{visitor.home}/"
    assert found.entity_id != at_home.entity_id
    wiki.accept(visitor, signed_in(wiki.open(visitor), ada))


def test_metadata_states_what_the_client_is(visitor: Visitor, wiki: ServiceProvider) -> None:
    wiki.key = own_key()
    stored = wiki.store(NameIdFormat=EMAIL)
    found = wiki.metadata(visitor)
    assert found.entity_id == f"{visitor.home}/"
    assert found.provider is not None
    assert found.provider.wants_signed_requests
    assert found.provider.signing_certificates == (stored["IdpCertificate"]["Certificate"],)
    assert {service.location for service in found.provider.services} == {wiki.login_url(visitor)}
    assert found.provider.name_id_formats == (EMAIL,)


def test_metadata_of_an_unknown_app_is_refused(tenant: TenantServer, visitor: Visitor) -> None:
    assert refused(read_document(tenant, visitor, "none")) == (401, 1197)


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("signs", [False, True])
def test_signed_in_browser_costs_few_statements_one_signature(
    visitor: Visitor, wiki: ServiceProvider, ada: Person, signs: bool
) -> None:
    wiki.key = own_key() if signs else None
    wiki.store()
    signed_in(wiki.open(visitor), ada)
    cost = min((wiki.open(visitor).cost for _ in range(3)), key=lambda found: found["sql"])
    assert (cost["api"], cost["sql"], cost["signatures"]) == (1, 3 if signs else 2, 1)


def test_second_factor_is_asked_for_where_the_request_demands_it(
    new_tenant_server: NewTenantServer, identity_app: Any, new_visitor_at: NewVisitorAt
) -> None:
    tenant = new_tenant_server(two_factor="optional", second_factors=APP_ALONE)
    world = World(tenant.services, WsgiClient(identity_app), tenant.tenant_id, tenant.name, tenant.api_key)
    visitor, person, wiki = new_visitor_at(world), world.person(ADA), ServiceProvider(tenant)
    app = one_factor_session(visitor, world, person)
    wiki.store()
    pass_time(world.services, minutes=10)
    classes = ["https://refeds.org/profile/mfa"]
    assert b"NoPassive" in response_xml(wiki.open(visitor, context_classes=classes, is_passive=True))
    page = wiki.open(visitor, context_classes=classes)
    assert page.heading == "Two-step verification"
    back = page.press("Verify", code=code_now(world, app))
    assert wiki.accept(visitor, back).context_class == classes[0]
    wiki.accept(visitor, wiki.open(visitor, context_classes=classes, is_passive=True))


def test_required_second_factor_comes_before_the_response(
    new_tenant_server: NewTenantServer, identity_app: Any, new_visitor_at: NewVisitorAt
) -> None:
    tenant = new_tenant_server(two_factor="required", second_factors=APP_ALONE)
    world = World(tenant.services, WsgiClient(identity_app), tenant.tenant_id, tenant.name, tenant.api_key)
    visitor, person, wiki = new_visitor_at(world), world.person(ADA), ServiceProvider(tenant)
    wiki.store()
    page = signed_in(wiki.open(visitor), person)
    assert "SAMLResponse" not in page.html
    app = app_of(page)
    page = page.press("Verify", code=code_now(world, app)).press("I’ve saved them")
    assert wiki.accept(visitor, page).context_class == "https://refeds.org/profile/mfa"


def test_relay_state_is_no_markup(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    wiki.store()
    hostile = '"><script>alert(1)</script>'
    page = signed_in(wiki.open(visitor, relay_state=hostile), ada)
    assert posted_form(page).fields["RelayState"] == hostile
    assert "<script>alert" not in page.html
