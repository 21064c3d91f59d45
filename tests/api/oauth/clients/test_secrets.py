"""Secrets of clients that sign with them: stored encrypted beside their digest, only for as long as the client signs (decision 0210)."""

from __future__ import annotations

from typing import Any

import pytest
from joserfc.jwk import OctKey
from werkzeug.test import Client

from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tenant_writes import ApplicationRow
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.signed_requests import Signer
from tests.support.services.identity_service import MovableClock
from tests.support.tenants.configuration_files import applied, rows
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused

CLIENTS = "/v2/manage/oauth-clients"
SHOP = {
    "AppName": "Shop",
    "GrantTypes": ["authorization_code", "client_credentials"],
    "RedirectURIs": ["https://shop.example/in"],
    "TokenEndpointAuthMethod": "client_secret_jwt",
}
SECRET = "a secret of 32 bytes or more, to sign with"


class SecretManager:
    """A program that manages clients, and the client that it made."""

    def __init__(self, tenant: TenantServer) -> None:
        self.tenant = tenant
        self.token = machine(tenant, *(f"client:{action}" for action in ("read", "create", "update", "delete")))

    def send(self, method: str, path: str, body: Any = None) -> Any:
        return ask(self.tenant, self.token, method, CLIENTS + path, body)

    def signs(self, client_id: str, secret: str) -> bool:
        tenant = self.tenant
        party = RelyingParty(tenant.services, Client(tenant.app), tenant.name, tenant.api_key, client_id, "")
        form = {"grant_type": "client_credentials"}
        return (
            party.back("token", form | Signer(party, "HS256", OctKey.import_key(secret)).assertion()).status_code == 200
        )

    def row(self) -> ApplicationRow:
        work = UnitOfWork(self.tenant.services.database, self.tenant.tenant_id)
        try:
            return next(
                application for application in tenant_writes.applications_of(work) if application.name == "shop"
            )
        finally:
            work.rollback()


@pytest.fixture
def manager(acme: TenantServer) -> SecretManager:
    return SecretManager(acme)


@pytest.mark.both_databases
def test_managed_client_signs_with_both_secrets_for_a_day(manager: SecretManager) -> None:
    made = answered(manager.send("POST", "", SHOP))
    client_id, first = made["ClientId"], made["ClientSecret"]
    assert manager.signs(client_id, first)
    second = answered(manager.send("PUT", "/credentials/Shop"))["ClientSecret"]
    assert manager.signs(client_id, first)
    assert manager.signs(client_id, second)
    clock = manager.tenant.services.clock
    assert isinstance(clock, MovableClock)
    clock.advance(hours=25)
    assert not manager.signs(client_id, first)
    assert manager.signs(client_id, second)


def test_client_that_stops_signing_loses_the_encrypted_copy(manager: SecretManager) -> None:
    made = answered(manager.send("POST", "", SHOP))
    assert manager.row().sealed_secret is not None
    answered(manager.send("PUT", "/Shop", {"TokenEndpointAuthMethod": "client_secret_post"}))
    assert manager.row().sealed_secret is None
    assert manager.row().secret_hash is not None
    assert not manager.signs(made["ClientId"], made["ClientSecret"])


@pytest.mark.both_databases
def test_client_that_begins_to_sign_needs_a_new_secret(manager: SecretManager) -> None:
    made = answered(manager.send("POST", "", {**SHOP, "TokenEndpointAuthMethod": "client_secret_post"}))
    answered(manager.send("PUT", "/Shop", {"TokenEndpointAuthMethod": "client_secret_jwt"}))
    assert not manager.signs(made["ClientId"], made["ClientSecret"]), "its digest alone is known"
    assert manager.signs(made["ClientId"], answered(manager.send("PUT", "/credentials/Shop"))["ClientSecret"])


@pytest.mark.both_databases
def test_client_with_keys_has_no_secret(manager: SecretManager) -> None:
    keys = {"TokenEndpointAuthMethod": "private_key_jwt", "JwksUri": "https://shop.example/keys"}
    assert answered(manager.send("POST", "", {**SHOP, **keys}))["ClientSecret"] is None
    assert refused(manager.send("PUT", "/credentials/Shop")) == (400, 7900)
    answered(manager.send("PUT", "/Shop", {"TokenEndpointAuthMethod": "client_secret_jwt"}))
    answered(manager.send("PUT", "/credentials/Shop"))
    answered(manager.send("PUT", "/Shop", keys))
    row = manager.row()
    assert (row.secret_hash, row.sealed_secret) == (None, None)


FILE = "tenants: [{name: acme, applications: [{name: shop, redirect_uris: ['https://a.example/'], %s}]}]"


def file(method: str, more: str = "") -> str:
    return FILE % f"token_endpoint_auth_method: {method}{more}"


def stored(services: IdentityServices) -> tuple[bool, bool]:
    (row,) = rows(services, "applications")
    return row.secret_hash is not None, row.sealed_secret is not None


@pytest.mark.both_databases
def test_file_changes_how_an_application_authenticates(own_services: IdentityServices) -> None:
    def made(text: str) -> set[str]:
        return {item.key for item in applied(own_services, text).generated} - {"api_key", "api_secret", "client_id"}

    keys = ", jwks_uri: 'https://a.example/keys'"
    assert (made(file("client_secret_jwt")), stored(own_services)) == ({"client_secret"}, (True, True))
    assert (made(file("client_secret_jwt")), stored(own_services)) == (set(), (True, True))
    assert (made(file("client_secret_basic")), stored(own_services)) == (set(), (True, False))
    assert (made(file("client_secret_jwt", f", client_secret: '{SECRET}'")), stored(own_services)) == (
        set(),
        (True, True),
    )
    assert (made(file("private_key_jwt", keys)), stored(own_services)) == (set(), (False, False))
    assert (made(file("client_secret_post")), stored(own_services)) == ({"client_secret"}, (True, False))


@pytest.mark.parametrize(
    ("method", "more", "problem"),
    [
        ("private_key_jwt", "", "jwks"),
        ("private_key_jwt", ", jwks_uri: 'https://a.example/keys', client_secret: 'a secret of 32 bytes or more'", "client_secret"),
        ("client_secret_jwt", ", client_secret: 'of sixteen bytes'", "client_secret"),
        ("client_secret_jwt", ", token_endpoint_auth_signing_alg: RS256", "token_endpoint_auth_signing_alg"),
        ("client_secret_basic", ", token_endpoint_auth_signing_alg: HS256", "token_endpoint_auth_signing_alg"),
        ("client_secret_jwt", ", token_endpoint_auth_signing_alg: none", "token_endpoint_auth_signing_alg"),
        ("self_signed_tls_client_auth", "", "jwks"),
        ("tls_client_auth", "", "tls_client_auth_subject_dn"),
        ("tls_client_auth", ", tls_client_auth_subject_dn: shop", "tls_client_auth_subject_dn"),
        ("tls_client_auth", ", tls_client_auth_san_ip: shop", "tls_client_auth_san_ip"),
        ("tls_client_auth", ", tls_client_auth_san_dns: a.example, tls_client_auth_san_uri: x", "tls_client_auth_subject_dn"),
    ],
)  # fmt: skip
def test_contradictory_file_is_refused(own_services: IdentityServices, method: str, more: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"applications\[0\]\.{problem}: expected"):
        applied(own_services, file(method, more))
