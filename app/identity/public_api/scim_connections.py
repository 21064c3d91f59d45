"""The operations by which a tenant's servers manage SCIM connections."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from app.contract import errors
from app.contract.scim import connection_operations
from app.contract.scim.scim_operations import BASE
from app.contract.shared_responses import Deleted
from app.identity.directory.organizations import organization_powers, organizations
from app.identity.directory.provisioning import connection_store, request_log
from app.identity.directory.provisioning.connection_store import TENANT, ScimConnectionRecord, ScimTokenRecord
from app.identity.platform.context import Context
from app.identity.platform.powers import require_powers
from app.kit.clock import iso

_MAX_CONNECTIONS: Final = 20
_MAX_TOKENS: Final = 10


@connection_operations.list_all.implements
def list_all(context: Context, req: connection_operations.ListScimConnections) -> connection_operations.ScimConnections:
    found = connection_store.page(context, req.org_id or None, *req.window)
    return connection_operations.ScimConnections(data=[_view(context, item) for item in found])


@connection_operations.create.implements
def create(context: Context, req: connection_operations.CreateScimConnection) -> connection_operations.ScimConnection:
    require_powers(context, [organization_powers.CONNECTION])
    if req.org_id:
        if not context.tenant.settings.organizations.enabled:
            raise errors.OrganizationsOff
        organizations.lock_active(context, req.org_id, is_alone=True)
    org_id = req.org_id or TENANT
    context.work.begin()
    if connection_store.count(context, org_id) >= _MAX_CONNECTIONS:
        raise errors.TooManyScimConnections
    connection = connection_store.add(context, org_id, req.name, is_dry_run=req.dry_run)
    _record(context, "scim.connection_created", connection)
    return _view(context, connection)


@connection_operations.read.implements
def read(context: Context, req: connection_operations.ScimConnectionPath) -> connection_operations.ScimConnection:
    return _view(context, _found(context, req))


@connection_operations.update.implements
def update(context: Context, req: connection_operations.UpdateScimConnection) -> connection_operations.ScimConnection:
    require_powers(context, [organization_powers.CONNECTION])
    values = {"name": req.name, "is_paused": req.paused, "is_dry_run": req.dry_run}
    changed = {name: value for name, value in values.items() if value is not None}
    connection = connection_store.change(context, _found(context, req).connection_id, **changed)
    if connection is None:
        raise errors.UnknownScimConnection
    _record(context, "scim.connection_changed", connection, members=sorted(changed))
    return _view(context, connection)


@connection_operations.delete.implements
def delete(context: Context, req: connection_operations.ScimConnectionPath) -> Deleted:
    connection = _found(context, req)
    require_powers(context, [organization_powers.CONNECTION])
    if not connection_store.remove(context, connection.connection_id):
        raise errors.UnknownScimConnection
    _record(context, "scim.connection_deleted", connection)
    return Deleted()


@connection_operations.list_requests.implements
def list_requests(
    context: Context, req: connection_operations.ScimConnectionPath
) -> connection_operations.ScimRequests:
    found = request_log.latest(context, _found(context, req).connection_id)
    views = [
        connection_operations.ScimRequest(
            id=item.request_id, date=iso(item.at) or "", method=item.method, path=item.path, status=item.status, detail=item.detail,
            dry_run=item.is_dry_run, changes=list(item.changes),
        )
        for item in found
    ]  # fmt: skip
    return connection_operations.ScimRequests(data=views)


@connection_operations.list_tokens.implements
def list_tokens(context: Context, req: connection_operations.ScimConnectionPath) -> connection_operations.ScimTokens:
    found = connection_store.tokens(context, _found(context, req).connection_id)
    return connection_operations.ScimTokens(data=[_token(item) for item in found])


@connection_operations.create_token.implements
def create_token(
    context: Context, req: connection_operations.CreateScimToken
) -> connection_operations.CreatedScimToken:
    require_powers(context, [organization_powers.CONNECTION])
    connection = connection_store.by_id(context, req.connection_id, is_locked=True)
    if connection is None:
        raise errors.UnknownScimConnection
    if len(connection_store.tokens(context, connection.connection_id)) >= _MAX_TOKENS:
        raise errors.TooManyScimTokens
    ends_at = context.now + timedelta(days=req.days_to_live) if req.days_to_live is not None else None
    token, text = connection_store.add_token(context, connection, sorted(set(req.scopes)), ends_at)
    _record(context, "scim.token_created", connection, token_id=token.token_id)
    return connection_operations.CreatedScimToken(**_token(token).model_dump(), token=text)


@connection_operations.revoke_token.implements
def revoke_token(context: Context, req: connection_operations.ScimTokenPath) -> Deleted:
    connection = _found(context, req)
    if not connection_store.remove_token(context, connection.connection_id, req.token_id):
        raise errors.UnknownScimToken
    _record(context, "scim.token_revoked", connection, token_id=req.token_id)
    return Deleted()


def _found(context: Context, req: connection_operations.ScimConnectionPath) -> ScimConnectionRecord:
    """Return the connection. Raises UnknownScimConnection."""
    found = connection_store.by_id(context, req.connection_id)
    if found is None:
        raise errors.UnknownScimConnection
    return found


def _record(context: Context, event: str, connection: ScimConnectionRecord, **facts: Any) -> None:
    organization = {"org_id": connection.org_id} if connection.org_id else {}
    context.audit.record(event, connection_id=connection.connection_id, **organization, **facts)


def _view(context: Context, connection: ScimConnectionRecord) -> connection_operations.ScimConnection:
    return connection_operations.ScimConnection(
        id=connection.connection_id,
        org_id=connection.org_id or None,
        name=connection.name,
        paused=connection.is_paused,
        dry_run=connection.is_dry_run,
        base_url=f"{context.pages_url}{BASE}",
        created_date=iso(connection.created_at) or "",
        modified_date=iso(connection.modified_at) or "",
    )


def _token(token: ScimTokenRecord) -> connection_operations.ScimToken:
    return connection_operations.ScimToken(
        id=token.token_id,
        connection_id=token.connection_id,
        scopes=list(token.scopes),
        created_date=iso(token.created_at) or "",
        last_used_date=iso(token.used_at) if token.used_at is not None else None,
        expiration_date=iso(token.expires_at) if token.expires_at is not None else None,
    )
