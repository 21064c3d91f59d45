"""The keys of this service for one SAML connection, and their change from the next one to the current one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from app.contract import errors
from app.identity.directory.organizations import organizations
from app.identity.directory.organizations.connections import organization_connection_store, organization_connections
from app.identity.directory.organizations.connections.organization_connection_store import OrganizationConnectionRecord
from app.identity.platform import saml_key_rollover
from app.identity.platform.context import Context
from app.identity.platform.saml_key_rollover import KeySlot, KeySlots, OwnKey, OwnKeys

SLOTS: Final = KeySlots(
    current=KeySlot(("sp_certificate",), organization_connections.SP_KEY),
    next=KeySlot(("next_sp_certificate",), "next_sp_key"),
    former=KeySlot(("former_sp_certificate",), "former_sp_key"),
)
_MAX_TRIES: Final = 10


def of_connection(context: Context, record: OrganizationConnectionRecord) -> OwnKeys:
    """Return the keys of a stored connection."""
    return SLOTS.read(record.content, organization_connection_store.secrets_of(context, record))


def create_next(context: Context, org_id: str, connection_id: str) -> OrganizationConnectionRecord:
    """Publish a next key, unless there is one. Raises as `_change` does."""
    made = _new_key(context, org_id, connection_id)
    event = "organization.connection_next_certificate_created"
    return _change(context, org_id, connection_id, event, lambda keys: keys.with_next(lambda: made))


def activate_next(context: Context, org_id: str, connection_id: str) -> OrganizationConnectionRecord:
    """Let the next key sign. Raises as `_change` does, and BadField for a connection without a next key."""

    def activate(keys: OwnKeys) -> OwnKeys:
        if keys.next is None:
            raise errors.BadField("NextCertificate: there is none to activate. Create it first.")
        return keys.activated()

    return _change(context, org_id, connection_id, "organization.connection_certificate_activated", activate)


def renew(context: Context, org_id: str, connection_id: str) -> OrganizationConnectionRecord:
    """Let the next key sign at once or, without it, a new one. Raises as `_change` does."""
    made = _new_key(context, org_id, connection_id)
    event = "organization.connection_certificate_renewed"
    return _change(context, org_id, connection_id, event, lambda keys: keys.with_next(lambda: made).activated())


def delete_next(context: Context, org_id: str, connection_id: str) -> OrganizationConnectionRecord:
    """Take the next key back. Raises as `_change` does."""
    event = "organization.connection_next_certificate_deleted"
    return _change(context, org_id, connection_id, event, OwnKeys.without_next)


def delete_former(context: Context, org_id: str, connection_id: str) -> OrganizationConnectionRecord:
    """Stop using the former key. Raises as `_change` does."""
    event = "organization.connection_former_certificate_deleted"
    return _change(context, org_id, connection_id, event, OwnKeys.without_former)


def _new_key(context: Context, org_id: str, connection_id: str) -> OwnKey:
    """Return a new key for a connection that exists, made before the organization is locked. Raises as `_change` does."""
    organization_connections.require(context, organizations.require_active(context, org_id), connection_id)
    return saml_key_rollover.generated(org_id, context.now)


def _change(
    context: Context, org_id: str, connection_id: str, event: str, change: Callable[[OwnKeys], OwnKeys]
) -> OrganizationConnectionRecord:
    """Change the keys of a connection once, and audit that.

    Raises BadField for a connection that has no certificates, UnknownOrganizationConnection, TooManyRequests, and what `change` raises.
    """
    for _ in range(_MAX_TRIES):
        organization = organizations.lock_active(context, org_id, is_alone=True)
        stored = organization_connections.require(context, organization, connection_id)
        if not stored.is_saml:
            raise errors.BadField("ConnectionType: a SAML connection. Those of OpenID Connect have no certificate.")
        before = of_connection(context, stored)
        after = change(before)
        if after == before:
            return stored
        content, secrets = SLOTS.write(after, stored.content, organization_connection_store.secrets_of(context, stored))
        changed = organization_connection_store.change_keys(context, stored, content, secrets)
        if changed is not None:
            organization_connections.record(context, event, changed)
            return changed
        context.work.rollback()  # the schedule changed what the provider's metadata says
    raise errors.TooManyRequests
