"""Reads the metadata of SAML connections again, on a schedule, so that a provider's next certificate is known before it signs.

What the metadata says replaces no key at once: a certificate that it lacks stays trusted for `provider_certificates.OVERLAP`.
Each change has an audit entry, each refusal a trace.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from app.identity.authentication.federation import connection_traces
from app.identity.directory.organizations.connections import (
    organization_connection_store,
    provider_certificates,
    provider_metadata,
)
from app.identity.directory.organizations.connections.organization_connection_store import OrganizationConnectionRecord
from app.identity.directory.organizations.connections.organization_connections import METADATA_INTERVAL
from app.identity.directory.organizations.connections.provider_metadata import MetadataUnusable, SamlProviderFacts
from app.identity.directory.tenants import tenant_store
from app.identity.platform import saml_certificates
from app.identity.platform.context import Context
from app.identity.platform.outbound.findings import UpstreamRefusal
from app.identity.platform.saml.saml_checks import SamlCheck
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork

ACTOR: Final = "schedule"
RETRY: Final = timedelta(hours=1)
"""How long after a failure the metadata is read again."""
MAX_OF_TURN: Final = 20

log = logging.getLogger("gatehouse.identity")


def refresh_tenant(services: Callable[[], IdentityServices], work: UnitOfWork, now: datetime) -> int:
    """Read the due metadata of a tenant again, of at most `MAX_OF_TURN` connections. Return how many were read.

    Args:
        services: returns the services; called only when something is due.
        work: of the tenant, which reads what is due.
    """
    try:
        due = organization_connection_store.ids_with_due_metadata(work, now, MAX_OF_TURN)
    finally:
        work.rollback()
    return sum(refresh(services(), work.tenant_id, connection_id) for connection_id in due)


def refresh(services: IdentityServices, tenant_id: str, connection_id: str) -> bool:
    """Read the metadata of a connection again if it is due. Return whether it was; several workers may try at once.

    The worker's connection to the database is returned while the provider is asked.
    """
    work = UnitOfWork(services.database, tenant_id)
    try:
        tenant = tenant_store.by_id(work, tenant_id)
        if tenant is None:
            return False
        context = Context.outside_requests(services, tenant, work)
        context.audit.actor = ACTOR
        claimed = organization_connection_store.claim_metadata(context, connection_id, context.now + METADATA_INTERVAL)
        context.commit()
        if claimed is None or not claimed.content.get("idp_metadata_url"):
            return False
        try:
            changes = _changes(context, claimed)
        except MetadataUnusable as problem:
            _record_failure(context, claimed, problem)
        else:
            if changes and organization_connection_store.change_content(context, claimed, claimed.content | changes):
                _record_change(context, claimed, changes)
        context.commit()
        return True
    finally:
        work.rollback()


def _changes(context: Context, record: OrganizationConnectionRecord) -> dict[str, Any]:
    """Return the members of the content that the metadata changes. Raises MetadataUnusable."""
    content = record.content
    facts = _fetch(context, content)
    changes = _changed(context, content, facts)
    if changes and "idp_certificate" in content.get("stated", ()):
        facts = _fetch(context, content, is_pinned=True)
        changes = _changed(context, content, facts)
    return changes


def _fetch(context: Context, content: dict[str, Any], *, is_pinned: bool = False) -> SamlProviderFacts:
    resolver, url = context.services.provider_metadata.resolver, str(content["idp_metadata_url"])
    pinned = provider_certificates.keys_of(content, context.now) if is_pinned else None
    return provider_metadata.fetch(resolver, url, context.now, pinned=pinned, entity_id=content["idp_entity_id"])


def _changed(context: Context, content: dict[str, Any], facts: SamlProviderFacts) -> dict[str, Any]:
    present = provider_certificates.of_content(content, context.now)
    trusted = provider_certificates.renewed(present, facts.certificates, context.now)
    stated = content.get("stated", ())
    kept = [name.removesuffix("_url") for name in stated if name.endswith("_url")]
    after = {name: value for name, value in facts.content.items() if not name.startswith(tuple(kept))}
    if set(trusted) != set(present):
        after |= provider_certificates.stored_as(trusted)
    return {name: value for name, value in after.items() if content.get(name) != value}


def _record_change(context: Context, record: OrganizationConnectionRecord, changes: dict[str, Any]) -> None:
    before = {one.pem for one in provider_certificates.of_content(record.content, context.now)}
    after = {one.pem for one in provider_certificates.of_content(record.content | changes, context.now)}
    context.audit.record(
        "organization.connection_metadata_changed",
        org_id=record.org_id,
        connection_id=record.connection_id,
        changed=sorted(changes),
        new_certificates=sorted(map(saml_certificates.sha256_fingerprint, after - before)),
        removed_certificates=sorted(map(saml_certificates.sha256_fingerprint, before - after)),
    )


def _record_failure(context: Context, record: OrganizationConnectionRecord, problem: MetadataUnusable) -> None:
    organization_connection_store.postpone_metadata(context, record.connection_id, context.now + RETRY)
    text = f"the metadata of {record.content['idp_entity_id']}"
    refusal = UpstreamRefusal(str(problem), check=SamlCheck.METADATA, expected=text, received=str(problem))
    connection_traces.record(context, record.connection_id, refusal)
    log.warning("metadata of connection %s: %s", record.connection_id, problem)
