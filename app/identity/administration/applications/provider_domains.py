"""Keeps an email domain with one provider of a tenant: a look-up by domain finds one, of whatever kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from app.contract import errors
from app.contract.jwt import jwt_operations
from app.contract.ldap import ldap_operations
from app.contract.saml import saml_operations
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys.tenant_secrets import CONNECTIONS
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE

DOMAIN_RESOURCES: Final = (jwt_operations.PROVIDERS, ldap_operations.PROVIDERS, saml_operations.PROVIDERS)
"""The resources other than connections whose items can have a domain."""


class DomainOwner(NamedTuple):
    """A provider with a domain. `kind` is the key of its resource in a configuration file."""

    kind: str
    name: str
    domain: str


def refuse_taken(context: Context, kind: str, item: Item) -> None:
    """Refuse an item whose domain another provider of the tenant has.

    Checks requests only: a configuration file is checked as a whole (`shared_domains`), because its items may exchange domains.

    Args:
        kind: the key of the item's resource in a configuration file.

    Raises ProviderDomainExists.
    """
    domain, stored = item.content.get("domain"), tenant_writes.own(context.work)
    if not domain or context.operation is None or stored is None:
        return
    owners = [
        *connections_with_domain(stored.settings.get(CONNECTIONS, {})),
        *items_with_domain(StoreAccess.of(context)),
    ]
    own = (kind, item.name.lower())
    if any(owner.domain == domain and (owner.kind, owner.name.lower()) != own for owner in owners):
        raise errors.ProviderDomainExists


def connections_with_domain(connections: Mapping[str, Mapping[str, Any]]) -> Iterator[DomainOwner]:
    """Yield those of the stored connections that have a domain."""
    for name, connection in connections.items():
        if connection.get("domain"):
            yield DomainOwner(CONNECTIONS, name, str(connection["domain"]))


def items_with_domain(access: StoreAccess) -> Iterator[DomainOwner]:
    """Yield the stored providers of the other kinds with a domain."""
    for resource in DOMAIN_RESOURCES:
        for item in SHARED_TABLE.items(access, resource):
            if item.content.get("domain"):
                yield DomainOwner(resource.file_key, item.name, str(item.content["domain"]))
