"""Keeps an email domain with one provider of a tenant: a look-up by domain finds one, of whatever kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from app.contract import errors
from app.contract.jwt import jwt_operations
from app.contract.saml import saml_operations
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys.tenant_secrets import CONNECTIONS
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE

IN_TABLE: Final = (jwt_operations.PROVIDERS, saml_operations.PROVIDERS)
"""The resources with a domain beside connections."""


class Owner(NamedTuple):
    """A provider with a domain. `kind` is its key in a configuration file."""

    kind: str
    name: str
    domain: str


def refuse_taken(context: Context, kind: str, item: Item) -> None:
    """Refuse the domain of another provider in a request; a configuration file is checked as a whole. Raises ProviderDomainExists."""
    domain, stored = item.content.get("domain"), tenant_writes.own(context.work)
    if not domain or context.operation is None or stored is None:
        return
    owners = [*of_connections(stored.settings.get(CONNECTIONS, {})), *of_items(StoreAccess.of(context))]
    own = (kind, item.name.lower())
    if any(owner.domain == domain and (owner.kind, owner.name.lower()) != own for owner in owners):
        raise errors.ProviderDomainExists


def of_connections(connections: Mapping[str, Mapping[str, Any]]) -> Iterator[Owner]:
    """Yield the connections with a domain, as they are stored."""
    for name, connection in connections.items():
        if connection.get("domain"):
            yield Owner(CONNECTIONS, name, str(connection["domain"]))


def of_items(access: StoreAccess) -> Iterator[Owner]:
    """Yield the stored providers of the other kinds with a domain."""
    for resource in IN_TABLE:
        for item in SHARED_TABLE.items(access, resource):
            if item.content.get("domain"):
                yield Owner(resource.file_key, item.name, str(item.content["domain"]))
