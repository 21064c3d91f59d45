"""What a machine may do, a statement says: every operation of the tenant's servers, each with a scope of the interface."""

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
def test_a_machine_with_the_scope_may_do_what_the_tenant_s_server_may(operation: AnyOperation) -> None:
    assert frozenset({AuthScheme.MACHINE_TOKEN}) in operation.admission.auth.alternatives
    assert operation.admission.scope in SCOPES


def test_who_admits_no_machine_states_no_scope() -> None:
    assert [
        one.name
        for one in CATALOGUE
        if one.admission.scope and AuthScheme.MACHINE_TOKEN not in one.admission.auth.schemes()
    ] == []
