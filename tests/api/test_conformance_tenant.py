"""The tenant that `examples/conformance.yaml` describes for the conformance suite, on a fresh service."""

import re

from app.identity.administration.configuration import apply as configuration
from app.identity.administration.configuration.reading import read
from app.identity.platform.services import Services
from app.kit.package_files import HOME
from tools import conformance

FILE = HOME / "examples" / "conformance.yaml"


def test_tenant_of_the_suite_applies_to_a_fresh_service(own_services: Services) -> None:
    file = read(FILE.read_bytes().replace(b"SUITE", b"suite.example"), FILE.name, FILE.parent)
    first, again = (configuration.apply(own_services, file, prune=False) for _ in range(2))
    assert {str(change.action) for change in first.changes} == {"create"}
    assert {str(change.action) for change in again.changes} <= {"unchanged"}


def test_page_and_file_name_the_same_clients() -> None:
    named = set(re.findall(r"`(suite-[a-z-]+)`", conformance.INTRODUCTION))
    assert named == set(re.findall(r"client_id: (suite-[a-z-]+)", FILE.read_text()))
