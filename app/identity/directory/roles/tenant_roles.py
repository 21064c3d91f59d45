"""Rules of roles: the tenant's roles, the roles and contexts of accounts, and the resulting permissions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.engine import Row
from sqlalchemy.exc import IntegrityError

from app.contract import errors
from app.contract.roles import role_operations
from app.contract.webhooks.events import EventName
from app.identity.directory.accounts import account_store, assigned_roles
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.assigned_roles import EVERYWHERE
from app.identity.directory.roles import role_names, tenant_role_store
from app.identity.directory.tenants import tenant_writes
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import aware

US_FORMAT = "%m/%d/%Y %I:%M:%S %p"


@dataclass(frozen=True)
class NewRole:
    """A role to add; its permissions are the granted ones."""

    name: str
    permissions: tuple[str, ...]


@dataclass(frozen=True)
class AccountAccess:
    """What an account may do now: `contexts` are those that have not expired, `permissions` of roles and contexts together."""

    roles: tuple[str, ...]
    permissions: tuple[str, ...]
    contexts: Sequence[Row[Any]]


# The tenant's roles.


def create(context: Context, new: Sequence[NewRole]) -> Sequence[NewRole]:
    """Add roles, all or none, and return them.

    Raises:
        RoleNameRefused: a name is not valid, or equal to or looks like that of another role.
        BadParameter: a permission's name is not valid, or the tenant would have too many roles.
    """
    tenant_writes.lock(context.work)  # names and their number are compared with those of concurrent requests
    stored = {row.skeleton: row.name for row in tenant_role_store.all_roles(context.work)}
    for role in new:
        if problem := problem_with(role, stored):
            raise problem
        stored[role_names.skeleton(role.name)] = role.name
    if len(stored) > role_operations.MAX_ROLES:
        raise errors.BadParameter(f"A tenant has at most {role_operations.MAX_ROLES} roles.")
    add(context.work, new, context.now)
    for role in new:
        context.audit.record("roles.added", name=role.name)
    return new


def problem_with(role: NewRole, stored: Mapping[str, str]) -> errors.RoleNameRefused | errors.BadParameter | None:
    """Return why a role cannot be added; `held`: the names of the other roles, by skeleton."""
    if not role_names.is_valid(role.name):
        return errors.RoleNameRefused("The name has characters that roles cannot have, or is too long.")
    other = stored.get(role_names.skeleton(role.name))
    if other is not None:
        relation = "exists" if other == role.name else f"looks like the role {other}"
        return errors.RoleNameRefused(f"The name {role.name} {relation}.")
    return problem_with_permissions(role.permissions)


def problem_with_permissions(permissions: Iterable[str]) -> errors.BadParameter | None:
    """Return why these names cannot be the permissions of one role or context."""
    found = tuple(permissions)
    if len(found) > role_operations.MAX_PERMISSIONS:
        return errors.BadParameter(f"The parameter permissions has more than {role_operations.MAX_PERMISSIONS} names.")
    if not all(map(role_names.is_valid_permission, found)):
        return errors.BadParameter("The parameter permissions has a name that is not valid.")
    return None


def add(work: UnitOfWork, new: Iterable[NewRole], now: datetime) -> None:
    """Write roles without problems. Raises RoleNameRefused if another transaction took a name."""
    rows = [
        {
            "name": role.name,
            "skeleton": role_names.skeleton(role.name),
            "permissions": sorted(set(role.permissions)),
            "created_at": now,
            "modified_at": now,
        }
        for role in new
    ]
    try:
        tenant_role_store.add_roles(work, rows)
    except IntegrityError:
        raise errors.RoleNameRefused from None


def delete(context: Context, name: str) -> None:
    """Delete a role, and take it from accounts and contexts. Raises UnknownRoleName."""
    tenant_writes.lock(context.work)  # `gatehouse apply` may be assigning it
    if not role_names.can_exist(name) or not tenant_role_store.remove_role(context.work, name):
        raise errors.UnknownRoleName
    context.audit.record("roles.removed", name=name)


def add_permissions(context: Context, name: str, permissions: Iterable[str]) -> list[str]:
    """Add permissions to a role, and return all it has. Raises UnknownRoleName, BadParameter."""
    after = {*_locked_role(context, name), *permissions}
    if problem := problem_with_permissions(after):
        raise problem
    return _set_permissions(context, name, after)


def remove_permissions(context: Context, name: str, permissions: Iterable[str]) -> list[str]:
    """Take permissions from a role, and return the remaining ones. Raises UnknownRoleName, UnknownPermission."""
    before, taken = set(_locked_role(context, name)), set(permissions)
    if not taken <= before:
        raise errors.UnknownPermission
    return _set_permissions(context, name, before - taken)


def _locked_role(context: Context, name: str) -> list[str]:
    row = tenant_role_store.lock_role(context.work, name) if role_names.can_exist(name) else None
    if row is None:
        raise errors.UnknownRoleName
    return list(row.permissions)


def _set_permissions(context: Context, name: str, permissions: Iterable[str]) -> list[str]:
    after = sorted(permissions)
    tenant_role_store.set_permissions(context.work, name, after, context.now)
    context.audit.record("roles.changed", name=name)
    return after


# Roles of accounts.


def assign(context: Context, account: Account, requested: Iterable[str]) -> list[str]:
    """Give roles to an account, beside those that it has, and return all of them, sorted.

    Raises:
        UnknownRoleName: the tenant has no such role; nothing is assigned.
        BadParameter: the account would have too many.
    """
    _lock(context, account)
    stored = set(assigned_roles.of_account(context.work, account.uid).get(EVERYWHERE, ()))
    fresh = _existing(context, requested) - stored
    if len(stored) + len(fresh) > role_operations.MAX_ACCOUNT_ROLES:
        raise errors.BadParameter(f"An account has at most {role_operations.MAX_ACCOUNT_ROLES} roles.")
    if fresh:
        assigned_roles.assign(context.work, account.uid, {EVERYWHERE: fresh})
        _changed(context, account, "AssignRoles")
    return sorted(stored | fresh)


def unassign(context: Context, account: Account, unwanted: Iterable[str]) -> None:
    """Take roles from an account, as far as it has them. Raises UnknownRoleName."""
    _lock(context, account)
    if assigned_roles.unassign(context.work, account.uid, _existing(context, unwanted)):
        _changed(context, account, "UnassignRoles")


def change_contexts(
    context: Context, account: Account, role_contexts: Sequence[role_operations.RoleContextInput]
) -> Sequence[Row[Any]]:
    """Add contexts to an account or change those that it has, and return all of them.

    Raises:
        UnknownRoleContext: a name is not valid.
        UnknownRoleName: the tenant has no such role.
        MalformedExpiration: a date is neither of the two formats.
        BadParameter: a context is given twice, a permission's name is not valid, or the account would have too many contexts.
    """
    _lock(context, account)
    stored = {row.context: row for row in tenant_role_store.contexts_of(context.work, account.uid)}
    requested = {item.context: item for item in role_contexts}
    if len(requested) < len(role_contexts):
        raise errors.BadParameter("The parameter rolecontext names a context twice.")
    if not all(name in stored or role_names.is_valid(name) for name in requested):
        raise errors.UnknownRoleContext
    if len(stored.keys() | requested.keys()) > role_operations.MAX_CONTEXTS:
        raise errors.BadParameter(f"An account has at most {role_operations.MAX_CONTEXTS} role contexts.")
    contents = {name: _content(item, stored.get(name)) for name, item in requested.items()}
    assigned = {name: set(item.roles or ()) for name, item in requested.items() if "roles" in item.model_fields_set}
    _existing(context, set().union(*assigned.values()))
    tenant_role_store.put_contexts(context, account.uid, contents)
    assigned_roles.clear(context.work, account.uid, assigned)
    assigned_roles.assign(context.work, account.uid, assigned)
    _changed(context, account, "AssignRoles")
    return tenant_role_store.contexts_of(context.work, account.uid)


def remove_context(context: Context, account: Account, name: str) -> None:
    """Delete a context of an account. Raises UnknownRoleContext."""
    _lock(context, account)
    if not role_names.can_exist(name) or not tenant_role_store.remove_context(context.work, account.uid, name):
        raise errors.UnknownRoleContext
    _changed(context, account, "RemoveRoleContext")


def remove_context_roles(context: Context, account: Account, name: str, unwanted: Iterable[str]) -> None:
    """Take roles from a context of an account, as far as it has them. Raises UnknownRoleContext, UnknownRoleName."""
    _locked_context(context, account, name)
    if assigned_roles.unassign(context.work, account.uid, _existing(context, unwanted), name):
        _changed(context, account, "UnassignRoles")


def remove_context_permissions(context: Context, account: Account, name: str, unwanted: Iterable[str]) -> None:
    """Take additional permissions from a context of an account. Raises UnknownRoleContext, UnknownPermission."""
    row, taken = _locked_context(context, account, name), set(unwanted)
    if not taken <= set(row.additional_permissions):
        raise errors.UnknownPermission
    remaining = sorted(set(row.additional_permissions) - taken)
    tenant_role_store.put_contexts(
        context, account.uid, {name: {"additional_permissions": remaining, "ends_at": row.ends_at}}
    )
    _changed(context, account, "UnassignRoles")


def accounts_in(context: Context, name: str, cursor: str | None) -> tuple[list[tuple[Row[Any], Account]], str | None]:
    """Return a page of the accounts that have a context, each with the context, and the cursor of the next page.

    Raises UnknownRoleContext: no account has it.
    """
    if not role_names.can_exist(name) or not (cursor is None or cursor.isprintable()):
        raise errors.UnknownRoleContext
    rows = tenant_role_store.contexts_named(context.work, name, after=cursor, limit=role_operations.MAX_PAGE + 1)
    if not rows and cursor is None:
        raise errors.UnknownRoleContext
    page = rows[: role_operations.MAX_PAGE]
    found = {account.uid: account for account in account_store.by_uids(context, [row.uid for row in page])}
    following = page[-1].uid if len(rows) > len(page) else None
    return [(row, found[row.uid]) for row in page if row.uid in found], following


def access_of(context: Context, account: Account) -> AccountAccess:
    """Return the current permissions of an account; expired contexts give none."""
    contexts = [
        row for row in tenant_role_store.contexts_of(context.work, account.uid) if not _is_expired(context, row)
    ]
    assigned = {*(account.roles or ()), *(name for row in contexts for name in row.roles)}
    permissions = set(tenant_role_store.permissions_of(context.work, assigned)) if assigned else set()
    permissions.update(name for row in contexts for name in row.additional_permissions)
    return AccountAccess(tuple(account.roles or ()), tuple(sorted(permissions)), contexts)


def _is_expired(context: Context, row: Row[Any]) -> bool:
    return row.ends_at is not None and row.ends_at <= context.now


def _lock(context: Context, account: Account) -> None:
    """Lock the account, so that its limits and its deletion are kept under concurrency. Raises UnknownUid."""
    if not account_store.lock_unread(context, account.uid):
        raise errors.UnknownUid


def _locked_context(context: Context, account: Account, name: str) -> Row[Any]:
    _lock(context, account)
    row = tenant_role_store.context_of(context.work, account.uid, name) if role_names.can_exist(name) else None
    if row is None:
        raise errors.UnknownRoleContext
    return row


def _existing(context: Context, requested: Iterable[str]) -> set[str]:
    """Return the names, locked against deletion. Raises UnknownRoleName if one is no role."""
    existing = set(requested)
    if not all(map(role_names.can_exist, existing)) or (
        existing and tenant_role_store.existing(context.work, existing) != existing
    ):
        raise errors.UnknownRoleName
    return existing


def _changed(context: Context, account: Account, event: EventName) -> None:
    changed = account_store.lock(context, account.uid)  # its ModifiedDate becomes now
    events.emit(context, event, changed or account)


def _content(item: role_operations.RoleContextInput, stored: Row[Any] | None) -> dict[str, Any]:
    """Return the columns of a context; members that are absent from the request keep their value."""
    permissions, ends_at = (stored.additional_permissions, stored.ends_at) if stored is not None else ([], None)
    if "additional_permissions" in item.model_fields_set:
        permissions = sorted(set(item.additional_permissions or ()))
        if problem := problem_with_permissions(permissions):
            raise problem
    if "expiration" in item.model_fields_set:
        ends_at = parse_expiration(item.expiration)
    return {"additional_permissions": permissions, "ends_at": ends_at}


def parse_expiration(text: str | None) -> datetime | None:
    """Return the instant of `MM/dd/yyyy h:mm:ss tt`, in UTC, or of ISO 8601, in UTC unless it has an offset.

    Raises MalformedExpiration.
    """
    if text is None:
        return None
    try:
        at = datetime.strptime(text, US_FORMAT) if "/" in text else datetime.fromisoformat(text)  # noqa: DTZ007 - set below
        return aware(at).astimezone(UTC).replace(microsecond=0)
    except (ValueError, OverflowError):
        raise errors.MalformedExpiration from None
