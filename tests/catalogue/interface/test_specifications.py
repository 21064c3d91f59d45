"""The tables of specifications, of the conformance suite and of the SAML gate have no holes, and the published ones are up to date."""

from app.identity.administration.configuration.file.read_configuration import read
from app.identity.platform.saml.saml_rules import SamlRule
from app.kit.package_files import HOME as ROOT
from tools import conformance, specifications
from tools.saml_gate import page
from tools.saml_gate.rules import RULES


def test_every_section_has_a_check_and_a_test() -> None:
    assert specifications.holes() == []


def test_published_tables_are_up_to_date() -> None:
    """If not: `python -m tools.specifications` and `python -m tools.conformance` write them."""
    assert specifications.TARGET.read_text() == specifications.document()
    assert conformance.TARGET.read_text() == conformance.document()


def test_published_gate_has_every_hostile_message() -> None:
    """If not: `python -m tools.saml_gate` measures them and writes the page. The figures of each run differ."""
    stored = page.TARGET.read_text().partition("## Large messages")[0]
    expected = page.document({}).partition("## Large messages")[0]
    assert page.FIGURES.sub("figures", stored) == page.FIGURES.sub("figures", expected)
    assert set(RULES) == set(SamlRule)


def test_tenant_of_the_conformance_suite_is_valid() -> None:
    path = ROOT / "examples" / "conformance.yaml"
    text = path.read_bytes().replace(b"SUITE", b"suite.example")
    (tenant,) = read(text, path.name, path.parent).tenants
    assert tenant.applications
    assert tenant.settings
    plans = {
        name
        for application in tenant.applications
        for name in (application.security_profile, *application.response_types)
    }
    assert {"plain", "fapi2", "code", "code id_token token", "id_token"} <= plans
    assert tenant.settings.client_registration.is_open
