"""Builds the responses of connections and group roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.contract.federation.pages.connection_pages import ORGANIZATION_CALLBACK
from app.contract.organizations import models
from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.directory.organizations.connections.organization_connection_store import (
    GroupRoleRecord,
    OrganizationConnectionRecord,
)
from app.identity.platform import saml_certificates
from app.identity.platform.context import Context
from app.kit.clock import iso
from app.kit.resources.resource import MASKED


def by_organization(context: Context, org_ids: Sequence[str]) -> dict[str, list[models.Connection]]:
    """Return the connections of these organizations with their group roles, in two statements."""
    found = organization_connection_store.of_organizations(context, org_ids)
    groups = organization_connection_store.group_roles(
        context, [element.connection_id for item in found.values() for element in item]
    )
    return {org_id: [_connection(context, element, groups) for element in item] for org_id, item in found.items()}


def connection(context: Context, item: OrganizationConnectionRecord) -> models.Connection:
    return _connection(context, item, organization_connection_store.group_roles(context, [item.connection_id]))


def group_role(item: GroupRoleRecord) -> models.GroupRole:
    return models.GroupRole(id=item.group_role_id, group_id=item.group_id, name=item.name, role_id=item.role_id)


def _connection(
    context: Context, item: OrganizationConnectionRecord, groups: Mapping[str, list[GroupRoleRecord]]
) -> models.Connection:
    content, base = item.content, context.pages_url
    shown = models.Connection(
        id=item.connection_id,
        is_active=item.is_active,
        created_date=iso(item.created_at) or "",
        modified_date=iso(item.modified_at) or "",
        name=item.name,
        domain=item.domain or "",
        connection_type=item.kind,
        group_roles=[group_role(group) for group in groups[item.connection_id]],
        attributes=models.Attributes.model_validate(content["attributes"]),
    )
    if not item.is_saml:
        own = ("issuer", "authorization_url", "token_url", "user_info_url", "client_id", "scopes", "token_auth_method")
        address = base + ORGANIZATION_CALLBACK.format(address_key=item.address_key)
        stored = {name: content[name] for name in own}
        return shown.model_copy(update={**stored, "client_secret": MASKED, "redirect_uri": address})
    return shown.model_copy(update=_of_saml(context, item))


def _of_saml(context: Context, item: OrganizationConnectionRecord) -> dict[str, Any]:
    """Return the members of a SAML connection."""
    from app.identity.directory.organizations.connections import provider_certificates, sp_addresses  # noqa: PLC0415 - few tenants have any

    content, addresses = item.content, sp_addresses.of_connection(context, item)
    trusted = provider_certificates.of_content(content, context.now)
    return {
        "idp_entity_id": content["idp_entity_id"],
        "idp_metadata_url": content["idp_metadata_url"],
        "is_idp_initiated": content["is_idp_initiated"],
        "idp_certificate": _dated(content["idp_certificate"]),
        "idp_certificates": [
            models.TrustedCertificate(**_dated(one.pem).model_dump(), trusted_until=iso(one.trusted_until))
            for one in trusted
        ],
        "idp_sign_in_url": content.get("idp_sign_in_url", ""),
        "idp_sign_out_url": content.get("idp_sign_out_url", ""),
        "entity_id": addresses.entity_id,
        "metadata_url": addresses.metadata_url,
        "acs_endpoint": addresses.acs_urls[0],
        "sp_certificate": models.ConnectionCertificate(certificate=content["sp_certificate"]),
        **{
            f"{name}_certificate": _dated(content[f"{name}_sp_certificate"])
            for name in ("next", "former")
            if f"{name}_sp_certificate" in content
        },
    }


def _dated(pem: str) -> models.DatedCertificate:
    starts, ends = saml_certificates.validity(pem)
    return models.DatedCertificate(certificate=pem, not_after=iso(ends), not_before=iso(starts))
