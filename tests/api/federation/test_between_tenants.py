"""One tenant is the provider of another, in one process and over real HTTP, as set up by a configuration file."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import pytest
from werkzeug.serving import make_server
from werkzeug.test import Client

from app.factories import create_both
from app.identity.administration.configuration.apply_configuration import apply
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.authentication.federation import federated_sign_in, offered_connections
from app.identity.platform.services import IdentityServices
from app.settings import Settings
from tests.support.accounts.connecting import state_token
from tests.support.accounts.social_accounts import doing
from tests.support.services.identity_service import SECRET, make_services
from tests.support.services.servers import free_port
from tests.support.tenants.tenant_server import TenantServer
from tests.support.visitors.visitor import Visitor

FILE = """
tenants:
  - name: company
    settings: {{argon2: {{memory_kib: 8192, iterations: 1}}}}
    applications:
      - name: acme
        client_id: acme
        client_secret: "the secret of acme at the company"
        redirect_uris: ["http://acme.localhost:{port}/socialauth/validate.sauth"]
    accounts: [{{email: ada@example.com, password: "correct horse 7", email_verified: true, first_name: Ada}}]
  - name: acme
    connections:
      company:
        key: acme
        secret: "the secret of acme at the company"
        issuer: http://company.localhost:{port}
        trusts_email: true
"""


@dataclass(frozen=True)
class TwoTenantInstallation:
    """One process with two tenants."""

    services: IdentityServices
    port: int
    app: object


@pytest.fixture
def installed(migrated_file: Path, tmp_path: Path) -> Iterator[TwoTenantInstallation]:
    port = free_port()
    url = f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'gatehouse.db')}"
    settings = Settings(data_dir=tmp_path, database_url=url, secrets=(SECRET,), hub_domain=f"localhost:{port}")
    services = make_services(settings)
    apply(services, read(FILE.format(port=port).encode(), "both.yaml", tmp_path))
    app = create_both(settings)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", port, app, threaded=True)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield TwoTenantInstallation(services, port, app)
    server.shutdown()
    services.database.dispose()


def test_account_of_one_tenant_signs_in_at_another(installed: TwoTenantInstallation) -> None:
    services, port = installed.services, installed.port
    tenant = services.directory.by_name("acme")
    assert tenant is not None
    acme = TenantServer(services, installed.app, tenant.tenant_id, "acme", tenant.api_key, "")  # type: ignore[arg-type]  # WSGI
    with doing(acme) as call:
        address = federated_sign_in.begin(
            call, offered_connections.find(call, "company"), "attempt-1", hint="ada@example.com"
        )
    browser = Visitor(Client(installed.app), f"http://company.localhost:{port}")  # type: ignore[arg-type]  # a WSGI application
    page = browser.open(str(address))
    back = page.press("Sign in", password="correct horse 7")
    assert back.address.startswith(f"http://acme.localhost:{port}/socialauth/validate.sauth?")
    with doing(acme) as call:
        claimed, connection = federated_sign_in.finish(
            call, back.query["state"], state_token(call, back.query), back.query
        )
    assert (claimed.email, claimed.email_verified, connection.trusts_email) == ("ada@example.com", True, True)
    assert claimed.profile["FirstName"] == "Ada"
