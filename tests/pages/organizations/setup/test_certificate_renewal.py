"""The page of a link that renews certificates: what it shows, takes and says, without scripts."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.pages.organizations.setup.conftest import NewSetup
from tests.support.oauth.world import World
from tests.support.organizations.connected_organization import business_of
from tests.support.organizations.management import PATH
from tests.support.organizations.renewals import RenewalLink, fingerprint, fresh_certificate
from tests.support.organizations.saml_setup_guides import provider_metadata
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor


@pytest.fixture
def renewal(world: World, identity_app: Flask) -> RenewalLink:
    return RenewalLink(world, business_of(world, identity_app), identity_app)


@pytest.fixture
def administrator(renewal: RenewalLink, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(renewal.tenant)


def opened(renewal: RenewalLink, administrator: Visitor) -> VisitedPage:
    start = administrator.open(renewal.path)
    assert start.heading == "Renew the certificate"
    assert "DNS" not in start.text
    return start.press("Continue")


def test_certificate_is_added_and_shown(renewal: RenewalLink, administrator: Visitor) -> None:
    page = opened(renewal, administrator)
    assert page.heading == "Renew the certificate"
    for shown in ("Globex Gardens", "globex-sso", "Nothing is replaced", fingerprint(renewal.present)):
        assert shown in page.text
    assert fingerprint(fresh_certificate()) not in page.text
    done = page.press("Add certificate", certificate=fresh_certificate())
    assert "Certificate added" in done.text
    for pem in (renewal.present, fresh_certificate()):
        assert fingerprint(pem) in done.text
    assert "BEGIN CERTIFICATE" not in done.html


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("", "Fill in this field."),
        ("<b>no certificate</b>", "We couldn’t read a certificate there."),
        (fresh_certificate("old", -100), "This certificate expired."),
        (fresh_certificate("weak", bits=1_024), "This certificate is too weak."),
        (fresh_certificate("present", 3_000), "This certificate is already trusted."),
        (provider_metadata(fresh_certificate(), entity="https://evil.example"), "This metadata is from another provider."),
        ("x" * 40_001, "Use 40000 characters or fewer."),
    ],
    ids=["nothing", "text", "expired", "weak", "known", "foreign", "long"],
)  # fmt: skip
def test_unusable_certificate_gets_an_error(
    renewal: RenewalLink, administrator: Visitor, typed: str, sentence: str
) -> None:
    page = opened(renewal, administrator).press("Add certificate", certificate=typed)
    assert sentence in page.text
    assert page.title.startswith("Error: ")
    assert typed.strip()[4:40].replace("<", "&lt;").replace(">", "&gt;").replace('"', "&#34;") in page.html
    assert "<b>no" not in page.html
    assert renewal.trusted() == [fingerprint(renewal.present)]


def test_every_step_leads_to_the_renewal(renewal: RenewalLink, administrator: Visitor) -> None:
    page = opened(renewal, administrator)
    fields = page.form("Add certificate").fields
    for step in ("", "/domain", "/provider", "/connection", "/test", "/activate"):
        assert administrator.open(f"/setup{step}").heading == "Renew the certificate"
        if step:
            shown = administrator.send("POST", f"{administrator.home}/setup{step}", {**fields, "product": "saml"})
            assert shown.heading == "Renew the certificate"


def test_guide_does_not_lead_to_the_renewal(new_setup: NewSetup) -> None:
    setup = new_setup()
    setup.open()
    assert setup.visitor.open("/setup/certificate").heading == "Verify your domain"
    assert setup.visitor.open("/setup/domain").heading == "Verify your domain"


def test_page_needs_a_session(renewal: RenewalLink, administrator: Visitor) -> None:
    assert administrator.open("/setup/certificate").heading == "Session ended"
    page = opened(renewal, administrator)
    answered(renewal.business.send("DELETE", f"{PATH}/{renewal.org}/setup-links/{renewal.link['Id']}"))
    assert page.press("Add certificate", certificate=fresh_certificate()).heading == "Session ended"
    assert renewal.trusted() == [fingerprint(renewal.present)]
