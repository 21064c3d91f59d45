"""The organization that a request names, and its connections, for visitors who may not be its members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.identity.directory.organizations import organization_names, organization_store, sign_in_methods
from app.identity.directory.organizations.connections import sign_in_connections
from app.identity.directory.organizations.connections.organization_connection_store import (
    OrganizationConnectionRecord,
)
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context

_MAX_LENGTH: Final = 400
_KEY: Final = "named_organization"


@dataclass(frozen=True)
class NamedOrganization:
    """An active organization, and the connections by which people can sign in, the oldest first."""

    organization: OrganizationRecord
    connections: list[OrganizationConnectionRecord]

    def demands_connection(self, context: Context) -> bool:
        """Return whether its members sign in by these connections alone."""
        settings, policies = context.tenant.settings, self.organization.policy
        return bool(self.connections) and sign_in_methods.demands_connection(settings, policies)


def find(context: Context, text: str) -> NamedOrganization | None:
    """Return an active organization by its id or name, in any letter case.

    Two statements for every text, at its first use in a request, so that the cost tells nothing about the organization.
    """
    if not context.tenant.settings.organizations.enabled or len(text) > _MAX_LENGTH:
        return None
    read: dict[str, NamedOrganization | None] = context.remembered.setdefault(_KEY, {})
    if text not in read:
        read[text] = _read(context, text)
    return read[text]


def _read(context: Context, text: str) -> NamedOrganization | None:
    by_id = organization_names.is_id(organization_names.ORGANIZATION, text)
    found = organization_store.by_id(context, text) if by_id else organization_store.by_name(context, text)
    connections = sign_in_connections.of_organizations(context, [found.org_id if found is not None else ""])
    return NamedOrganization(found, connections) if found is not None and found.is_active else None
