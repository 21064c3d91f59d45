"""The operations of roles, for the tenant's servers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy.engine import Row

from app.contract.roles import operations as contract
from app.contract.shared_responses import Deleted
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.roles import powers as role_powers
from app.identity.directory.roles import service as roles
from app.identity.directory.roles import store as tenant_role_store
from app.identity.directory.roles.service import NewRole
from app.identity.platform.context import Context
from app.identity.platform.powers import require as require_powers
from app.kit.clock import iso


@contract.of_account.implements
def of_account(context: Context, req: contract.ReadAccountRoles) -> contract.AccountRoles:
    return contract.AccountRoles(roles=accounts.require(context, req.uid).roles or [])


@contract.assign.implements
def assign(context: Context, req: contract.ChangeAccountRoles) -> contract.AccountRoles:
    return contract.AccountRoles(roles=roles.assign(context, accounts.require(context, req.uid), req.roles))


@contract.unassign.implements
def unassign(context: Context, req: contract.ChangeAccountRoles) -> Deleted:
    account = accounts.require(context, req.uid)
    require_powers(context, role_powers.of_roles(context, req.roles))
    roles.unassign(context, account, req.roles)
    return Deleted()


@contract.contexts.implements
def contexts(context: Context, req: contract.ReadRoleContexts) -> contract.RoleContexts:
    account = accounts.require(context, req.uid)
    return _contexts(tenant_role_store.contexts_of(context.work, account.uid))


@contract.change_contexts.implements
def change_contexts(context: Context, req: contract.ChangeRoleContexts) -> contract.RoleContexts:
    return _contexts(roles.change_contexts(context, accounts.require(context, req.uid), req.role_context))


@contract.remove_context.implements
def remove_context(context: Context, req: contract.RemoveRoleContext) -> Deleted:
    account = accounts.require(context, req.uid)
    require_powers(context, role_powers.of_context(context, account.uid, req.context))
    roles.remove_context(context, account, req.context)
    return Deleted()


@contract.remove_context_roles.implements
def remove_context_roles(context: Context, req: contract.RemoveContextRoles) -> Deleted:
    account = accounts.require(context, req.uid)
    require_powers(context, role_powers.of_roles(context, req.roles))
    roles.remove_context_roles(context, account, req.context, req.roles)
    return Deleted()


@contract.remove_context_permissions.implements
def remove_context_permissions(context: Context, req: contract.RemoveContextPermissions) -> Deleted:
    account = accounts.require(context, req.uid)
    require_powers(context, role_powers.of_permissions(req.additional_permissions))
    roles.remove_context_permissions(context, account, req.context, req.additional_permissions)
    return Deleted()


@contract.context_accounts.implements
def context_accounts(context: Context, req: contract.ReadContextAccounts) -> contract.ContextAccounts:
    found, cursor = roles.accounts_in(context, req.context, req.cursor)
    return contract.ContextAccounts(data=[_context_account(row, account) for row, account in found], next_cursor=cursor)


@contract.read_all.implements
def read_all(context: Context, req: contract.ListRoles) -> contract.RoleList:
    rows = tenant_role_store.all_roles(context.work)
    return contract.RoleList(data=[_role(row.name, row.permissions) for row in rows], count=len(rows))


@contract.create.implements
def create(context: Context, req: contract.CreateRoles) -> contract.RoleList:
    new = [
        NewRole(role.name, tuple(name for name, is_granted in role.permissions.items() if is_granted))
        for role in req.roles
    ]
    require_powers(context, role_powers.of_permissions([name for role in new for name in role.permissions]))
    created = sorted(roles.create(context, new), key=lambda role: role.name)
    return contract.RoleList(data=[_role(role.name, role.permissions) for role in created], count=len(created))


@contract.delete.implements
def delete(context: Context, req: contract.RoleName) -> Deleted:
    require_powers(context, role_powers.of_roles(context, [req.role]))
    roles.delete(context, req.role)
    return Deleted()


@contract.add_permissions.implements
def add_permissions(context: Context, req: contract.RolePermissions) -> contract.AccountRole:
    return _role(req.role, roles.add_permissions(context, req.role, req.permissions))


@contract.remove_permissions.implements
def remove_permissions(context: Context, req: contract.RolePermissions) -> contract.AccountRole:
    require_powers(context, role_powers.of_roles(context, [req.role]))
    return _role(req.role, roles.remove_permissions(context, req.role, req.permissions))


def _role(name: str, permissions: Iterable[str]) -> contract.AccountRole:
    return contract.AccountRole(name=name, permissions=dict.fromkeys(sorted(permissions), True))


def _contexts(rows: Sequence[Row[Any]]) -> contract.RoleContexts:
    return contract.RoleContexts(
        data=[
            contract.RoleContext(
                context=row.context,
                roles=row.roles,
                additional_permissions=row.additional_permissions,
                expiration=iso(row.ends_at),
            )
            for row in rows
        ]
    )


def _context_account(row: Row[Any], account: Account) -> contract.ContextAccount:
    profile = accounts.profile_of(account)
    content = contract.ContextContent(
        roles=row.roles, additional_permissions=row.additional_permissions, expiration=iso(row.ends_at)
    )
    return contract.ContextAccount(
        role_context=content,
        uid=account.uid,
        last_login_date=profile["LastLoginDate"],
        full_name=profile["FullName"],
        email=profile["Email"],
        image_url=profile["ImageUrl"],
    )
