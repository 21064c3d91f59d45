"""Every management operation declares the scope that a machine token needs."""

import re
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel

from app.contract.auth import AuthScheme
from app.contract.catalogue import CATALOGUE, load_catalogue
from app.contract.resources import RESOURCES

load_catalogue()
OF_SCOPES = (
    "profile", "role", "organization", "invitation", "webhook", "workflow", "template", "security", "provider", "client",
    "migration", "sott", "customobject", "consent", "password", "token", "backupcode",
)  # fmt: skip
SCOPES = {"all"} | {f"{scope}:{what}" for scope in OF_SCOPES for what in ("read", "create", "update", "delete")}
OF_SERVERS = [operation for operation in CATALOGUE if re.match(r"(/identity)?/v2/manage/", operation.path)]


def test_management_operations_admit_a_machine_with_their_scope() -> None:
    machine = frozenset({AuthScheme.MACHINE_TOKEN})
    assert len(OF_SERVERS) > 200
    assert [server.name for server in OF_SERVERS if machine not in server.admission.auth.alternatives] == []
    assert {server.name: server.admission.scope for server in OF_SERVERS if server.admission.scope not in SCOPES} == {}


def test_operation_without_machine_access_declares_no_scope() -> None:
    assert [
        operation.name
        for operation in CATALOGUE
        if operation.admission.scope and AuthScheme.MACHINE_TOKEN not in operation.admission.auth.schemes()
    ] == []


SECRET = re.compile(r"(^|_)(hash|secret|sott|token|otp|back_?up_codes?|manual_entry_code)$")
NO_SECRETS = {
    "passwords.set": {"password_hash"},  # of the password that the caller sent
    "organizations.list": {"client_secret", "verification_token"},  # masked; the record that a domain publishes
    "organizations.read": {"client_secret", "verification_token"},
    "organization_connections.list": {"client_secret"},
    "organization_connections.read": {"client_secret"},
    "organization_domains.list": {"verification_token"},
    "organization_domains.read": {"verification_token"},
    "second_factors.managed_read": {"manual_entry_code"},  # empty but for the account's own settings
}


def test_scopes_of_readers_and_profiles_answer_no_secret() -> None:
    """Those of a declared resource are masked: see `test_secrets_are_masked_retained_and_encrypted`."""
    found = {
        server.name: {name for name in members(server.response) if SECRET.search(name)}
        for server in OF_SERVERS
        if re.match(r"profile:|[a-z]+:read$", server.admission.scope)
        and server.admission.scope not in ("password:read", "token:read")
        and server.name.rpartition(".")[0] not in {resource.area for resource in RESOURCES}
    }
    assert {name: secrets for name, secrets in found.items() if secrets} == NO_SECRETS


def members(annotation: Any, seen: frozenset[Any] = frozenset()) -> Iterator[str]:
    """Return the names of the members of a response, nested ones included."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and annotation not in seen:
        for name, member in annotation.model_fields.items():
            yield name
            yield from members(member.annotation, seen | {annotation})
    for inner in get_args(annotation):
        yield from members(inner, seen)
