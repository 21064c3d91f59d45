"""The branding of organizations on the pages of a sign-in (decision 0196)."""

from __future__ import annotations

from typing import Final

from app.contract.organizations.views import OrganizationBranding
from app.identity.directory.organizations import organization_names, organization_store
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context

_MAX_LENGTH: Final = 400


def branding_of(organization: OrganizationRecord) -> OrganizationBranding:
    """Return the look of an organization whose name the visitor knows."""
    return OrganizationBranding(
        name=organization.display_name,
        logo=organization.logo_url,
        color=organization.color,
        theme=organization.theme_name,
    )


def branding_of_name(context: Context, text: str) -> OrganizationBranding | None:
    """Return the look of an active organization by its id or name, in any letter case; costs one statement in every case.

    None also for an organization without a look of its own: a name that only its members know stays unknown to others.
    """
    if not context.tenant.settings.organizations.enabled or len(text) > _MAX_LENGTH:
        return None
    by_id = organization_names.is_id(organization_names.ORGANIZATION, text)
    organization = organization_store.by_id(context, text) if by_id else organization_store.by_name(context, text)
    is_shown = organization is not None and organization.is_active and bool(organization.display)
    return branding_of(organization) if organization is not None and is_shown else None
