"""A configuration file writes items by the rules of their operations: validated, audited, and with a new version of the tenant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml

from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.administration.configuration.plan import ChangePlan
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tenant_writes import TenantRow
from app.identity.platform import audit
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork

pytestmark = pytest.mark.parametrize("own_database", ["sqlite"], indirect=True)
CLIENT: dict[str, Any] = {"app_name": "wiki", "algo": "HS256", "secret": "s" * 32}
T = TypeVar("T")
SHOP: dict[str, Any] = {"store": "shop", "domain": "shop.example", "multipass_secret": "m" * 32}


def applied(services: IdentityServices, *, is_dry: bool = False, prune: bool = False, **tenant: Any) -> ChangePlan:
    text = yaml.safe_dump({"tenants": [{"name": "acme", **tenant}]})
    file = read(text.encode(), "f.yaml", Path())
    return (apply_configuration.plan if is_dry else apply_configuration.apply)(services, file, prune=prune)


def refusal(services: IdentityServices, **tenant: Any) -> str:
    """Return why the file is refused, by a dry run alike."""
    found = []
    for is_dry in (True, False):
        with pytest.raises(ConfigurationError) as refused:
            applied(services, is_dry=is_dry, **tenant)
        found.append(str(refused.value))
    assert found[0] == found[1]
    return found[0]


def version(services: IdentityServices) -> int:
    return of_tenant(services, lambda _, item: item.version)


def audited(services: IdentityServices) -> list[tuple[str, Any]]:
    """Return event and source of the audit entries, the oldest first."""
    entries = of_tenant(services, lambda work, _: audit.latest(work, 10))
    return [(entry.event, entry.facts.get("source")) for entry in reversed(entries)]


def of_tenant(services: IdentityServices, read_from: Callable[[UnitOfWork, TenantRow], T]) -> T:
    work = UnitOfWork(services.database, "lookup")
    try:
        stored = tenant_writes.by_name(work, "acme")
        assert stored is not None
        work.switch_tenant(stored.tenant_id)
        return read_from(work, stored)
    finally:
        work.rollback()


@pytest.mark.parametrize(
    ("key", "item", "expected"),
    [
        ("jwt_clients", {**CLIENT, "secret": "short"}, "jwt_clients[0]: Secret: at least 32 bytes for HS256"),
        ("jwt_clients", {**CLIENT, "algo": "RS256"}, "jwt_clients[0]: Secret: "),
        ("shopify_stores", {**SHOP, "multipass_secret": "m"}, "shopify_stores[0]: MultipassSecret: at least 32 characters"),
        ("custom_domains", {"domain_name": "api.localhost"}, "custom_domains[0]: DomainName: a domain of the tenant's own"),
    ],
)  # fmt: skip
def test_file_is_refused_as_the_operation_refuses(
    own_services: IdentityServices, key: str, item: dict[str, Any], expected: str
) -> None:
    applied(own_services)
    assert expected in refusal(own_services, **{key: [item]})


def test_file_may_lack_secrets(own_services: IdentityServices) -> None:
    lacking = {name: value for name, value in CLIENT.items() if name != "secret"}
    applied(own_services, jwt_clients=[lacking], shopify_stores=[{"store": "shop", "domain": "shop.example"}])
    assert applied(own_services, jwt_clients=[lacking]).is_empty


def test_each_write_is_audited_and_raises_the_version(own_services: IdentityServices) -> None:
    applied(own_services)
    before = version(own_services)
    applied(own_services, jwt_clients=[CLIENT])
    added = version(own_services)
    applied(own_services, jwt_clients=[{**CLIENT, "login_url": "https://wiki.example/"}])
    changed = version(own_services)
    applied(own_services, jwt_clients=[], prune=True)
    assert before < added < changed < version(own_services)
    assert audited(own_services) == [(f"jwt_clients.{event}", "file") for event in ("added", "changed", "removed")]


def test_dry_run_and_unchanged_item_write_nothing(own_services: IdentityServices) -> None:
    applied(own_services, jwt_clients=[CLIENT])
    before, entries = version(own_services), audited(own_services)
    applied(own_services, jwt_clients=[CLIENT])
    applied(own_services, is_dry=True, jwt_clients=[{**CLIENT, "login_url": "https://wiki.example/"}])
    assert (version(own_services), audited(own_services)) == (before, entries)
