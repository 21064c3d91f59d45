"""Builds the responses of connections and group roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.contract import organizations_models as models
from app.identity.directory.organizations import connection_store
from app.identity.directory.organizations.connection_store import GroupRole, OrganizationConnection
from app.identity.platform import saml_certificates
from app.identity.platform.context import Context
from app.kit.clock import iso
from app.kit.resource import MASKED


def by_organization(context: Context, org_ids: Sequence[str]) -> dict[str, list[models.Connection]]:
    """Return the connections of these organizations with their group roles, in two statements."""
    found = connection_store.of_organizations(context, org_ids)
    groups = connection_store.group_roles(context, [one.connection_id for held in found.values() for one in held])
    return {org_id: [_connection(context, one, groups) for one in held] for org_id, held in found.items()}


def connection(context: Context, one: OrganizationConnection) -> models.Connection:
    return _connection(context, one, connection_store.group_roles(context, [one.connection_id]))


def group_role(one: GroupRole) -> models.GroupRole:
    return models.GroupRole(id=one.group_role_id, group_id=one.group_id, name=one.name, role_id=one.role_id)


def _connection(
    context: Context, one: OrganizationConnection, groups: Mapping[str, list[GroupRole]]
) -> models.Connection:
    content, base = one.content, context.pages_url
    shown = models.Connection(
        id=one.connection_id,
        is_active=one.is_active,
        created_date=iso(one.created_at) or "",
        modified_date=iso(one.modified_at) or "",
        name=one.name,
        domain=one.domain or "",
        connection_type=one.kind,
        group_roles=[group_role(held) for held in groups[one.connection_id]],
        attributes=models.Attributes.model_validate(content["attributes"]),
    )
    if not one.is_saml:
        own = ("issuer", "authorization_url", "token_url", "user_info_url", "client_id", "scopes", "token_auth_method")
        address = f"{base}/oauth/sp/{one.address_key}/callback"
        stored = {name: content[name] for name in own}
        return shown.model_copy(update={**stored, "client_secret": MASKED, "redirect_uri": address})
    starts, ends = saml_certificates.validity(content["idp_certificate"])
    certificate = models.DatedCertificate(
        certificate=content["idp_certificate"], not_after=iso(ends), not_before=iso(starts)
    )
    return shown.model_copy(
        update={
            "idp_entity_id": content["idp_entity_id"],
            "idp_metadata_url": content["idp_metadata_url"],
            "is_idp_initiated": content["is_idp_initiated"],
            "idp_certificate": certificate,
            "entity_id": f"{base}/saml/sp/{one.address_key}",
            "metadata_url": f"{base}/saml/sp/{one.address_key}/metadata.xml",
            "acs_endpoint": f"{base}/saml/sp/acs/{one.address_key}",
            "sp_certificate": models.ConnectionCertificate(certificate=content["sp_certificate"]),
        }
    )
