"""The addresses that this service has as the service provider of a SAML connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.contract.federation.pages import connection_pages
from app.identity.directory.organizations.connections.organization_connection_store import OrganizationConnectionRecord
from app.identity.platform.context import Context


@dataclass(frozen=True)
class ServiceProviderAddresses:
    """The addresses of one connection. An identity provider has all of them but `acs_urls` at its administrator's hand."""

    entity_id: str
    """It never changes, whatever domains the tenant adds, because assertions are for this audience."""
    metadata_url: str
    acs_urls: tuple[str, ...]
    """The assertion consumer service at each host of the tenant, the one of the entity ID first."""
    logout_url: str


def of_connection(context: Context, record: OrganizationConnectionRecord) -> ServiceProviderAddresses:
    base = str(record.content.get("sp_base") or context.own_urls[:2][-1])
    key: dict[str, Any] = {"address_key": record.address_key}
    bases = dict.fromkeys((base, *context.own_urls))
    return ServiceProviderAddresses(
        entity_id=base + connection_pages.SAML_ENTITY.format(**key),
        metadata_url=base + connection_pages.SAML_METADATA.format(**key),
        acs_urls=tuple(one + connection_pages.SAML_ACS.format(**key) for one in bases),
        logout_url=base + connection_pages.SAML_LOGOUT.format(**key),
    )
