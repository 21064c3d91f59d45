"""OAuth clients of a tenant that programs manage."""

from __future__ import annotations

from typing import Any

from werkzeug.test import TestResponse

from app.contract.applications.settings import ApplicationSettings
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.tenants.machines import audience, machine
from tests.support.tenants.tenant_server import TenantServer
from tests.support.visitors.plain_client import PlainClient

CLIENTS = "/v2/manage/oauth-clients"
SHOP = {"AppName": "Shop", "RedirectURIs": ["https://shop.example/in"]}


def worker(tenant: TenantServer, *scopes: str, name: str = "Worker", at: str = "") -> dict[str, Any]:
    """Return the body of a client that gets machine tokens with these scopes."""
    return {
        "AppName": name,
        "ApplicationType": "M2M",
        "GrantTypes": ["client_credentials"],
        "AudienceScopes": {at or audience(tenant): list(scopes)},
    }


def host_of(tenant: TenantServer) -> str:
    return f"http://{tenant.name}.{tenant.services.settings.hub_domain}"


def machine_token(tenant: TenantServer, client: dict[str, Any], **changed: Any) -> TestResponse:
    """Ask for a machine token as a client."""
    body = {
        "grant_type": "client_credentials",
        "audience": audience(tenant),
        "client_id": client["ClientId"],
        "client_secret": client["ClientSecret"],
        **changed,
    }
    return PlainClient(tenant.app).post("/service/oauth/token", data=body, base_url=host_of(tenant))


def give(tenant: TenantServer, name: str, **settings: Any) -> None:
    """Set what a configuration file may set of a client and operations may not."""
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        stored = tenant_writes.application_named(work, name)
        assert stored is not None
        tenant_writes.change_application(
            work, stored.client_id, ApplicationSettings.model_validate({**stored.settings, **settings})
        )
        tenant_writes.change(work)
    tenant.services.directory.clear_cache()


def client_of(tenant: TenantServer, *scopes: str) -> str:
    """Register a client with these management scopes and return its id; its secret is `machines.SECRET`."""
    before = _clients_of(tenant)
    machine(tenant, *scopes)
    return (_clients_of(tenant) - before).pop()


def _clients_of(tenant: TenantServer) -> set[str]:
    work = UnitOfWork(tenant.services.database, tenant.tenant_id)
    try:
        return {application.client_id for application in tenant_writes.applications_of(work)}
    finally:
        work.rollback()
