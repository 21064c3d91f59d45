"""The tables of specifications and of the conformance suite have no holes, and the published ones are up to date."""

from app.identity.administration.configuration.file.read_configuration import read
from app.kit.package_files import HOME as ROOT
from tools import conformance, specifications


def test_every_section_has_a_check_and_a_test() -> None:
    assert specifications.holes() == []


def test_published_tables_are_up_to_date() -> None:
    """If not: `python -m tools.specifications` and `python -m tools.conformance` write them."""
    assert specifications.TARGET.read_text() == specifications.document()
    assert conformance.TARGET.read_text() == conformance.document()


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
