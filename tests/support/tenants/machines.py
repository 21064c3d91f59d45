"""Machines that hold a token of a tenant."""

from __future__ import annotations

from typing import Any

from werkzeug.test import TestResponse

from app.contract.applications.settings import ApplicationSettings
from app.identity.directory.tenants.tables import applications
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors.plain_client import PlainClient

SECRET = "a secret of the machine"
ROBOT = "robot-"
"""How the client id of every machine begins."""


def audience(tenant: TenantServer) -> str:
    return f"{tenant.services.settings.base_url}/identity/v2/manage"


def machine(tenant: TenantServer, *scopes: str) -> str:
    """Register a machine with these scopes and return its token."""
    stated = ApplicationSettings(
        name="robot",
        application_type="m2m",
        grant_types=("client_credentials",),
        audience_scopes={audience(tenant): scopes},
    )
    client_id = f"{ROBOT}{randomness.uid()}"
    row = {
        "tenant_id": tenant.tenant_id,
        "client_id": client_id,
        "name": client_id,
        "secret_hash": randomness.digest(SECRET),
        "settings": stated.model_dump(mode="json"),
        "created_at": tenant.services.clock.now(),
    }
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        work.run(applications.insert(), row)
    parameters = {
        "grant_type": "client_credentials",
        "audience": audience(tenant),
        "client_id": client_id,
        "client_secret": SECRET,
    }
    base = f"http://{tenant.name}.{tenant.services.settings.hub_domain}"
    return str(
        answered(PlainClient(tenant.app).post("/service/oauth/token", data=parameters, base_url=base))["access_token"]
    )


def ask(tenant: TenantServer, token: str, method: str, path: str, body: Any = None, **query: Any) -> TestResponse:
    """Ask with the token alone, without key and secret."""
    return tenant.send(method, path, body, bearer=token, **{"apikey": None, **query})
