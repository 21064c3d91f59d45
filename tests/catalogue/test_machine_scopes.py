"""Every management operation declares the scope that a machine token needs."""

import re

from app.contract.auth import AuthScheme
from app.contract.operations import CATALOGUE, load_catalogue

load_catalogue()
RESOURCES = (  # interface tenant-config.md section 1
    "profile", "role", "organization", "invitation", "webhook", "workflow", "template", "security", "provider", "client",
    "migration", "sott", "customobject", "consent",
)  # fmt: skip
SCOPES = {"all"} | {f"{one}:{what}" for one in RESOURCES for what in ("read", "create", "update", "delete")}
OF_SERVERS = [one for one in CATALOGUE if re.match(r"(/identity)?/v2/manage/", one.path)]


def test_management_operations_admit_a_machine_with_their_scope() -> None:
    machine = frozenset({AuthScheme.MACHINE_TOKEN})
    assert len(OF_SERVERS) > 200
    assert [one.name for one in OF_SERVERS if machine not in one.admission.auth.alternatives] == []
    assert {one.name: one.admission.scope for one in OF_SERVERS if one.admission.scope not in SCOPES} == {}


def test_operation_without_machine_access_declares_no_scope() -> None:
    assert [
        one.name
        for one in CATALOGUE
        if one.admission.scope and AuthScheme.MACHINE_TOKEN not in one.admission.auth.schemes()
    ] == []
