"""The branding of organizations on the pages of a sign-in (decision 0196)."""

from __future__ import annotations

from app.contract.organizations.views import OrganizationBranding
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context


def branding_of(organization: OrganizationRecord) -> OrganizationBranding:
    """Return the look of an organization whose name the visitor knows."""
    return OrganizationBranding(
        name=organization.display_name,
        logo=organization.logo_url,
        color=organization.color,
        theme=organization.theme_name,
    )


def branding_of_name(context: Context, text: str | None) -> OrganizationBranding | None:
    """Return how the pages of a sign-in for an active organization look, by its id or name, with its connections.

    None also for an organization with neither a look of its own nor connections: a name that only its members know stays unknown to
    others. The cost is that of `named_organization.find`.
    """
    if not text:
        return None
    from app.identity.directory.organizations import named_organization  # noqa: PLC0415 - few requests name any
    from app.identity.directory.organizations.connections import sign_in_connections  # noqa: PLC0415 - as above

    named = named_organization.find(context, text)
    if named is None:
        return None
    shown = branding_of(named.organization) if named.organization.display else None
    if not named.connections:
        return shown
    options = sign_in_connections.options(context, named.connections)
    added = {"connections": options, "requires_connection": named.demands_connection(context)}
    return (shown or OrganizationBranding()).model_copy(update=added)
