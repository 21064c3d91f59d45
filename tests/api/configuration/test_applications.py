"""Applications in configuration files keep the rules of the operations that write OAuth clients, and leave the same trace."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.applications.settings import ApplicationSettings
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tenant_writes import ApplicationRow
from app.identity.platform.audit import latest
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.tenants.configuration_files import applied, planned, rows
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

CLIENTS = "/v2/manage/oauth-clients"
FILE = (
    "tenants: [{name: acme, applications: [{name: shop, client_id: shop, redirect_uris: ['https://a.example/cb']%s}]}]"
)
SECRET = ", client_secret: the-secret-of-the-shop"


class Managed:
    """A tenant whose application a file creates, with a machine token for the operations of clients."""

    def __init__(self, server: TenantServer) -> None:
        self.server, self.token = server, machine(server, "all")
        self.text = FILE.replace("name: acme", f"name: {server.name}")
        applied(server.services, self.text % SECRET)
        server.services.directory.clear_cache()

    def change(self, **values: Any) -> Any:
        return ask(self.server, self.token, "PUT", f"{CLIENTS}/shop", values)

    def trace(self) -> list[tuple[str, Any, Any]]:
        work = UnitOfWork(self.server.services.database, self.server.tenant_id)
        found = [entry for entry in latest(work, 100) if entry.event.startswith("oauth_clients.")]
        work.rollback()
        return [(entry.event, entry.facts.get("name"), entry.facts.get("source")) for entry in reversed(found)]

    def row(self) -> ApplicationRow:
        work = UnitOfWork(self.server.services.database, self.server.tenant_id)
        found = tenant_writes.application_named(work, "shop")
        work.rollback()
        assert found
        return found


@pytest.fixture
def acme(new_tenant_server: NewTenantServer) -> Managed:
    return Managed(new_tenant_server())


@pytest.mark.both_databases
def test_audit_entries_name_the_file_as_source(acme: Managed) -> None:
    answered(acme.change(DisplayName="The Shop"))
    applied(acme.server.services, acme.text % ", require_consent: true")
    applied(acme.server.services, acme.text % ", require_consent: true")
    applied(acme.server.services, f"tenants: [{{name: {acme.server.name}, applications: []}}]", prune=True)
    assert acme.trace() == [
        ("oauth_clients.added", "shop", "file"),
        ("oauth_clients.changed", "shop", None),
        ("oauth_clients.changed", "shop", "file"),
        ("oauth_clients.removed", "robot", "file"),
        ("oauth_clients.removed", "shop", "file"),
    ]


@pytest.mark.both_databases
def test_file_is_refused_what_an_operation_is_refused(acme: Managed) -> None:
    answered(acme.change(TokenEndpointAuthMethod="none"))
    grants = ["authorization_code", "client_credentials"]
    assert refused(acme.change(GrantTypes=grants)) == (400, 7900)
    before = acme.row()
    text = acme.text % f", grant_types: [{', '.join(grants)}]"
    for run in (planned, applied):
        with pytest.raises(ConfigurationError, match=r"applications\[0\]: GrantTypes: expected without client_cred"):
            run(acme.server.services, text)
    assert acme.row() == before


@pytest.mark.both_databases
def test_change_of_a_file_is_visible_at_once(acme: Managed) -> None:
    before = acme.server.services.directory.by_name(acme.server.name)
    applied(acme.server.services, acme.text % ", require_consent: true")
    after = acme.server.services.directory.by_name(acme.server.name)
    assert before
    assert after
    assert after.version == before.version + 1


def test_default_that_a_file_names_is_stored(own_services: IdentityServices) -> None:
    applied(own_services, FILE % ", require_consent: false")
    (row,) = rows(own_services, "applications")
    assert row.settings["require_consent"] is False
    applied(own_services, FILE % ", require_consent: false, cors: true")
    (row,) = rows(own_services, "applications")
    assert row.settings["cors"] is True
    assert applied(own_services, FILE % ", require_consent: false, cors: true").is_empty


def test_renamed_application_keeps_id_and_secret(own_services: IdentityServices) -> None:
    applied(own_services, FILE % SECRET)
    (before,) = rows(own_services, "applications")
    applied(own_services, (FILE % "").replace("name: shop", "name: Store"))
    (after,) = rows(own_services, "applications")
    assert (after.client_id, after.secret_hash) == ("shop", before.secret_hash)
    assert (after.name, after.settings["name"]) == ("store", "Store")


@pytest.mark.both_databases
def test_plan_makes_no_signing_key_and_apply_does(own_services: IdentityServices) -> None:
    applied(own_services, FILE % "")
    signed = FILE % ", id_token_signed_response_alg: ES256"
    planned(own_services, signed)
    assert [row.algorithm for row in rows(own_services, "signing_keys")] == []
    applied(own_services, signed)
    assert [row.algorithm for row in rows(own_services, "signing_keys")] == ["ES256"]


def test_client_id_in_a_request_is_ignored(acme: Managed) -> None:
    body = {"AppName": "desk", "ClientId": "desk", "RedirectURIs": ["https://desk.example/cb"]}
    assert answered(ask(acme.server, acme.token, "POST", CLIENTS, body))["ClientId"] not in ("desk", "")


def test_taken_name_is_refused_at_the_application(acme: Managed) -> None:
    work = UnitOfWork(acme.server.services.database, acme.server.tenant_id)
    work.begin()
    settings = ApplicationSettings.model_validate({**acme.row().settings, "name": "desk"})
    now = acme.server.services.clock.now()
    tenant_writes.add_application(work, "registered", settings, now, registered_by="open")
    work.commit()
    with pytest.raises(ConfigurationError, match=r"applications\[0\]: is already taken"):
        applied(acme.server.services, (acme.text % "").replace("shop", "desk"))
