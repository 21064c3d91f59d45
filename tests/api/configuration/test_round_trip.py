"""A tenant's export, applied under another name with the secrets that exports leave out, gives the same tenant."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from flask import Flask
from werkzeug.test import TestResponse

from app.contract.resources import RESOURCES, file_resources
from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.export import export
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.plan import ChangePlan
from app.identity.administration.resource_operations.resource_registry import store_of
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys import tenant_secrets
from app.identity.directory.tenants.tables import applications
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.resources.resource import CREATE, CREATED_AT, LIST, MODIFIED_AT, READ, REPLACE, SECRET, UPDATE, Resource
from app.kit.resources.resource_values import secret_name
from tests.support.operations.resource_samples import SAMPLES, Body
from tests.support.operations.resources import Manager, scopes_of
from tests.support.tenants.machines import ROBOT, ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered

LEFT_OUT = {
    "sotts": "credentials that apps of this tenant carry: they are encrypted with its API secret, and another tenant creates its own",
}
"""Resources that exports leave out, and why."""
DIFFERENT = {
    "passkeys": dict.fromkeys(
        ("RPDisplayName", "RPID", "RPOrigins"), "the tenant's own name and host, unless they are set"
    ),
    "consent_forms": {"Id": "the form of a file has its event and version as its id"},
    "custom_domains": {
        "RecordValue": "the tenant's host",
        "TxtValue": "the tenant's id",
        "PasskeyEffect": "names the tenant's host",
    },
    "oauth_clients": {"AppId": "the tenant's id"},
    "saml_providers": {
        "Id": "generated for each tenant",
        "AppId": "the tenant's id",
        "AppID": "the tenant's number",
        "ServiceProviderACSUrl": "at the tenant's host",
        "SamlServiceProvider": "the tenant's host",
        "SpCertificate": "each tenant has its own key, which a file cannot contain",
    },
}
"""Members that differ between a tenant and its copy, and why."""
THEN: dict[str, Callable[[Manager, Body], TestResponse]] = {
    "consent_forms": lambda manage, made: put(manage, f"/v2/manage/consent/forms/{made['Id']}/status", Status="Published"),
    "themes": lambda manage, made: put(manage, f"/v2/manage/hosted-pages/themes/{made['Id']}/activate"),
    "default_workflow": lambda manage, made: put(manage, "/v2/manage/default-workflow", WorkflowName="Flow 3"),
}  # fmt: skip
"""What follows the creation of an item: a draft of a consent form is not exported, a published form is. The default workflow is one
that exists."""
APPLIED_LAST = ("form_custom_fields",)
"""Resources that change what others replace: the registration form."""
TRAVELLING = sorted(
    (resource for resource in RESOURCES if resource.kind not in LEFT_OUT),
    key=lambda resource: resource.kind in APPLIED_LAST,
)


def put(manage: Manager, path: str, **body: Any) -> TestResponse:
    return ask(manage.tenant, manage.token, "PUT", path, body or None)


class Tenants:
    """Tenants that files made."""

    def __init__(self, services: IdentityServices, app: Flask) -> None:
        self.services, self.app = services, app

    def apply(self, tenant: Body) -> ChangePlan:
        """Apply a file with this tenant."""
        text = yaml.safe_dump({"tenants": [tenant]}, allow_unicode=True)
        done = apply_configuration.apply(self.services, read(text.encode(), "f.yaml", Path()))
        self.services.directory.clear_cache()
        return done

    def new(self, **tenant: Any) -> TenantServer:
        """Create a tenant from a file; it gets a name."""
        name = f"r{secrets.token_hex(5)}"
        made = {item.key: item.value for item in self.apply({**tenant, "name": name}).generated}
        stored = self.services.directory.by_name(name)
        assert stored is not None
        return TenantServer(self.services, self.app, stored.tenant_id, name, made["api_key"], made["api_secret"])

    def export(self, tenant: TenantServer) -> Body:
        """Return a tenant's export without its name and key; machines of the tests are removed before."""
        with UnitOfWork(self.services.database, tenant.tenant_id).separate_transaction() as work:
            is_robot = applications.c.client_id.startswith(ROBOT)
            work.run(applications.delete().where(applications.c.tenant_id == tenant.tenant_id, is_robot))
        (found,) = yaml.safe_load(export(self.services, tenant.name))["tenants"]
        return {key: value for key, value in found.items() if key not in ("name", "api_key")}


@pytest.fixture
def tenants(services: IdentityServices, identity_app: Flask) -> Tenants:
    return Tenants(services, identity_app)


def settings_of_samples() -> Body:
    return {name: value for resource in TRAVELLING for name, value in (SAMPLES[resource.kind].settings or {}).items()}


def with_every_resource(tenants: Tenants) -> tuple[TenantServer, dict[str, Body]]:
    """Return a tenant with an item of each resource, and the responses by resource."""
    tenant = tenants.new(settings=settings_of_samples())
    made = {}
    for resource in (*TRAVELLING, *(item for item in RESOURCES if item.kind in LEFT_OUT)):
        manage = Manager(tenant, resource)
        verb = next(item for item in (CREATE, REPLACE, UPDATE) if manage.does(item))
        body = manage.sample.item(3)
        made[resource.kind] = answered(manage(verb, {"Data": [body]} if verb is REPLACE else body))
        if resource.kind in THEN:
            answered(THEN[resource.kind](manage, made[resource.kind]))
        tenants.services.directory.clear_cache()
    return tenant, made


def reader(tenant: TenantServer) -> str:
    """Return the token of a machine that may see all resources."""
    return machine(tenant, *sorted({scope for resource in RESOURCES for scope in scopes_of(resource)}))


def shown(tenant: TenantServer, token: str, resource: Resource) -> Any:
    """Return what the operations show of a resource, without dates and the members that are each tenant's own."""
    manage = Manager(tenant, resource, token=token)
    found = manage.listed() if manage.does(LIST) else [manage(READ).get_json()]
    dates = {member.request_name for member in resource.members if member.roles & {CREATED_AT, MODIFIED_AT}}
    left_out = dates | DIFFERENT.get(resource.kind, {}).keys()
    return [{name: value for name, value in item.items() if name not in left_out} for item in found]


def with_secrets(tenants: Tenants, tenant: TenantServer, exported: Body, made: dict[str, Body]) -> Body:
    """Return the export with the secrets that the operator adds (docs/configuration.md)."""
    exported = yaml.safe_load(yaml.safe_dump(exported))
    services, existing = tenants.services, tenants.services.directory.by_name(tenant.name)
    assert existing is not None
    for resource in file_resources():
        names = {
            member.fields[-1]: secret_name(resource, member) for member in resource.members if SECRET in member.roles
        }
        for item, stored in zip(exported.get(resource.file_key, ()), items(tenant, resource), strict=True):
            item |= {
                name: stored.secrets[stored_name]
                for name, stored_name in names.items()
                if stored_name in stored.secrets
            }
    for name, secret in tenant_secrets.secrets_of(services.encryption, existing, tenant_secrets.CONNECTIONS).items():
        exported["connections"][name]["secret"] = secret
    exported["push"]["secrets"] = dict(tenant_secrets.secrets_of(services.encryption, existing, "push"))
    exported["duo"] |= tenant_secrets.secrets_of(services.encryption, existing, "duo")
    exported["captcha_secret"] = captcha_secret(services, tenant)
    (application,) = exported["applications"]
    application["client_secret"] = made["oauth_clients"]["ClientSecret"]
    return exported


def captcha_secret(services: IdentityServices, tenant: TenantServer) -> str:
    work = UnitOfWork(services.database, tenant.tenant_id)
    stored = tenant_writes.own(work)
    work.rollback()
    assert stored is not None
    assert stored.captcha_secret is not None
    return services.encryption.decrypt(
        stored.captcha_secret, tenant_writes.captcha_associated_data(stored.tenant_id)
    ).decode()


def items(tenant: TenantServer, resource: Resource) -> list[Item]:
    work = UnitOfWork(tenant.services.database, tenant.tenant_id)
    access = StoreAccess(work, tenant.services.encryption, tenant.services.clock.now())
    try:
        return list(store_of(resource).items(access, resource))
    finally:
        work.rollback()


def stored_secrets(tenant: TenantServer, resource: Resource) -> list[dict[str, str]]:
    """Return the secrets of the items that requests and files can set."""
    names = {secret_name(resource, member) for member in resource.members if SECRET in member.roles}
    return [
        {name: secret for name, secret in item.secrets.items() if name in names} for item in items(tenant, resource)
    ]


@pytest.mark.both_databases
def test_export_applied_to_another_service_gives_same_tenant(tenants: Tenants) -> None:
    """Every resource takes part that is not in LEFT_OUT, so a new one does."""
    tenant, made = with_every_resource(tenants)
    exported = tenants.export(tenant)
    complete = with_secrets(tenants, tenant, exported, made)
    copy = tenants.new(**complete)
    assert tenants.export(copy) == exported
    assert tenants.apply({**complete, "name": copy.name}).is_empty
    assert tenants.apply({**exported, "name": copy.name}).is_empty, "without secrets, the present ones stay"
    blank = tenants.new()
    of_tenant, of_copy, of_blank = (partial(shown, item, reader(item)) for item in (tenant, copy, blank))
    for resource in (item for item in RESOURCES if item.kind in LEFT_OUT):
        assert of_tenant(resource) != []
        assert of_copy(resource) == [], f"{resource.kind} travels: remove it from LEFT_OUT"
    for resource in TRAVELLING:
        expected = of_tenant(resource)
        assert expected != of_blank(resource), f"{resource.kind}: the sample is what every tenant has"
        assert of_copy(resource) == expected, resource.kind
        assert stored_secrets(copy, resource) == stored_secrets(tenant, resource), resource.kind


def test_lists_of_exceptions_name_resources() -> None:
    assert LEFT_OUT.keys() <= {resource.kind for resource in RESOURCES}
    assert {*DIFFERENT, *THEN, *APPLIED_LAST} <= {resource.kind for resource in TRAVELLING}
