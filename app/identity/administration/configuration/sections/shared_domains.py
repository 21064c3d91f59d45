"""Refuses a configuration file after which providers of two kinds would have one email domain."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from app.identity.administration.applications.provider_domains import (
    DOMAIN_RESOURCES,
    DomainOwner,
    connections_with_domain,
    items_with_domain,
)
from app.identity.administration.configuration.file.declared_resources import id_of, listed
from app.identity.administration.configuration.file.yaml_document import KeyPath
from app.identity.administration.configuration.sections.section import ItemSection
from app.identity.directory.tenants.keys.tenant_secrets import CONNECTIONS
from app.identity.platform.resource_storage.items import StoreAccess
from app.kit.resources.resource import Resource


def check(section: ItemSection) -> None:
    """Add a problem for each domain in the file that a provider of another kind has, in the file or in the database."""
    owners: dict[str, DomainOwner] = {}
    for owner, path in (*_unchanged(section), *_declared(section)):
        first = owners.setdefault(owner.domain, owner)
        if path and first.kind != owner.kind:
            section.add_problem((*path, "domain"), f"is already used by {first.name} of {first.kind}")


def _declared(section: ItemSection) -> Iterator[tuple[DomainOwner, KeyPath]]:
    for name, connection in (section.declared.connections or {}).items():
        if connection.domain:
            yield DomainOwner(CONNECTIONS, name, connection.domain), (*section.path, CONNECTIONS, name)
    for resource, path, item in _items(section):
        if domain := getattr(item, "domain", None):
            yield DomainOwner(resource.file_key, " ".join(id_of(resource, item)), domain), path


def _items(section: ItemSection) -> Iterator[tuple[Resource, KeyPath, BaseModel]]:
    """Yield the items of the file with a domain; a file read for some resources has no others."""
    for resource in DOMAIN_RESOURCES:
        if resource in section.run.configuration.resources:
            for path, item in listed(resource, section.declared, section.path):
                yield resource, path, item


def _unchanged(section: ItemSection) -> Iterator[tuple[DomainOwner, KeyPath]]:
    """Yield the stored providers with a domain that the file leaves as they are."""
    stated = {(CONNECTIONS, name) for name in section.declared.connections or {}}
    stated |= {(resource.file_key, " ".join(id_of(resource, item))) for resource, _, item in _items(section)}
    stored = section.stored.settings.get(CONNECTIONS, {}) if section.stored is not None else {}
    for owner in (*connections_with_domain(stored), *items_with_domain(StoreAccess.of(section.context))):
        is_removed = section.run.prune and getattr(section.declared, owner.kind, None) is not None
        if not is_removed and (owner.kind, owner.name) not in stated:
            yield owner, ()
