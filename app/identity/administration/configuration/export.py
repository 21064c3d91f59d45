"""Exports a tenant as a configuration file without secrets and passwords; applying the file to another tenant generates new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from app.contract.applications.settings import ApplicationSettings
from app.contract.configuration_model import STORED
from app.contract.resources import file_resources
from app.contract.second_factors.service_settings import SECRETS_IN_FILE
from app.contract.tenants.branding import Brand
from app.contract.tenants.file import BESIDE_SETTINGS
from app.contract.tenants.settings import TenantSettings
from app.identity.administration.configuration.sections import (
    initial_access_tokens,
    organization_values,
    resource_items,
)
from app.identity.administration.configuration.sections.accounts import FREE
from app.identity.directory.accounts import account_store
from app.identity.directory.roles import tenant_role_store
from app.identity.directory.tenants import tenant_store, tenant_writes
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.directory.tenants.urls import custom_hosts
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import StoreAccess
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.resources.resource import Resource


class UnknownName(Exception):
    """No tenant has this name."""


def export(
    services: IdentityServices, name: str, of: Sequence[Resource] | None = None, *, has_all_members: bool = False
) -> str:
    """Return the tenant as YAML that `apply` takes. Raises UnknownName.

    Accounts only where a file made them; of the members of organizations these too, or all.
    """
    work = UnitOfWork(services.database, LOOKUP_TENANT)
    try:
        stored = tenant_writes.by_name(work, name)
        if stored is None:
            raise UnknownName(name)
        work.switch_tenant(stored.tenant_id)
        tenant = _tenant(work, stored)
        access = StoreAccess(work, services.encryption, services.clock.now())
        tenant |= resource_items.exported(access, file_resources() if of is None else of)
        found = tenant_store.of_row(stored, custom_hosts.of_tenant(work))
        context = Context.outside_requests(services, found, work)
        tenant |= organization_values.exported(context, has_all_members=has_all_members)
    finally:
        work.rollback()
    return yaml.dump({"tenants": [tenant]}, Dumper=_Readable, sort_keys=False, allow_unicode=True, width=120)


class _Readable(yaml.SafeDumper):
    """Writes texts of several lines as they are, so that people can go on with them."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Readable.add_representer(str, _text)


def _tenant(work: UnitOfWork, stored: tenant_writes.TenantRow) -> dict[str, Any]:
    settings = TenantSettings.model_validate(stored.settings).model_dump(
        mode="json", exclude_unset=True, exclude=set(BESIDE_SETTINGS)
    )
    tenant: dict[str, Any] = {"name": stored.name, "api_key": stored.api_key, "settings": settings}
    tenant["url_whitelist"] = stored.settings.get("url_whitelist", [])
    if form := stored.settings.get("registration_form"):
        tenant["registration_form"] = form
    tenant |= {name: stored.settings[name] for name in SECRETS_IN_FILE if name in stored.settings}
    tenant["brand"] = Brand.model_validate(stored.brand, context=STORED).model_dump(mode="json", exclude_unset=True)
    tenant["applications"] = [_application(application) for application in tenant_writes.configured_applications(work)]
    if roles := tenant_role_store.all_roles(work):
        tenant["roles"] = [{"name": role.name, "permissions": role.permissions} for role in roles]
    if tokens := initial_access_tokens.exported(work):
        tenant["initial_access_tokens"] = tokens
    tenant["accounts"] = [_account(row) for row in account_store.accounts_from_file(work)]
    return tenant


def _application(stored: tenant_writes.ApplicationRow) -> dict[str, Any]:
    settings = ApplicationSettings.model_validate(stored.settings).model_dump(mode="json", exclude_unset=True)
    return {"name": settings.pop("name"), "client_id": stored.client_id, **settings}


def _account(row: Any) -> dict[str, Any]:
    named = {kind: getattr(row, kind) for kind in ("email", "username", "phone") if getattr(row, kind)}
    switches = {"email_verified": row.email_verified, "phone_verified": row.phone_verified}
    declared = {**named, **{key: value for key, value in switches.items() if value}}
    if not row.is_active:
        declared["is_active"] = False
    if row.roles:
        declared["roles"] = row.roles
    return {
        **declared,
        **{key: row.profile[member] for key, member in FREE.items() if row.profile.get(member) is not None},
    }
