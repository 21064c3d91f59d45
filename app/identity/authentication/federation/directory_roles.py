"""The roles that groups of a directory give: each complete sign-in gives them, and takes those that no group gives any more."""

from __future__ import annotations

from app.identity.credentials.ldap import ldap_directories
from app.identity.directory.accounts import assigned_roles
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.assigned_roles import EVERYWHERE
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.directory.roles import role_names, tenant_role_store, tenant_roles
from app.identity.platform.context import Context


def apply(context: Context, account: Account, identity: ProviderIdentity) -> None:
    """Give and take the roles that `GroupRoles` of the identity's provider names; all other roles stay.

    A name that is no role, or for which the account has too many, is left out, and the audit names it.
    """
    directory = ldap_directories.by_name(context, identity.provider)
    group_roles = directory.provider.group_roles if directory is not None else {}
    if not group_roles or identity.groups is None:
        return
    named = {name for name in group_roles.values() if role_names.can_exist(name)}
    granted = {group_roles[group] for group in identity.groups if group in group_roles} & named
    stored = set(assigned_roles.of_account(context.work, account.uid).get(EVERYWHERE, ()))
    missing, lost = granted - stored, (named - granted) & stored
    existing = tenant_role_store.existing(context.work, missing | lost) if missing or lost else frozenset()
    if unknown := missing - existing:
        context.audit.record(
            "account.directory_roles_unknown", uid=account.uid, by=identity.provider, roles=sorted(unknown)
        )
    if taken := lost & existing:
        tenant_roles.unassign(context, account, taken)
    if given := missing & existing:
        tenant_roles.assign(context, account, given)
    if taken or given:
        context.audit.record(
            "account.directory_roles", uid=account.uid, by=identity.provider, given=sorted(given), taken=sorted(taken)
        )
