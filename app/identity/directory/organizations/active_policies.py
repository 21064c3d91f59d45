"""What organizations mean for an account: its roles there, and the stricter of the rules of the tenant and of those that are active.

All questions of a request together take one statement for an account that joined an organization, and none for any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from operator import attrgetter
from typing import NamedTuple

from sqlalchemy import bindparam, select

from app.contract.organizations.models import Policies
from app.contract.tenants.settings import PasswordPolicy
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations.tables import organization_user_roles, organizations
from app.identity.platform.context import Context
from app.identity.platform.store.compiled_statements import Compiled

O, M = organizations.c, organization_user_roles.c  # noqa: E741 - short names of columns, as in all stores
_KEY = "account_organizations"
_OF_ACCOUNT = Compiled(
    select(M.org_id, M.role_id, M.connection_id, O.is_active, O.name, O.name_key, O.display, O.policies)
    .select_from(
        organization_user_roles.join(organizations, (O.tenant_id == bindparam("tenant")) & (O.org_id == M.org_id))
    )
    .where(M.tenant_id == bindparam("tenant"), M.uid == bindparam("account"))
)
"""Unsorted: to return them by name, SQLite would read all organizations of the tenant."""
Grants = dict[str, dict[str, str | None]]
"""Roles by organization, each with the connection that granted it; None: people did."""


class ActivePolicy(NamedTuple):
    """The policies of an organization, with its id and display name."""

    org_id: str
    name: str
    policies: Policies


class _Organizations(NamedTuple):
    """What one statement read of the organizations of an account."""

    grants: Grants
    policies: tuple[ActivePolicy, ...]


def active(context: Context, account: Account) -> tuple[ActivePolicy, ...]:
    """Return the policies of the account's active organizations by their names, without those that set nothing.

    One statement in a request for an account that joined an organization, and none for any other.
    """
    if not account.has_organizations or not context.tenant.settings.organizations.enabled:
        return ()
    return _of_account(context, account.uid).policies


def granted(context: Context, uid: str) -> Grants:
    """Return the account's roles in organizations, active or not, in the same statement."""
    return _of_account(context, uid).grants


def invalidate(context: Context) -> None:
    """Read them again in this request: a membership, a policy or an organization changed, or was locked."""
    context.remembered.pop(_KEY, None)


def _of_account(context: Context, uid: str) -> _Organizations:
    read: dict[tuple[str, str], _Organizations] = context.remembered.setdefault(_KEY, {})
    key = (context.tenant.tenant_id, uid)
    if key not in read:
        read[key] = _read(context, uid)
    return read[key]


def _read(context: Context, uid: str) -> _Organizations:
    rows = context.work.all(_OF_ACCOUNT, {"tenant": context.tenant.tenant_id, "account": uid})
    grants: Grants = {}
    for row in rows:
        grants.setdefault(row.org_id, {})[row.role_id] = row.connection_id
    limiting = {row.org_id: row for row in rows if row.is_active and row.policies}
    policies = tuple(
        ActivePolicy(row.org_id, str(row.display.get("Name") or row.name), Policies.model_validate(row.policies))
        for row in sorted(limiting.values(), key=attrgetter("name_key"))
    )
    return _Organizations(grants, policies)


def requires_second_factor(context: Context, account: Account) -> bool:
    """Return whether the account needs a second factor: by the tenant's settings, or because an organization forces it.

    An organization cannot force it while the tenant has two-factor sign-in disabled.
    """
    mode = context.tenant.settings.two_factor
    if mode != "optional":
        return mode == "required"
    return any(item.policies.mfa_policy.enforcement_mode == "force" for item in active(context, account))


def password_rules(context: Context, account: Account | None) -> PasswordPolicy:
    """Return the rules for a new password of the account; None: of an account that is being created."""
    rules = context.tenant.settings.password_policy
    if account is None:
        return rules
    for item in active(context, account):
        own = item.policies.password_policy
        shortest = max(rules.min_length, own.min_length or 0)
        longest = min(rules.max_length, own.max_length or rules.max_length)
        rules = rules.model_copy(
            update={
                "min_length": shortest,
                "max_length": max(
                    shortest, longest
                ),  # two organizations may exclude each other: the longer password is safer
                "require_lowercase": rules.require_lowercase or bool(own.require_lowercase),
                "require_uppercase": rules.require_uppercase or bool(own.require_uppercase),
                "require_number": rules.require_number or bool(own.require_number),
                "require_symbol": rules.require_symbol or bool(own.require_special_char),
            }
        )
    return rules


def password_expires_at(context: Context, account: Account) -> datetime | None:
    """Return when the password expires; None: never."""
    changed_at = account.password_changed_at
    if changed_at is None:
        return account.password_expires_at
    days = _least(item.policies.password_policy.expiry_days for item in active(context, account))
    ends = [account.password_expires_at, changed_at + timedelta(days=days) if days else None]
    return min((item for item in ends if item is not None), default=None)


def shortest_lifetimes(
    context: Context, account: Account | None, access_seconds: int | None = None, refresh_seconds: int | None = None
) -> tuple[int | None, int | None]:
    """Return the lifetimes of an access and a refresh token, shortened by the account's organizations; None: the tenant's lifetime."""
    settings = context.tenant.settings
    found = active(context, account) if account is not None else ()
    if not found:
        return access_seconds, refresh_seconds
    shortest_access = _least(item.policies.session_policy.access_token_ttl for item in found)
    shortest_refresh = _least(item.policies.session_policy.refresh_token_ttl for item in found)
    if shortest_access is not None:
        access_seconds = min(access_seconds or settings.access_token_minutes * 60, shortest_access)
    if shortest_refresh is not None:
        refresh_seconds = min(refresh_seconds or settings.refresh_token_minutes * 60, shortest_refresh)
    return access_seconds, refresh_seconds


def shortest_lifetimes_of(context: Context, uid: str) -> tuple[int | None, int | None]:
    """Return the lifetimes as `shortest_lifetimes` does where only the account's id is known; one statement more in a tenant with
    organizations."""
    is_on = context.tenant.settings.organizations.enabled
    return shortest_lifetimes(context, account_store.by_uid(context, uid) if is_on else None)


def _least(values: Iterable[int | None]) -> int | None:
    """Return the least number that is set and not 0."""
    return min((value for value in values if value), default=None)
