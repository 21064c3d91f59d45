"""The rules of the connections of organizations."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from app.contract import errors
from app.contract.organizations import organization_connection_operations
from app.contract.organizations.models import Attributes
from app.identity.directory.organizations import connection_ends, organization_names, organizations
from app.identity.directory.organizations.connections import (
    organization_connection_store,
    shared_issuers,
)
from app.identity.directory.organizations.connections.organization_connection_store import (
    OrganizationConnectionRecord,
)
from app.identity.directory.organizations.domains import domains, membership_domains
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform import saml_certificates
from app.identity.platform.context import Context
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit.operations.partial_update import PartialUpdate, merged
from app.kit.resources.resource import MASKED

_SAML: Final = (
    "idp_entity_id", "idp_metadata_url", "is_idp_initiated", "idp_certificate", "idp_sign_in_url", "idp_sign_out_url",
)  # fmt: skip
_OF_METADATA: Final = frozenset({
    "idp_sign_in_url", "idp_sign_in_binding", "idp_sign_out_url", "idp_sign_out_binding", "idp_sign_out_response_url",
})  # fmt: skip
"""What metadata fills, beside the entity ID and the certificates."""
_OIDC: Final = ("issuer", "authorization_url", "token_url", "user_info_url", "client_id", "scopes", "token_auth_method")
_DISCOVERED: Final = ("authorization_url", "token_url", "user_info_url", "token_auth_method")
_MAX_TRIES: Final = 10
_DEFAULT_SCOPES: Final = ("openid", "email", "profile")
Request = organization_connection_operations.CreateConnection | organization_connection_operations.UpdateConnection
METADATA_INTERVAL: Final = timedelta(hours=6)
"""How often the metadata of a SAML connection is read again."""
CLIENT_SECRET, SP_KEY = "client_secret", "sp_key"
"""The names of encrypted secrets."""


def require(context: Context, organization: OrganizationRecord, connection_id: str) -> OrganizationConnectionRecord:
    """Return a connection of the organization. Raises UnknownOrganizationConnection, also for a malformed id."""
    is_id = organization_names.is_id(organization_names.CONNECTION, connection_id)
    found = organization_connection_store.by_id(context, organization.org_id, connection_id) if is_id else None
    if found is None:
        raise errors.UnknownOrganizationConnection
    return found


def create(
    context: Context,
    req: organization_connection_operations.CreateConnection,
    *,
    address_key: str = "",
    known: Mapping[str, Any] | None = None,
    service_provider: tuple[Mapping[str, str], str] | None = None,
) -> OrganizationConnectionRecord:
    """Create a connection.

    Args:
        address_key: the opaque part of its addresses, where the provider knows them already.
        known: what was read from the provider's metadata before.
        service_provider: of `new_service_provider`, where the provider knows that already.

    Raises:
        BadField: a member is missing, malformed or of the other kind; the metadata or the issuer is unreachable.
        DomainNotInOrganization, DomainNotVerified, DomainOfOtherConnection: the domain cannot be used.
        OrganizationConnectionTaken: the organization has a connection of this name.
    """
    organization = organizations.require_active(context, req.org_id)
    domain = _domain(context, organization, req.domain)
    if organization_connection_store.has_name(context, organization.org_id, req.name):
        raise errors.OrganizationConnectionTaken
    content, secrets = _content(context, req.connection_type, req, {}, {})
    if req.connection_type != "oidc_custom":
        own, secrets[SP_KEY] = service_provider or new_service_provider(context, organization.org_id)
        content |= own
    organizations.lock_active(context, organization.org_id)
    content |= known or {}
    due_at = _metadata_due_at(context, content)
    values = {
        "name": req.name, "kind": req.connection_type, "domain": domain, "content": content, "metadata_due_at": due_at,
    }  # fmt: skip
    connection = organization_connection_store.add(
        context, organization.org_id, values, secrets, address_key=address_key
    )
    membership_domains.forget(context)
    record(context, "organization.connection_created", connection)
    return connection


def new_service_provider(context: Context, org_id: str) -> tuple[dict[str, str], str]:
    """Return what a SAML connection knows of this service, the base of its addresses and a certificate, and its new private key."""
    certificate, key = saml_certificates.generate(org_id, context.now)
    return {"sp_base": context.pages_url, "sp_certificate": certificate}, key


def update(context: Context, req: organization_connection_operations.UpdateConnection) -> OrganizationConnectionRecord:
    """Change a connection. Raises as `create` does, and UnknownOrganizationConnection, TooManyRequests.

    What the identity provider states is read without a lock, so that it starts again if another request changed the connection.
    """
    for _ in range(_MAX_TRIES):
        organization = organizations.require_active(context, req.org_id)
        stored = require(context, organization, req.conn_id)
        values, secrets = _changes(context, organization, stored, req)
        organizations.lock_active(context, organization.org_id, is_alone=True)
        if require(context, organization, req.conn_id) == stored:
            connection = organization_connection_store.change(context, stored, values, secrets)
            membership_domains.forget(context)
            record(context, "organization.connection_changed", connection)
            return connection
        context.work.rollback()
    raise errors.TooManyRequests


def _changes(
    context: Context,
    organization: OrganizationRecord,
    stored: OrganizationConnectionRecord,
    req: organization_connection_operations.UpdateConnection,
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the columns and the secrets of a connection after a request."""
    kind = req.connection_type or stored.kind
    if kind.startswith("saml_") is not stored.is_saml:
        raise errors.BadField(
            "The ConnectionType is not accepted: it may not change from SAML to OpenID Connect or back."
        )
    domain = stored.domain
    if "domain" in req.model_fields_set:
        domain = _domain(context, organization, req.domain)
    name = req.name or stored.name
    if organization_connection_store.has_name(context, organization.org_id, name, other_than=stored.connection_id):
        raise errors.OrganizationConnectionTaken
    content, secrets = _content(
        context, kind, req, stored.content, organization_connection_store.secrets_of(context, stored)
    )
    due_at = _metadata_due_at(context, content)
    return {"name": name, "kind": kind, "domain": domain, "content": content, "metadata_due_at": due_at}, secrets


def _metadata_due_at(context: Context, content: dict[str, Any]) -> datetime | None:
    return context.now + METADATA_INTERVAL if content.get("idp_metadata_url") else None


def set_status(context: Context, organization: OrganizationRecord, connection_id: str, is_active: bool) -> None:
    """Activate or deactivate a connection. Raises StatusAlreadySet, UnknownOrganizationConnection."""
    connection = require(context, organization, connection_id)
    if not organization_connection_store.set_active(context, connection.connection_id, is_active):
        raise errors.StatusAlreadySet
    if not is_active:
        connection_ends.announce(context, organization.org_id, connection.connection_id)
    membership_domains.forget(context)
    event = "organization.connection_activated" if is_active else "organization.connection_deactivated"
    record(context, event, connection)


def _domain(context: Context, organization: OrganizationRecord, text: str | None) -> str | None:
    """Return the verified domain of the organization. Raises BadField, DomainNotInOrganization, DomainNotVerified."""
    if not text:
        return None
    domain = domains.by_name(context, organization, domains.checked(text))
    if domain is None:
        raise errors.DomainNotInOrganization
    if not domain.is_verified:
        raise errors.DomainNotVerified
    return domain.domain


def _attributes(req: Request, stored: dict[str, Any]) -> dict[str, Any]:
    """Return the stored mapping after a request."""
    attributes: Any = req.attributes
    if isinstance(attributes, PartialUpdate):
        attributes = merged(stored, attributes)
    elif attributes is None and "attributes" not in req.model_fields_set:
        attributes = stored
    return Attributes.model_validate(attributes or {}, from_attributes=True).model_dump(by_alias=True)


def _content(
    context: Context, kind: str, req: Request, stored: dict[str, Any], secrets: dict[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return content and secrets of a connection after a request. Raises BadField."""
    is_saml = kind.startswith("saml_")
    own, others = (_SAML, (*_OIDC, CLIENT_SECRET)) if is_saml else (_OIDC, _SAML)
    if foreign := next((name for name in others if getattr(req, name) is not None), None):
        raise _wrong(foreign, f"it does not belong to a connection of the type {kind}")
    members = {name: getattr(req, name) for name in own if getattr(req, name) is not None}
    cleared = req.model_fields_set.difference(members)
    if "idp_metadata_url" in cleared:
        cleared.update(_OF_METADATA.difference(members))
    content = {name: value for name, value in {**stored, **members}.items() if name not in cleared}
    content["attributes"] = _attributes(req, stored.get("attributes") or {})
    if is_saml:
        return _complete_saml(context, content, members, stored), dict(secrets)
    if "issuer" in members and members["issuer"] != stored.get("issuer"):
        content = {name: value for name, value in content.items() if name in members or name not in _DISCOVERED}
    completed = complete_openid(context, content)
    if req.client_secret and req.client_secret != MASKED:
        secrets = {CLIENT_SECRET: req.client_secret}
    elif CLIENT_SECRET in req.model_fields_set and not req.client_secret:
        raise _wrong(CLIENT_SECRET, "it is required")
    elif completed["token_url"] != stored.get("token_url"):
        raise _wrong(CLIENT_SECRET, "it is required for a new token address, which would receive the present one")
    return completed, secrets


def _complete_saml(
    context: Context, content: dict[str, Any], members: dict[str, Any], stored: dict[str, Any]
) -> dict[str, Any]:
    """Complete a SAML connection. Raises BadField."""
    from app.identity.directory.organizations.connections import saml_completion  # noqa: PLC0415 - few tenants have any

    try:
        return saml_completion.completed(context, content, members, stored)
    except saml_completion.MemberRefused as refused:
        raise _wrong(refused.field, refused.why) from None


def complete_openid(context: Context, content: dict[str, Any]) -> dict[str, Any]:
    """Discover the addresses that are not given (OpenID Connect Discovery section 4). Raises BadField."""
    for name in ("issuer", "client_id"):
        if not content.get(name):
            raise _wrong(name, "it is required")
    if shared_issuers.is_shared(content["issuer"]):
        raise _wrong("issuer", "anyone can have an account there, and the organization’s own provider is expected")
    if not (content.get("authorization_url") and content.get("token_url")):
        context.work.release_connection()
        try:
            metadata = context.services.provider_metadata.metadata(content["issuer"])
        except ProviderUnavailable as problem:
            raise _wrong("issuer", f"its configuration cannot be read: {problem}") from None
        if metadata.issuer != content["issuer"]:
            raise _wrong("issuer", "it stands for every directory, and that of one is expected")
        discovered = {
            "authorization_url": metadata.endpoints.authorization,
            "token_url": metadata.endpoints.token,
            "user_info_url": metadata.userinfo,
            "token_auth_method": metadata.endpoints.auth_method,
        }
        content = {**discovered, **content}
    scopes = content.get("scopes") or list(_DEFAULT_SCOPES)
    return {"user_info_url": "", "token_auth_method": "client_secret_post", **content, "scopes": scopes}


def _wrong(field: str, why: str) -> errors.BadField:
    alias = organization_connection_operations.ConnectionFields.model_fields[field].alias or field
    return errors.BadField(f"The {alias} is not formatted correctly: {why}.")


def record(context: Context, event: str, connection: OrganizationConnectionRecord, **facts: Any) -> None:
    context.audit.record(event, org_id=connection.org_id, connection_id=connection.connection_id, **facts)
