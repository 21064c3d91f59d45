"""A tenant's own SAML providers: buttons, domains, one address for all answers, and one of their own for sign-ins that begin there."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask
from lxml import etree

from app.identity.authentication.federation import connection_traces
from app.identity.directory.accounts import accounts, linked_identities
from tests.support.oauth.world import NewWorld, World
from tests.support.organizations.saml_organization import Answer, SentRequest, provider_signer, read_request
from tests.support.tenants.callers import call_of
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors import costs
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

PATH = "/v2/manage/custom-providers/saml"
IDP, SIGN_IN = "https://id.partner.example/saml", "https://id.partner.example/sso"
DOMAIN = "partner.example"
MINA = f"mina@{DOMAIN}"
ACS, ADFS = "/saml/serviceprovider/SpInitiatedACS.aspx", "/saml/serviceprovider/AdfsACS.aspx"
BUTTON = "Continue with Partner AG"
DATA_MAP = {"Email": "mail", "FirstName": "given", "LastName": "family", "Company": "org"}
POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"


@dataclass
class Partner:
    """A tenant with a SAML provider of its own."""

    tenant: World
    server: TenantServer
    visitor: Visitor
    provider: dict[str, Any]

    def change(self, **members: Any) -> None:
        token = machine(self.server, "all")
        self.provider = answered(ask(self.server, token, "PUT", f"{PATH}/partner", {"Provider": "partner", **members}))

    def begin(self, visitor: Visitor | None = None) -> VisitedPage:
        return (visitor or self.visitor).open("/login").follow(BUTTON)

    def answer(self, request: SentRequest | None, path: str = ACS, **changes: Any) -> Answer:
        made = Answer(
            now=self.tenant.services.clock.now(), acs_url=f"{self.visitor.home}{path}",
            audience=self.provider["SamlServiceProvider"], request_id=request.id if request else None, issuer=IDP,
            attributes={"mail": MINA, "given": "Mina", "family": "Harker", "org": "Partner"},
        )  # fmt: skip
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    def complete(
        self, page: VisitedPage, path: str = ACS, visitor: Visitor | None = None, **changes: Any
    ) -> VisitedPage:
        request = read_request(page.address)
        message = self.answer(request, path, **changes).posted(signer=provider_signer("partner"))
        return self.post(message, request.relay_state, path, visitor)

    def post(self, message: str, relay_state: str, path: str = ACS, visitor: Visitor | None = None) -> VisitedPage:
        return (visitor or self.visitor).post_from_elsewhere(path, {"SAMLResponse": message, "RelayState": relay_state})

    def linked(self, email: str = MINA) -> list[tuple[str, str]]:
        with call_of(self.tenant.services, self.tenant.name) as call:
            account = accounts.by_email(call, email)
            return [item.key for item in linked_identities.of(account)] if account is not None else []

    def failed(self) -> str:
        with call_of(self.tenant.services, self.tenant.name) as call:
            return connection_traces.latest(call.work, call.now, 1)[0].failed_check


@pytest.fixture
def partner(
    new_world: NewWorld, identity_app: Flask, new_visitor_at: NewVisitorAt, monkeypatch: pytest.MonkeyPatch
) -> Partner:
    monkeypatch.setattr("app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1)
    world = new_world()
    server = TenantServer(world.services, identity_app, world.tenant_id, world.name, world.api_key, world.api_secret)
    body = {
        "Provider": "partner", "FriendlyProviderName": "Partner AG", "DataMap": DATA_MAP,
        "IdentityProvider": {"EntityId": IDP, "Location": SIGN_IN},
        "IdpCertificate": {"Certificate": provider_signer("partner").certificate},
    }  # fmt: skip
    made = answered(ask(server, machine(server, "all"), "POST", PATH, body))
    return Partner(world, server, new_visitor_at(world), made)


def is_refused(page: VisitedPage) -> bool:
    return page.status == 403 and page.heading == "Sign-in didn’t finish" and "mention this ID" in page.text


def registered(page: VisitedPage) -> VisitedPage:
    """Return the page after the registration that a provider's unverified address needs."""
    return page.press("Create account") if page.heading == "Create your account" else page


def test_button_leads_to_the_provider_and_back(partner: Partner) -> None:
    partner.change(Domain=DOMAIN)
    page = partner.begin()
    assert page.address.startswith(f"{SIGN_IN}?SAMLRequest=")
    request = read_request(page.address)
    assert request.acs_url == f"{partner.visitor.home}{ACS}"
    assert request.root.findtext("{*}Issuer") == partner.provider["SamlServiceProvider"]
    assert partner.complete(page).profile_name == "Mina Harker"
    assert partner.linked() == [("saml:partner", "mina-1")]
    again = partner.begin(other := _other(partner))
    assert partner.complete(again, visitor=other).profile_name == "Mina Harker"


def _other(partner: Partner) -> Visitor:
    return Visitor(type(partner.visitor.client)(partner.visitor.client.application), partner.visitor.home)


@pytest.mark.both_databases
def test_sign_in_of_a_known_person_costs_12_statements(partner: Partner) -> None:
    partner.change(Domain=DOMAIN)

    def visit() -> list[int]:
        visitor = _other(partner)
        request = read_request(partner.begin(visitor).address)
        message = partner.answer(request).posted(signer=provider_signer("partner"))
        return costs.of_posted_answer(visitor, ACS, message, request.relay_state)

    assert costs.fewest(visit) == [3, 9]


def test_mapped_fields_fill_a_new_account(partner: Partner) -> None:
    partner.change(Domain=DOMAIN)
    partner.complete(partner.begin())
    with call_of(partner.tenant.services, partner.tenant.name) as call:
        account = accounts.by_email(call, MINA)
        assert account is not None
        assert account.profile.get("LastName") == "Harker"


def test_adfs_address_takes_answers_too(partner: Partner) -> None:
    partner.change(Domain=DOMAIN)
    assert partner.complete(partner.begin(), ADFS).profile_name == "Mina Harker"
    page = partner.begin(other := _other(partner))
    request = read_request(page.address)
    message = partner.answer(request, ACS).posted(signer=provider_signer("partner"))
    assert is_refused(partner.post(message, request.relay_state, ADFS, other))  # for the other address


def test_address_of_another_domain_is_not_verified(partner: Partner) -> None:
    partner.change(Domain=DOMAIN)
    person = partner.tenant.person("ada@elsewhere.example")
    attributes = {"mail": person.email, "given": "Ada"}
    page = partner.complete(partner.begin(), attributes=attributes)
    assert page.heading != "Profile"
    assert partner.visitor.open("/profile").is_sign_in
    assert partner.linked(person.email) == []


def test_domain_leads_to_the_saml_provider_of_the_tenant(partner: Partner) -> None:
    partner.change(Domain=DOMAIN, EnableAutoLookUp=True, ListInInterface=False)
    login = partner.visitor.open("/login")
    assert BUTTON not in login.text
    page = login.press("Sign in", identifier=MINA, password="any password 7")
    assert page.address.startswith(SIGN_IN)
    assert partner.complete(page).profile_name == "Mina Harker"


def test_inactive_or_incomplete_provider_is_not_offered(partner: Partner) -> None:
    partner.change(IsActive=False)
    assert BUTTON not in partner.visitor.open("/login").text
    partner.change(IsActive=True, IdentityProvider={"EntityId": None})
    assert BUTTON not in partner.visitor.open("/login").text


def test_shared_address_takes_no_answer_without_request(partner: Partner) -> None:
    partner.change(IsIdpInitiated=True)
    message = partner.answer(None).posted(signer=provider_signer("partner"))
    assert is_refused(partner.post(message, ""))


def test_own_address_takes_sign_ins_that_begin_at_the_provider(partner: Partner) -> None:
    partner.change(IsIdpInitiated=True, Domain=DOMAIN)
    path = urlsplit(partner.provider["ServiceProviderACSUrl"]).path
    assert path not in (ACS, ADFS)
    page = partner.post(partner.answer(None, path).posted(signer=provider_signer("partner")), "", path)
    assert page.heading == "Sign in?"
    assert "Partner AG" in page.text
    assert page.press("Continue").profile_name == "Mina Harker"
    partner.change(IsIdpInitiated=False)
    refused = partner.post(partner.answer(None, path).posted(signer=provider_signer("partner")), "", path)
    assert is_refused(refused)


def test_two_providers_share_an_address_and_no_key(partner: Partner) -> None:
    body = {
        "Provider": "rival", "FriendlyProviderName": "Rival", "IdentityProvider": {"EntityId": IDP, "Location": SIGN_IN},
        "IdpCertificate": {"Certificate": provider_signer("rival").certificate},
    }  # fmt: skip
    answered(ask(partner.server, machine(partner.server, "all"), "POST", PATH, body))
    page = partner.begin()
    request = read_request(page.address)
    message = partner.answer(request).posted(signer=provider_signer("rival"))
    assert is_refused(partner.post(message, request.relay_state))
    assert partner.failed() == "saml_key"


def test_request_is_posted_where_the_binding_is_post(partner: Partner) -> None:
    partner.change(IdentityProvider={"Binding": POST})
    page = partner.begin()
    form = page.form("Continue")
    root = etree.fromstring(base64.b64decode(form.fields["SAMLRequest"]))
    assert form.action == SIGN_IN
    assert root.get("Destination") == SIGN_IN


def test_answer_at_the_address_of_an_organization_is_refused(partner: Partner) -> None:
    page = partner.begin()
    request = read_request(page.address)
    message = partner.answer(request).posted(signer=provider_signer("partner"))
    refused = partner.post(message, request.relay_state, f"/saml/sp/acs/{'x' * 34}")
    assert refused.status == 403
    assert partner.linked() == []


def test_provider_may_have_several_certificates(partner: Partner) -> None:
    both = provider_signer("former").certificate + provider_signer("partner").certificate
    partner.change(Domain=DOMAIN, IdpCertificate={"Certificate": both})
    assert partner.complete(partner.begin()).profile_name == "Mina Harker"
    bare = "".join(provider_signer("partner").certificate.splitlines()[1:-1])
    partner.change(IdpCertificate={"Certificate": bare})
    other = _other(partner)
    assert partner.complete(partner.begin(other), visitor=other).profile_name == "Mina Harker"


def test_too_many_or_broken_certificates_are_refused(partner: Partner) -> None:
    many = "".join(provider_signer(f"key-{number}").certificate for number in range(9))
    for text in (
        many,
        provider_signer("partner").certificate + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
    ):
        body = {"Provider": "partner", "IdpCertificate": {"Certificate": text}}
        refusal = ask(partner.server, machine(partner.server, "all"), "PUT", f"{PATH}/partner", body)
        assert refusal.status_code == 400


def test_identity_of_a_provider_is_named_on_the_account_page(partner: Partner) -> None:
    partner.change(Domain=DOMAIN)
    partner.complete(partner.begin())
    assert "Partner AG" in partner.visitor.open("/identities").text


def test_removed_provider_signs_nobody_in(partner: Partner) -> None:
    page = partner.begin()
    answered(ask(partner.server, machine(partner.server, "all"), "DELETE", f"{PATH}/partner"))
    assert is_refused(partner.complete(page))
    assert partner.linked() == []
