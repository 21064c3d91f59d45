"""The metadata of this service as the service provider of one connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.contract import errors
from app.identity.directory.organizations.connections import organization_connection_store, sp_addresses, sp_keys
from app.identity.directory.organizations.connections.organization_connection_store import OrganizationConnectionRecord
from app.identity.directory.organizations.setup import setup_draft, setup_link_store
from app.identity.platform.context import Context
from app.identity.platform.saml.metadata_reader import SamlEndpoint
from app.identity.platform.saml.saml_names import POST, REDIRECT
from app.identity.platform.saml_writing import metadata_writer, service_provider_keys
from app.identity.platform.saml_writing.metadata_writer import RoleMetadata

_NAME_ID_FORMATS: Final = (
    "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
    "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
)


def of_address(context: Context, address_key: str) -> bytes:
    """Return the metadata of the connection with this opaque part of its addresses. Raises ConnectionNotConfigured."""
    record, secrets = _at_address(context, address_key)
    keys = service_provider_keys.of_keys(sp_keys.SLOTS.read(record.content, secrets), context.now)
    addresses = sp_addresses.of_connection(context, record)
    consumers = [
        SamlEndpoint(binding=POST, location=url, index=number, is_default=number == 0)
        for number, url in enumerate(addresses.acs_urls)
    ]
    role = RoleMetadata(
        entity_id=addresses.entity_id,
        services=consumers,
        logout_services=[SamlEndpoint(binding=one, location=addresses.logout_url) for one in (REDIRECT, POST)],
        signing_certificates=keys.signing_certificates if keys is not None else (),
        encryption_certificates=(keys.encryption_certificate,) if keys is not None else (),
        name_id_formats=_NAME_ID_FORMATS,
    )
    return metadata_writer.service_provider_metadata(role)


def _at_address(context: Context, address_key: str) -> tuple[OrganizationConnectionRecord, Mapping[str, str]]:
    """Return a connection, or one that is being set up: its provider reads our metadata first. Raises ConnectionNotConfigured."""
    record = organization_connection_store.by_address(context, address_key)
    if record is not None and record.is_saml:
        return record, organization_connection_store.secrets_of(context, record)
    link = setup_link_store.by_address(context, address_key) if record is None else None
    draft = setup_draft.of_link(context, link) if link is not None else None
    drafted = draft.as_service_provider(context, link) if draft is not None and link is not None else None
    if draft is None or drafted is None:
        raise errors.ConnectionNotConfigured
    return drafted, draft.secrets
