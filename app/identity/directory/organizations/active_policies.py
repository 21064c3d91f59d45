"""The policies of an account's active organizations, read once in a request."""

from __future__ import annotations

from operator import attrgetter
from typing import NamedTuple

from sqlalchemy import String, bindparam, cast, select

from app.contract.organizations_models import Policies
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations.tables import organization_user_roles, organizations
from app.identity.platform.context import Context
from app.identity.platform.store.compiled import Compiled

O, M = organizations.c, organization_user_roles.c  # noqa: E741 - short names of columns, as in all stores
_KEY = "active_policies"
_OF_ACCOUNT = Compiled(
    select(O.org_id, O.name, O.name_key, O.display, O.policies).where(
        O.tenant_id == bindparam("tenant"),
        O.is_active,
        O.org_id.in_(select(M.org_id).where(M.tenant_id == bindparam("tenant"), M.uid == bindparam("account"))),
        cast(O.policies, String) != "{}",
    )
)
"""Unsorted: to return them by name, SQLite would read all organizations of the tenant."""


class ActivePolicy(NamedTuple):
    """The policies of an organization, with its id and display name."""

    org_id: str
    name: str
    policies: Policies


def of_account(context: Context, account: Account) -> tuple[ActivePolicy, ...]:
    """Return the policies of the account's active organizations by their names, without those that set nothing.

    One statement in a request for an account that joined an organization, and none for any other.
    """
    if not account.has_organizations or not context.tenant.settings.organizations.enabled:
        return ()
    read: dict[tuple[str, str], tuple[ActivePolicy, ...]] = context.remembered.setdefault(_KEY, {})
    key = (context.tenant.tenant_id, account.uid)
    if key not in read:
        read[key] = _read(context, account.uid)
    return read[key]


def forget(context: Context) -> None:
    """Read them again in this request: a membership, a policy or an organization changed."""
    context.remembered.pop(_KEY, None)


def _read(context: Context, uid: str) -> tuple[ActivePolicy, ...]:
    rows = context.work.all(_OF_ACCOUNT, {"tenant": context.tenant.tenant_id, "account": uid})
    return tuple(
        ActivePolicy(row.org_id, str(row.display.get("Name") or row.name), Policies.model_validate(row.policies))
        for row in sorted(rows, key=attrgetter("name_key"))
    )
