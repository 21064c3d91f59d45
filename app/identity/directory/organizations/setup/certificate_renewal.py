"""What a renewal link opens: an administrator adds the provider's next certificate to one SAML connection, and changes nothing else."""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.identity.directory.organizations import organizations
from app.identity.directory.organizations.connections import (
    organization_connection_store,
    organization_connections,
    provider_certificates,
)
from app.identity.directory.organizations.connections.organization_connection_store import OrganizationConnectionRecord
from app.identity.directory.organizations.connections.provider_certificates import ProviderCertificate
from app.identity.directory.organizations.setup.setup_link_store import SetupLinkRecord
from app.identity.platform import saml_certificates
from app.identity.platform.context import Context

FIELD: Final = "certificate"


class _Refused(Exception):
    """What was pasted cannot be used, and why: a reason of `SetupEntryRefused`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def connection_of(context: Context, link: SetupLinkRecord) -> OrganizationConnectionRecord:
    """Return the connection of a renewal link. Raises SetupSessionOver once it is gone or turned off."""
    record = organization_connection_store.by_any_id(context, link.connection_id or "")
    if record is None or record.org_id != link.org_id or not (record.is_saml and record.is_active):
        raise errors.SetupSessionOver
    return record


def certificates_of(context: Context, record: OrganizationConnectionRecord) -> list[ProviderCertificate]:
    """Return the certificates that the connection trusts, the last to expire first."""
    found = provider_certificates.of_content(record.content, context.now)
    return sorted(found, key=lambda one: one.expires_at, reverse=True)


def add(context: Context, link: SetupLinkRecord, pasted: str) -> None:
    """Trust what was pasted beside the present certificates: PEM, bare base64, or metadata of the same provider.

    Raises SetupEntryRefused for what cannot be used, SetupSessionOver, TooManyRequests, OrganizationInactive.
    """
    organizations.lock_active(context, link.org_id, is_alone=True)
    record = connection_of(context, link)
    present = provider_certificates.of_content(record.content, context.now)
    remaining = [one for one in present if one.expires_at > context.now]
    try:
        fresh = _usable(context, record, remaining, pasted.strip())
    except _Refused as refusal:
        raise errors.SetupEntryRefused(problems=[(FIELD, refusal.reason)]) from None
    others = [one for one in remaining if one.pem not in fresh]
    after = provider_certificates.stored_as([*others, *provider_certificates.without_end(fresh)])
    if not organization_connection_store.change_content(context, record, {**record.content, **after}):
        raise errors.TooManyRequests  # the schedule read the provider's metadata meanwhile
    organization_connections.record(
        context,
        "organization.connection_certificate_added",
        record,
        link_id=link.link_id,
        new_certificates=sorted(map(saml_certificates.sha256_fingerprint, fresh)),
    )


def _usable(
    context: Context, record: OrganizationConnectionRecord, remaining: list[ProviderCertificate], pasted: str
) -> list[str]:
    """Return the certificates that are new and can be used. Raises _Refused.

    A connection may have a certificate that is signed with SHA-1; one that is added today needs none.
    """
    if not pasted:
        raise _Refused("missing")
    pems = _of_metadata(context, record, pasted) if pasted.startswith("<") else saml_certificates.read_all(pasted)
    readable = [pem for pem in pems if saml_certificates.is_readable(pem)]
    if not readable:
        raise _Refused("unreadable")
    strong = [pem for pem in readable if not (saml_certificates.problem_of(pem) or saml_certificates.weakness_of(pem))]
    if not strong:
        raise _Refused("weak")
    valid = [pem for pem in strong if context.now < saml_certificates.validity(pem)[1]]
    if not valid:
        raise _Refused("expired")
    trusted = {one.pem for one in remaining if one.trusted_until is None}
    fresh = [pem for pem in dict.fromkeys(valid) if pem not in trusted]
    if not fresh:
        raise _Refused("known")
    if len(fresh) + len(remaining) > provider_certificates.MAX_CERTIFICATES:
        raise _Refused("many")
    return fresh


def _of_metadata(context: Context, record: OrganizationConnectionRecord, document: str) -> tuple[str, ...]:
    from app.identity.directory.organizations.connections import provider_metadata  # noqa: PLC0415 - few tenants have any

    try:
        read = provider_metadata.read(document.encode(), context.now)
    except provider_metadata.MetadataUnusable:
        raise _Refused("unreadable") from None
    if read.content.get("idp_entity_id") != record.content["idp_entity_id"]:
        raise _Refused("foreign")
    return tuple(read.certificates)
