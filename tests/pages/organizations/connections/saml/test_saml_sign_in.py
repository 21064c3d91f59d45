"""Sign-in by the SAML connection of an organization: which account it opens, and which it never opens."""

from __future__ import annotations

import base64
import re
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography import x509
from lxml import etree
from signxml.verifier import XMLVerifier

from app.identity.authentication.federation import connection_traces
from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.platform.saml.bindings import redirected
from app.identity.platform.saml.expectations import SignedPart
from app.identity.platform.saml.metadata_reader import read_metadata
from app.identity.platform.saml.saml_checks import SamlCheck
from app.identity.platform.saml.trusted_keys import TrustedKeys
from tests.support.organizations.connected_organization import DOMAIN, MINA
from tests.support.organizations.saml_organization import (
    SIGN_IN,
    NewSamlOrganization,
    SamlOrganization,
    provider_signer,
    read_request,
)
from tests.support.saml import encryption
from tests.support.saml.responses import attribute, removed, text
from tests.support.saml.service_provider import ServiceProvider
from tests.support.tenants.callers import call_of
from tests.support.visitors import costs
from tests.support.visitors.visitor import VisitedPage, Visitor

POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"


def traces(organization: SamlOrganization) -> list[connection_traces.ConnectionTrace]:
    with call_of(organization.tenant.services, organization.tenant.name) as call:
        return connection_traces.latest(call.work, call.now, 20)


def is_refused(page: VisitedPage) -> bool:
    """Return whether a page is the one error page, with a reference."""
    return page.status == 403 and page.heading == "Sign-in didn’t finish" and "mention this ID" in page.text


@pytest.mark.both_databases
def test_first_saml_sign_in_creates_account_and_membership(saml_globex: SamlOrganization) -> None:
    page = saml_globex.sign_in()
    assert page.profile_name == "Mina Harker", page.text
    account = saml_globex.account()
    assert account is not None
    assert account.email_verified
    assert saml_globex.linked() == [(saml_globex.id, "mina-1")]
    assert saml_globex.roles() == {saml_globex.member_role}


def costs_of(organization: SamlOrganization, visitor: Visitor) -> list[int]:
    """Return the statements of the posted answer, and of coming back with the cookies."""
    redirected = organization.begin(visitor)
    message, relay_state = organization.answer(redirected).posted(), read_request(redirected.address).relay_state
    return costs.of_posted_answer(visitor, organization.acs_path, message, relay_state)


@pytest.mark.both_databases
def test_saml_sign_in_of_a_member_costs_17_statements(saml_globex: SamlOrganization) -> None:
    first = costs_of(saml_globex, saml_globex.visitor)
    assert saml_globex.account() is not None
    assert sum(first) <= 47
    tenant = saml_globex.tenant
    assert costs.fewest(lambda: costs_of(saml_globex, saml_globex.new_visitor_at(tenant))) == [4, 13]


def test_second_saml_sign_in_opens_the_same_account(saml_globex: SamlOrganization) -> None:
    saml_globex.sign_in()
    assert saml_globex.sign_in_anew(email=f"mina.murray@{DOMAIN}").profile_name == "Mina Harker"
    assert saml_globex.count_accounts() == 1


def test_authn_request_is_signed_and_names_this_service(saml_globex: SamlOrganization) -> None:
    page = saml_globex.begin()
    assert page.address.startswith(f"{SIGN_IN}?SAMLRequest=")
    request = read_request(page.address)
    assert request.acs_url == saml_globex.connection["ACSEndpoint"]
    assert request.root.get("Destination") == SIGN_IN
    assert request.root.findtext("{*}Issuer") == saml_globex.connection["EntityId"]
    assert len(request.relay_state) <= 80
    envelope = redirected("SAMLRequest", urlsplit(page.address).query)
    assert envelope.query_signature is not None
    certificate = saml_globex.connection["SPCertificate"]["Certificate"]
    envelope.query_signature.verify(TrustedKeys((certificate,)), saml_globex.tenant.services.clock.now())


@pytest.mark.parametrize("part", [SignedPart.ASSERTION, SignedPart.RESPONSE, SignedPart.BOTH], ids=str)
def test_either_signature_signs_in(saml_globex: SamlOrganization, part: SignedPart) -> None:
    assert saml_globex.sign_in(form={"signed": part}).profile_name == "Mina Harker"


@pytest.mark.parametrize("email", ["mina@initech.example", f"mina@sub.{DOMAIN}", f"mina@{DOMAIN}.evil.example", None])
def test_foreign_saml_address_is_refused(saml_globex: SamlOrganization, email: str | None) -> None:
    assert "This email can’t be used here" in saml_globex.sign_in(email=email).text
    assert saml_globex.count_accounts() == 0


def test_existing_account_of_the_domain_is_linked_by_saml(saml_globex: SamlOrganization) -> None:
    mina = saml_globex.tenant.person(MINA["email"])
    assert saml_globex.sign_in().heading == "Profile"
    account = saml_globex.account()
    assert account is not None
    assert account.uid == mina.uid


def test_saml_groups_give_roles_at_every_sign_in(saml_globex: SamlOrganization) -> None:
    admin, editor = (saml_globex.business.role(name, org=saml_globex.org) for name in ("Admin", "Editor"))
    saml_globex.group_role("admins", admin)
    saml_globex.group_role("editors", editor)
    saml_globex.sign_in(groups=["admins", "other"])
    assert admin in saml_globex.roles()
    saml_globex.sign_in_anew(groups="editors")
    assert editor in saml_globex.roles()
    assert admin not in saml_globex.roles()


def test_common_attribute_names_fill_the_default_mapping(saml_globex: SamlOrganization) -> None:
    claim = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/"
    common = {f"{claim}emailaddress": MINA["email"], f"{claim}givenname": "Wilhelmina", "urn:oid:2.5.4.4": "Murray"}
    page = saml_globex.sign_in(email=None, firstName=None, lastName=None, **common)
    assert page.profile_name == "Wilhelmina Murray"


def test_mapped_attributes_fill_the_profile(new_saml_organization: NewSamlOrganization) -> None:
    mapping = {"ID": "uid", "Email": "mail", "FirstName": "given", "CustomMapping": {"Company": "firm"}}
    globex = new_saml_organization(Attributes=mapping)
    globex.sign_in(uid="u-17", mail=[MINA["email"], "other@x.example"], given="Wilhelmina", firm="Globex")
    assert globex.linked() == [(globex.id, "u-17")]
    account = globex.account()
    assert account is not None
    assert account.profile.get("Company") == "Globex"


def test_missing_mapped_subject_is_refused(new_saml_organization: NewSamlOrganization) -> None:
    globex = new_saml_organization(Attributes={"ID": "uid"})
    assert is_refused(globex.sign_in())
    assert [trace.failed_check for trace in traces(globex)] == ["mapping"]


def test_transient_name_id_is_no_subject(saml_globex: SamlOrganization) -> None:
    transient = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
    assert is_refused(saml_globex.sign_in(change=lambda answer: setattr(answer, "name_id_format", transient)))
    assert saml_globex.count_accounts() == 0


def test_name_id_that_is_an_address_is_the_address(saml_globex: SamlOrganization) -> None:
    def by_address(answer: Any) -> None:
        answer.name_id, answer.name_id_format = MINA["email"], "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"

    assert saml_globex.sign_in(email=None, change=by_address).profile_name == "Mina Harker"


def test_answer_signs_in_once(saml_globex: SamlOrganization) -> None:
    redirected_page = saml_globex.begin()
    message = saml_globex.answer(redirected_page).posted()
    relay_state = read_request(redirected_page.address).relay_state
    assert saml_globex.post(saml_globex.visitor, message, relay_state).profile_name == "Mina Harker"
    assert is_refused(saml_globex.post(saml_globex.visitor, message, relay_state))
    other = saml_globex.begin(thief := saml_globex.new_visitor_at(saml_globex.tenant))
    assert is_refused(saml_globex.post(thief, message, read_request(other.address).relay_state))


def test_answer_of_another_browser_signs_nobody_in(saml_globex: SamlOrganization) -> None:
    """Login CSRF: an attacker lets a victim's browser post the answer to the attacker's own request."""
    redirected_page, victim = saml_globex.begin(), saml_globex.new_visitor_at(saml_globex.tenant)
    relay_state = read_request(redirected_page.address).relay_state
    page = saml_globex.post(victim, saml_globex.answer(redirected_page).posted(), relay_state)
    assert page.status == 410
    assert victim.open("/profile").is_sign_in
    assert saml_globex.count_accounts() == 0


def test_answer_without_post_finishes_nothing(saml_globex: SamlOrganization) -> None:
    redirected_page = saml_globex.begin()
    relay_state = read_request(redirected_page.address).relay_state
    assert saml_globex.visitor.open(f"{saml_globex.acs_path}?state={relay_state}").is_sign_in
    assert saml_globex.complete(redirected_page).profile_name == "Mina Harker"


@pytest.mark.parametrize("relay_state", ["", "unknown", "a.b", "x" * 3_000])
def test_answer_without_request_is_refused(saml_globex: SamlOrganization, relay_state: str) -> None:
    assert is_refused(saml_globex.post(saml_globex.visitor, saml_globex.answer().posted(), relay_state))
    assert saml_globex.count_accounts() == 0


def test_answer_for_another_request_is_refused(saml_globex: SamlOrganization) -> None:
    first, second = saml_globex.begin(), saml_globex.begin()
    message = saml_globex.answer(first).posted()
    assert is_refused(saml_globex.post(saml_globex.visitor, message, read_request(second.address).relay_state))
    trace = traces(saml_globex)[0]
    assert trace.failed_check == SamlCheck.CONDITIONS
    assert trace.expected == read_request(second.address).id
    assert "InResponseTo" in trace.received


def test_key_of_another_connection_is_refused(new_saml_organization: NewSamlOrganization) -> None:
    globex = new_saml_organization()
    initech = new_saml_organization(
        globex.tenant, name="Initech", domain="initech.example", IDPCertificate=provider_signer("initech").certificate
    )
    redirected_page = globex.begin()
    form = {"signer": provider_signer("initech")}
    assert is_refused(globex.complete(redirected_page, form=form))
    relay_state = read_request(redirected_page.address).relay_state
    page = initech.post(globex.visitor, initech.answer(redirected_page).posted(**form), relay_state)
    assert is_refused(page)  # the other organization's address
    assert {trace.failed_check for trace in traces(globex)} == {"saml_key", "state"}


def test_other_tenants_connection_is_unknown(new_saml_organization: NewSamlOrganization) -> None:
    globex, other = new_saml_organization(), new_saml_organization()
    page = other.post(other.visitor, globex.answer().posted(), path=globex.acs_path)
    assert page.status == 403
    assert page.heading == "Sign-in method unavailable"
    assert other.visitor.open(globex.login_url).status == 403


def test_unsolicited_answer_asks_before_it_signs_in(new_saml_organization: NewSamlOrganization) -> None:
    globex = new_saml_organization(IsIDPInitiated=True)
    page = globex.post(globex.visitor, globex.answer().posted(), "https://elsewhere.example/")
    assert page.heading == "Sign in?"
    assert MINA["email"] in page.text
    assert "Globex Gardens" in page.text
    assert globex.count_accounts() == 0
    assert page.press("Continue").profile_name == "Mina Harker"
    assert page.press("Continue").heading == "Sign-in didn’t finish"  # once


def test_unsolicited_answer_must_not_name_a_request(new_saml_organization: NewSamlOrganization) -> None:
    globex = new_saml_organization(IsIDPInitiated=True)
    answer = globex.answer(request_id="_request1")
    assert is_refused(globex.post(globex.visitor, answer.posted()))
    stolen = globex.begin()
    assert is_refused(globex.post(globex.visitor, globex.answer(stolen).posted()))


def test_unsolicited_answer_is_refused_where_it_is_off(saml_globex: SamlOrganization) -> None:
    assert is_refused(saml_globex.post(saml_globex.visitor, saml_globex.answer().posted()))
    trace = traces(saml_globex)[0]
    assert "IsIDPInitiated" in trace.expected
    assert "EntityId" in trace.diagnosis.advice


def test_unsolicited_answer_is_used_once(new_saml_organization: NewSamlOrganization) -> None:
    globex = new_saml_organization(IsIDPInitiated=True)
    message = globex.answer().posted()
    assert globex.post(globex.visitor, message).heading == "Sign in?"
    assert is_refused(globex.post(globex.visitor, message))
    assert traces(globex)[0].failed_check == SamlCheck.REPLAY


def test_saml_request_is_posted_where_no_redirect_is_taken(saml_globex: SamlOrganization) -> None:
    with call_of(saml_globex.tenant.services, saml_globex.tenant.name) as call:
        record = organization_connection_store.by_any_id(call, saml_globex.id)
        assert record is not None
        organization_connection_store.change_content(call, record, record.content | {"idp_sign_in_binding": POST})
        call.commit()
    page = saml_globex.begin()
    assert page.status == 200
    assert "Taking you to Globex Gardens" in page.text
    form = page.form("Continue")
    assert form.action == SIGN_IN
    assert "https://idp.globex.example" in str(page.answer.headers["Content-Security-Policy"] if page.answer else "")
    root = etree.fromstring(base64.b64decode(form.fields["SAMLRequest"]))
    certificate = saml_globex.connection["SPCertificate"]["Certificate"]
    XMLVerifier().verify(root, x509_cert=certificate, id_attribute="ID")


def test_provider_signs_in_again_where_it_must(saml_globex: SamlOrganization) -> None:
    saml_globex.sign_in()
    redirected_page = saml_globex.begin()
    assert read_request(redirected_page.address).root.get("ForceAuthn") == "true"


@pytest.mark.parametrize(
    ("kind", "form"),
    [("saml_okta", "subject"), ("saml_entraid", "parameter"), ("saml_custom", ""), ("saml_salesforce", "")],
)
def test_hint_goes_where_the_provider_takes_it(
    new_saml_organization: NewSamlOrganization, kind: str, form: str
) -> None:
    globex = new_saml_organization(ConnectionType=kind)
    page = globex.begin(login_hint=MINA["email"])
    subject = read_request(page.address).root.findtext("{*}Subject/{*}NameID")
    assert (subject == MINA["email"]) is (form == "subject")
    assert (parse_qs(urlsplit(page.address).query).get("login_hint") == [MINA["email"]]) is (form == "parameter")


def test_domain_leads_to_the_saml_provider(new_saml_organization: NewSamlOrganization) -> None:
    globex = new_saml_organization(settings={"identifier_first": True})
    page = globex.visitor.open("/login").press("Continue", identifier=MINA["email"])
    assert page.address.startswith(SIGN_IN)
    assert globex.complete(page).profile_name == "Mina Harker"


def test_required_connection_takes_saml_alone(saml_globex: SamlOrganization) -> None:
    mina = saml_globex.tenant.person(MINA["email"])
    saml_globex.sign_in()
    saml_globex.set_policies(MethodPolicy={"AllowedMethods": ["connection"]})
    visitor = saml_globex.new_visitor_at(saml_globex.tenant)
    page = visitor.open("/login?direct=y").sign_in(mina.email, mina.password)
    assert visitor.open("/profile").is_sign_in, page.text
    assert saml_globex.sign_in(visitor).profile_name


def test_encrypted_assertion_signs_in(saml_globex: SamlOrganization) -> None:
    pem = saml_globex.connection["SPCertificate"]["Certificate"]
    key: Any = x509.load_pem_x509_certificate(pem.encode())  # of which `encrypted` takes the public key alone

    def encrypt(root: etree._Element) -> None:
        assertion = root.find("{*}Assertion")
        assert assertion is not None
        root.replace(assertion, encryption.encrypted(assertion, key))

    page = saml_globex.sign_in(form={"after": encrypt})
    assert page.profile_name == "Mina Harker", [trace.received for trace in traces(saml_globex)]


def test_metadata_of_a_connection_is_read_by_the_gate(saml_globex: SamlOrganization) -> None:
    page = saml_globex.visitor.open(urlsplit(saml_globex.connection["MetadataUrl"]).path)
    assert page.answer is not None
    assert page.answer.mimetype == "application/samlmetadata+xml"
    found = read_metadata(page.answer.data, saml_globex.tenant.services.clock.now())
    role = found.service_provider
    assert role is not None
    assert found.entity_id == saml_globex.connection["EntityId"]
    assert role.services[0].location == saml_globex.connection["ACSEndpoint"]
    assert role.signing_certificates == (saml_globex.connection["SPCertificate"]["Certificate"],)
    assert saml_globex.visitor.open(f"/saml/sp/{'x' * 34}/metadata.xml").status == 403


def test_inactive_saml_connection_signs_nobody_in(saml_globex: SamlOrganization) -> None:
    redirected_page = saml_globex.begin()
    saml_globex.set_active(is_active=False)
    assert saml_globex.complete(redirected_page).status == 403
    assert saml_globex.count_accounts() == 0


def test_deactivation_ends_sessions_of_a_saml_connection(saml_globex: SamlOrganization) -> None:
    saml_globex.sign_in()
    saml_globex.set_active(is_active=False)
    assert saml_globex.visitor.open("/profile").is_sign_in


def test_error_of_the_provider_is_shown_with_a_reference(saml_globex: SamlOrganization) -> None:
    page = saml_globex.sign_in(
        form={"change": attribute("StatusCode", "Value", "urn:oasis:names:tc:SAML:2.0:status:Responder")}
    )
    assert is_refused(page)
    trace = traces(saml_globex)[0]
    assert trace.reference in page.text
    assert (trace.failed_check, trace.org_id) == (SamlCheck.CONDITIONS, saml_globex.org)
    assert re.search("Responder", trace.received)


def test_answer_from_long_ago_is_refused(saml_globex: SamlOrganization) -> None:
    old = saml_globex.tenant.services.clock.now() - timedelta(minutes=20)
    assert is_refused(saml_globex.sign_in(change=lambda answer: setattr(answer, "now", old)))


@pytest.mark.parametrize("change", [removed("NameID"), text("Audience", "https://x.example"), removed("Conditions")])
def test_changed_answer_creates_nothing(saml_globex: SamlOrganization, change: Any) -> None:
    assert is_refused(saml_globex.sign_in(form={"change": change}))
    assert saml_globex.count_accounts() == 0


def test_forced_authentication_is_demanded_upstream(saml_globex: SamlOrganization) -> None:
    """A provider that answers by a session it has did not authenticate anew, even where no session is here."""
    wiki, visitor = ServiceProvider(saml_globex.business.tenant), saml_globex.visitor
    wiki.store()
    page = wiki.open(visitor, must_reauthenticate=True)
    start = f"/sign-in/with?provider={saml_globex.id}&attempt={page.query['attempt']}"
    redirected = visitor.open(start)
    assert read_request(redirected.address).root.get("ForceAuthn") == "true"
    earlier = saml_globex.tenant.services.clock.now() - timedelta(hours=1)
    silent = saml_globex.complete(redirected, change=lambda answer: setattr(answer, "authenticated_at", earlier))
    assert silent.is_sign_in
    assert visitor.open("/profile").is_sign_in
    wiki.accept(visitor, saml_globex.complete(visitor.open(start)))


def test_request_without_force_takes_the_providers_session(saml_globex: SamlOrganization) -> None:
    wiki, visitor = ServiceProvider(saml_globex.business.tenant), saml_globex.visitor
    wiki.store()
    page = wiki.open(visitor)
    redirected = visitor.open(f"/sign-in/with?provider={saml_globex.id}&attempt={page.query['attempt']}")
    assert read_request(redirected.address).root.get("ForceAuthn") is None
    wiki.accept(visitor, saml_globex.complete(redirected))
