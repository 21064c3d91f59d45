"""Every management operation declares the scope that a machine token needs."""

import re

import pytest

from app.contract.auth import AuthScheme
from app.contract.operations import CATALOGUE, load_catalogue
from app.kit.operation import AnyOperation

load_catalogue()
RESOURCES = (  # interface tenant-config.md section 1
    "profile", "role", "organization", "invitation", "webhook", "workflow", "template", "security", "provider", "client",
    "migration", "sott", "customobject", "consent",
)  # fmt: skip
SCOPES = {"all"} | {f"{one}:{what}" for one in RESOURCES for what in ("read", "create", "update", "delete")}
OF_SERVERS = [one for one in CATALOGUE if re.match(r"(/identity)?/v2/manage/", one.path)]


@pytest.mark.parametrize("operation", OF_SERVERS, ids=lambda operation: operation.name)
def test_management_operation_admits_a_machine_with_its_scope(operation: AnyOperation) -> None:
    assert frozenset({AuthScheme.MACHINE_TOKEN}) in operation.admission.auth.alternatives
    assert operation.admission.scope in SCOPES


def test_operation_without_machine_access_declares_no_scope() -> None:
    assert [
        one.name
        for one in CATALOGUE
        if one.admission.scope and AuthScheme.MACHINE_TOKEN not in one.admission.auth.schemes()
    ] == []
