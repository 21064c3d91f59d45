"""Activates the connection of the set-up guide, in one transaction: until then nothing of it exists outside of its link."""

from __future__ import annotations

from itertools import count
from typing import Any, Final

from app.contract import errors
from app.contract.organizations.models import Attributes, JitPolicy
from app.contract.organizations.organization_connection_operations import CreateConnection
from app.contract.organizations.organization_operations import SetPolicies
from app.identity.directory.organizations import organizations, policies
from app.identity.directory.organizations.connections import organization_connection_store, organization_connections
from app.identity.directory.organizations.setup import setup_draft, setup_link_store, setup_links
from app.identity.directory.organizations.setup.setup_draft import SetupDraft
from app.identity.directory.organizations.setup.setup_link_store import SetupLinkRecord
from app.identity.platform.context import Context

_KEPT: Final = frozenset(CreateConnection.model_fields) - {"idp_metadata_url"}
"""The members that a request states. The rest was read from the provider's metadata before, whose address is not read again here."""


def activate(context: Context, link: SetupLinkRecord) -> None:
    """Create the active connection, let people join by it if the link says so, and complete the link. A second call changes nothing.

    Raises SetupIncomplete, ClosedSetupLink, DomainNotVerified, DomainOfOtherConnection.
    """
    organizations.lock_active(context, link.org_id, is_alone=True)
    current = setup_link_store.locked(context, link.link_id)
    if current is not None and current.status == setup_link_store.COMPLETED:
        return
    if current is None or current.status != setup_link_store.OPEN:
        raise errors.ClosedSetupLink
    draft = setup_draft.of_link(context, current)
    if not draft.is_ready:
        raise errors.SetupIncomplete
    request, known = _request(context, current, draft)
    try:
        connection = organization_connections.create(
            context, request, address_key=link.address_key, known=known, service_provider=draft.keys
        )
    except errors.DomainNotInOrganization:
        raise errors.DomainNotVerified from None
    if current.joins:
        policies.change(context, SetPolicies(org_id=link.org_id, jit_policy=JitPolicy(enabled=True)))
    values: dict[str, Any] = {"connection_id": connection.connection_id, "sealed": None}
    setup_link_store.close(context, current, setup_link_store.COMPLETED, **values)
    setup_links.record(context, "organization.setup_completed", current, connection_id=connection.connection_id)


def _request(context: Context, link: SetupLinkRecord, draft: SetupDraft) -> tuple[CreateConnection, dict[str, Any]]:
    """Return the creation of the connection, and what was read from its provider's metadata."""
    draft_connection = draft.as_connection(context, link)
    stated = {name: value for name, value in draft.content.items() if name in _KEPT and value not in ("", None)}
    request = CreateConnection.model_validate(
        {
            "org_id": link.org_id,
            "name": _free_name(context, link.org_id, draft.product),
            "connection_type": draft_connection.kind,
            "domain": draft.domain or None,
            "attributes": Attributes.model_validate(draft.mapping),
            **stated,
            **({"client_secret": draft.secret} if draft.secret else {}),
        }
    )
    return request, {name: value for name, value in draft.content.items() if name not in _KEPT}


def _free_name(context: Context, org_id: str, product: str) -> str:
    """Return the product's name, with a number where the organization has a connection of this name."""
    names = (product if number == 1 else f"{product}-{number}" for number in count(1))
    return next(name for name in names if not organization_connection_store.has_name(context, org_id, name))
