"""The rules of organizations: creation, change, activity, deletion."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from typing import Any, Final

from app.contract import errors
from app.contract.organizations.models import Display
from app.contract.organizations.organization_operations import DomainInput, UpdateOrganization
from app.identity.directory import pictures
from app.identity.directory.organizations import connection_ends, organization_names, organization_store
from app.identity.directory.organizations.domains import domain_verification, domains, membership_domains
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.tenants import themed_tenant
from app.identity.platform.context import Context
from app.kit.operations.partial_update import merged

_MAX_METADATA_BYTES: Final = 16_384
_MAX_KEY_LENGTH: Final = 100


def by_id(context: Context, org_id: str) -> OrganizationRecord | None:
    """Return the organization with this id."""
    return organization_store.by_id(context, org_id)


def by_name(context: Context, name: str) -> OrganizationRecord | None:
    """Return the organization with this name, in any letter case."""
    return organization_store.by_name(context, name)


def require(context: Context, org_id: str) -> OrganizationRecord:
    """Return the organization. Raises OrganizationIdMissing, MalformedOrganizationId, UnknownOrganization."""
    return _found(organization_store.by_id(context, checked_id(org_id)))


def require_active(context: Context, org_id: str) -> OrganizationRecord:
    """Return the organization. Raises OrganizationInactive too."""
    return active(require(context, org_id))


def lock_active(context: Context, org_id: str, *, is_alone: bool = False) -> OrganizationRecord:
    """Return the organization, locked against changes until the commit. Raises as `require_active` does.

    `is_alone`: it is about to be changed. Two requests that share the lock would each wait for the other's end.
    """
    return active(_found(organization_store.locked(context, checked_id(org_id), is_alone=is_alone)))


def checked_id(org_id: str) -> str:
    """Return the id. Raises OrganizationIdMissing, MalformedOrganizationId."""
    if not org_id.strip():
        raise errors.OrganizationIdMissing
    if not organization_names.is_id(organization_names.ORGANIZATION, org_id):
        raise errors.MalformedOrganizationId
    return org_id


def create(
    context: Context,
    name: str,
    *,
    display: Display | None = None,
    metadata: dict[str, Any] | None = None,
    new_domains: Sequence[DomainInput] = (),
    by: str | None = None,
) -> OrganizationRecord:
    """Create an organization. `by`: the uid of the person who does it; None: a server of the tenant, here and below.

    Raises:
        BadField: the name, the metadata or a domain is malformed; a domain belongs to a mail provider.
        OrganizationNameTaken, DomainTaken: another organization has the name, or has verified the domain.
        TooManyOrganizations: the tenant is on trial.
    """
    name = organization_names.checked(name)
    requested = _domains(context, new_domains)
    themed_tenant.refuse_unknown(context, "Display.ThemeName", display.theme_name if display else None, None)
    settings = context.tenant.settings
    if settings.trial_ends_at is not None:
        context.work.begin()
        if organization_store.count(context) >= settings.organizations.trial_limit:
            raise errors.TooManyOrganizations
    organization = organization_store.add(context, name, checked_display(display), checked_metadata(metadata))
    domains.add_all(context, organization, requested, by=by)
    context.audit.record("organization.created", uid=by, org_id=organization.org_id)
    return organization


def update(context: Context, req: UpdateOrganization, by: str | None = None) -> OrganizationRecord:
    """Change an organization. Raises as `create` does, and DomainInUse, UnknownOrganization, OrganizationInactive."""
    organization = require_active(context, req.org_id)
    member_names = req.model_fields_set - {"org_id"}
    values: dict[str, Any] = {}
    if req.name is not None:
        values["name"] = organization_names.checked(req.name)
    if "metadata" in member_names:
        values["metadata"] = checked_metadata(req.metadata)
    requested = None
    if "domains" in member_names:
        stored = domains.of_organizations(context, [organization.org_id])[organization.org_id]
        requested = _domains(context, req.domains or [], {domain.domain for domain in stored})
    organization = lock_active(context, req.org_id, is_alone=True)
    if "display" in member_names:
        merged_display = merged(organization.display, req.display) if req.display is not None else {}
        shown = Display.model_validate(merged_display)
        themed_tenant.refuse_unknown(context, "Display.ThemeName", shown.theme_name, organization.theme_name)
        values["display"] = checked_display(shown)
    changed = _found(organization_store.change(context, organization.org_id, values))
    if changed.logo_url != organization.logo_url:
        pictures.delete_of_organization(context.work, changed.org_id)
    if requested is not None:
        domains.replace_all(context, organization, requested, by=by)
    context.audit.record("organization.changed", uid=by, org_id=changed.org_id, members=sorted(member_names))
    return changed


def delete(context: Context, org_id: str, by: str | None = None) -> None:
    """Delete an organization with all that belongs to it. Raises UnknownOrganization."""
    membership_domains.forget_of(context, checked_id(org_id))
    connection_ends.announce(context, org_id)
    if not organization_store.remove(context, org_id):
        raise errors.UnknownOrganization
    pictures.delete_of_organization(context.work, org_id)
    context.audit.record("organization.deleted", uid=by, org_id=org_id)


def set_status(context: Context, org_id: str, is_active: bool) -> None:
    """Activate or deactivate an organization. Raises StatusAlreadySet, UnknownOrganization."""
    if not organization_store.set_active(context, checked_id(org_id), is_active):
        require(context, org_id)
        raise errors.StatusAlreadySet
    membership_domains.forget_of(context, org_id)
    if not is_active:
        connection_ends.announce(context, org_id)
    context.audit.record("organization.activated" if is_active else "organization.deactivated", org_id=org_id)


def active(organization: OrganizationRecord) -> OrganizationRecord:
    """Return the organization. Raises OrganizationInactive."""
    if not organization.is_active:
        raise errors.OrganizationInactive
    return organization


def checked_display(display: Display | None) -> dict[str, Any]:
    """Return the stored look. Raises BadField for a name that imitates another."""
    shown = display or Display()
    if shown.name is not None:
        shown = shown.model_copy(update={"name": organization_names.checked(shown.name, "Display.Name")})
    return shown.model_dump(by_alias=True, exclude_none=True)


def checked_metadata(metadata: dict[str, Any] | None) -> dict[str, Any]:
    """Return the stored metadata. Raises BadField if it is too large or has a number that JSON cannot write."""
    stored = metadata or {}
    if any(not key or len(key) > _MAX_KEY_LENGTH for key in stored):
        raise errors.BadField(f"The Metadata is not formatted correctly: names have 1 to {_MAX_KEY_LENGTH} characters.")
    if not _is_finite(stored):
        raise errors.BadField("The Metadata is not formatted correctly: a number is too large.")
    if len(json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode()) > _MAX_METADATA_BYTES:
        raise errors.BadField(
            f"The Metadata is not formatted correctly: it is larger than {_MAX_METADATA_BYTES} bytes."
        )
    return stored


def _domains(
    context: Context, domain_inputs: Sequence[DomainInput], known: Collection[str] = frozenset()
) -> dict[str, bool]:
    """Return the domains, and whether an administrator states that they are verified; `known` ones have a mail server.

    Raises BadField.
    """
    requested = {domains.checked(item.domain_name): item.is_verified for item in domain_inputs}
    if len(requested) < len(domain_inputs):
        raise errors.BadField("The Domains are not formatted correctly: a domain is listed twice.")
    if context.client is not None and any(requested.values()):
        raise errors.BadField("The IsVerified is not accepted from a client id and secret: verify the domain by DNS.")
    domain_verification.require_mail_servers(context, sorted(set(requested).difference(known)))
    return requested


def _found(organization: OrganizationRecord | None) -> OrganizationRecord:
    if organization is None:
        raise errors.UnknownOrganization
    return organization


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return not isinstance(value, list) or all(map(_is_finite, value))
