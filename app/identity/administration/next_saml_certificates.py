"""Publishes the next certificates of a tenant's SAML peers before the current ones expire, and names those that expire soon.

Nothing is activated here: only an operator knows when a peer has read the metadata again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select

from app.contract import errors
from app.contract.saml import saml_operations
from app.identity.administration.resource_operations.write_resources import Writer
from app.identity.directory.organizations.connections import organization_connection_store, sp_keys
from app.identity.directory.tenants import tenant_store, tenant_writes
from app.identity.platform import powers, saml_certificates, saml_key_rollover
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE, resources
from app.identity.platform.saml_key_rollover import AHEAD, KeySlots
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.operations.errors import ApiError
from app.kit.resources.resource import Resource
from app.kit.resources.resource_values import value_at

ACTOR: Final = "schedule"
"""`act` in the audit entries of certificates that nobody asked for."""
MAX_OF_VISIT: Final = 20
"""How many certificates are made at one visit of a tenant: each takes the time of a large RSA key."""
_RESOURCES: Final = (
    (saml_operations.CLIENTS, saml_key_rollover.CLIENT_KEYS),
    (saml_operations.PROVIDERS, saml_key_rollover.PROVIDER_KEYS),
)

log = logging.getLogger("gatehouse.identity")


@dataclass(frozen=True)
class ExpiringCertificate:
    """A current certificate that expires soon or has expired. Of a resource, or of a connection of an organization."""

    resource: Resource | None
    org_id: str
    name: str
    """The id of the item or of the connection."""
    expires_at: datetime
    has_next: bool

    @property
    def holder(self) -> str:
        """What signs with it, for operators."""
        return f"{self.resource.noun if self.resource is not None else 'connection'} {self.name}"


def expiring(work: UnitOfWork, now: datetime) -> list[ExpiringCertificate]:
    """Return the certificates of a tenant that expire within `AHEAD`, the first to expire first. Decrypts nothing."""
    found = [*_of_resources(work), *_of_connections(work)]
    return sorted((one for one in found if one.expires_at <= now + AHEAD), key=lambda one: one.expires_at)


def publish_due(services: Callable[[], IdentityServices], work: UnitOfWork, now: datetime) -> int:
    """Publish a next certificate beside each that expires soon. Return how many were published.

    Args:
        services: returns the services; called only when something is due.
        work: of the tenant, which reads what is due.
    """
    try:
        due = [one for one in expiring(work, now) if not one.has_next][:MAX_OF_VISIT]
    finally:
        work.rollback()
    return sum(_publish(services(), work.tenant_id, one) for one in due)


def _of_resources(work: UnitOfWork) -> Iterator[ExpiringCertificate]:
    columns = resources.c
    for resource, slots in _RESOURCES:
        where = (columns.tenant_id == work.tenant_id, columns.kind == resource.kind)
        for row in work.all(select(columns.id, columns.content).where(*where)):
            yield from _certificate(slots, row.content, resource=resource, org_id="", name=row.id)


def _of_connections(work: UnitOfWork) -> Iterator[ExpiringCertificate]:
    for connection_id, org_id, content in organization_connection_store.saml_contents(work):
        yield from _certificate(sp_keys.SLOTS, content, resource=None, org_id=org_id, name=connection_id)


def _certificate(slots: KeySlots, content: dict[str, Any], **whose: Any) -> Iterator[ExpiringCertificate]:
    current = value_at(content, slots.current.path)
    if current:
        ends, ahead = saml_certificates.validity(current)[1], value_at(content, slots.next.path)
        yield ExpiringCertificate(**whose, expires_at=ends, has_next=bool(ahead))


def _publish(services: IdentityServices, tenant_id: str, due: ExpiringCertificate) -> bool:
    """Publish one next certificate in a transaction of its own. Return whether it was: not for an organization that is turned off."""
    work = UnitOfWork(services.database, tenant_id)
    try:
        tenant = tenant_store.by_id(work, tenant_id)
        if tenant is None:
            return False
        context = Context.outside_requests(services, tenant, work)
        context.program_scopes = frozenset({powers.ALL})
        context.audit.actor = ACTOR
        publish = _publish_of_connection if due.resource is None else _publish_of_item
        if not publish(context, due):
            return False
        context.commit()
    except ApiError as refusal:
        log.warning("saml_certificates.not_published", extra={"holder": due.holder, "problem": refusal.message})
        return False
    finally:
        work.rollback()
    log.info("saml_certificates.published", extra={"tenant_id": tenant_id, "holder": due.holder})
    return True


def _publish_of_connection(context: Context, due: ExpiringCertificate) -> bool:
    """Publish the next certificate of a connection, unless it has one by now."""
    record = organization_connection_store.by_any_id(context, due.name)
    if record is None or sp_keys.of_connection(context, record).next is not None:
        return False
    sp_keys.create_next(context, due.org_id, due.name)
    return True


def _publish_of_item(context: Context, due: ExpiringCertificate) -> bool:
    """Publish the next certificate of an item, unless it has one by now or is gone."""
    resource = due.resource
    context.work.begin()
    if resource is None or tenant_writes.lock(context.work) is None:
        return False
    item = SHARED_TABLE.item(StoreAccess.of(context), resource, (due.name,))
    if item is None:
        return False
    after = saml_key_rollover.with_next(dict(_RESOURCES)[resource], context, item)
    if after is item:
        return False
    writer = Writer(context, resource, errors.BadField, errors.SamlAppExists(), source=ACTOR)
    writer.write(item, after, "create_next_certificate")
    return True
