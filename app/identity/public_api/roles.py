"""The operations of roles, for the tenant's servers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy.engine import Row

from app.contract.roles import role_operations
from app.contract.shared_responses import Deleted
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.profile import profile_document
from app.identity.directory.roles import role_powers, tenant_role_store, tenant_roles
from app.identity.directory.roles.tenant_roles import NewRole
from app.identity.platform.context import Context
from app.identity.platform.powers import require_powers
from app.kit.clock import iso


@role_operations.of_account.implements
def of_account(context: Context, req: role_operations.ReadAccountRoles) -> role_operations.AccountRoles:
    return role_operations.AccountRoles(roles=accounts.require(context, req.uid).roles or [])


@role_operations.assign.implements
def assign(context: Context, req: role_operations.ChangeAccountRoles) -> role_operations.AccountRoles:
    return role_operations.AccountRoles(
        roles=tenant_roles.assign(context, accounts.require(context, req.uid), req.roles)
    )


@role_operations.unassign.implements
def unassign(context: Context, req: role_operations.ChangeAccountRoles) -> Deleted:
    account = accounts.require(context, req.uid)
    require_powers(context, role_powers.of_roles(context, req.roles))
    tenant_roles.unassign(context, account, req.roles)
    return Deleted()


@role_operations.contexts.implements
def contexts(context: Context, req: role_operations.ReadRoleContexts) -> role_operations.RoleContexts:
    account = accounts.require(context, req.uid)
    return _contexts(tenant_role_store.contexts_of(context.work, account.uid))


@role_operations.change_contexts.implements
def change_contexts(context: Context, req: role_operations.ChangeRoleContexts) -> role_operations.RoleContexts:
    return _contexts(tenant_roles.change_contexts(context, accounts.require(context, req.uid), req.role_context))


@role_operations.remove_context.implements
def remove_context(context: Context, req: role_operations.RemoveRoleContext) -> Deleted:
    account = accounts.require(context, req.uid)
    require_powers(context, role_powers.of_context(context, account.uid, req.context))
    tenant_roles.remove_context(context, account, req.context)
    return Deleted()


@role_operations.remove_context_roles.implements
def remove_context_roles(context: Context, req: role_operations.RemoveContextRoles) -> Deleted:
    account = accounts.require(context, req.uid)
    require_powers(context, role_powers.of_roles(context, req.roles))
    tenant_roles.remove_context_roles(context, account, req.context, req.roles)
    return Deleted()


@role_operations.remove_context_permissions.implements
def remove_context_permissions(context: Context, req: role_operations.RemoveContextPermissions) -> Deleted:
    account = accounts.require(context, req.uid)
    require_powers(context, role_powers.of_permissions(req.additional_permissions))
    tenant_roles.remove_context_permissions(context, account, req.context, req.additional_permissions)
    return Deleted()


@role_operations.context_accounts.implements
def context_accounts(context: Context, req: role_operations.ReadContextAccounts) -> role_operations.ContextAccounts:
    found, cursor = tenant_roles.accounts_in(context, req.context, req.cursor)
    return role_operations.ContextAccounts(
        data=[_context_account(row, account) for row, account in found], next_cursor=cursor
    )


@role_operations.read_all.implements
def read_all(context: Context, req: role_operations.ListRoles) -> role_operations.RoleList:
    rows = tenant_role_store.all_roles(context.work)
    return role_operations.RoleList(data=[_role(row.name, row.permissions) for row in rows], count=len(rows))


@role_operations.create.implements
def create(context: Context, req: role_operations.CreateRoles) -> role_operations.RoleList:
    new = [
        NewRole(role.name, tuple(name for name, is_granted in role.permissions.items() if is_granted))
        for role in req.roles
    ]
    require_powers(context, role_powers.of_permissions([name for role in new for name in role.permissions]))
    created = sorted(tenant_roles.create(context, new), key=lambda role: role.name)
    return role_operations.RoleList(data=[_role(role.name, role.permissions) for role in created], count=len(created))


@role_operations.delete.implements
def delete(context: Context, req: role_operations.RoleName) -> Deleted:
    require_powers(context, role_powers.of_roles(context, [req.role]))
    tenant_roles.delete(context, req.role)
    return Deleted()


@role_operations.add_permissions.implements
def add_permissions(context: Context, req: role_operations.RolePermissions) -> role_operations.AccountRole:
    return _role(req.role, tenant_roles.add_permissions(context, req.role, req.permissions))


@role_operations.remove_permissions.implements
def remove_permissions(context: Context, req: role_operations.RolePermissions) -> role_operations.AccountRole:
    require_powers(context, role_powers.of_roles(context, [req.role]))
    return _role(req.role, tenant_roles.remove_permissions(context, req.role, req.permissions))


def _role(name: str, permissions: Iterable[str]) -> role_operations.AccountRole:
    return role_operations.AccountRole(name=name, permissions=dict.fromkeys(sorted(permissions), True))


def _contexts(rows: Sequence[Row[Any]]) -> role_operations.RoleContexts:
    return role_operations.RoleContexts(
        data=[
            role_operations.RoleContext(
                context=row.context,
                roles=row.roles,
                additional_permissions=row.additional_permissions,
                expiration=iso(row.ends_at),
            )
            for row in rows
        ]
    )


def _context_account(row: Row[Any], account: Account) -> role_operations.ContextAccount:
    profile = profile_document.profile_of(account)
    content = role_operations.ContextContent(
        roles=row.roles, additional_permissions=row.additional_permissions, expiration=iso(row.ends_at)
    )
    return role_operations.ContextAccount(
        role_context=content,
        uid=account.uid,
        last_login_date=profile["LastLoginDate"],
        full_name=profile["FullName"],
        email=profile["Email"],
        image_url=profile["ImageUrl"],
    )
