"""Queries of the roles that accounts have in organizations, always within the tenant."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, bindparam, delete, func, insert, select, update
from sqlalchemy.engine import Row
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql import Select

from app.contract import errors
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import ProfileOrganizations, name_in
from app.identity.directory.organizations import active_policies, organization_names, organization_store
from app.identity.directory.organizations.organization import (
    MANAGE,
    OWN,
    AccountRoleRecord,
    MemberRecord,
    MemberRole,
    Membership,
    Owners,
)
from app.identity.directory.organizations.tables import (
    organization_permissions,
    organization_role_permissions,
    organization_roles,
    organization_user_roles,
    organizations,
)
from app.identity.platform.context import Context
from app.identity.platform.store.compiled_statements import Compiled

M, O, R = organization_user_roles.c, organizations.c, organization_roles.c  # noqa: E741 - short names, as in all stores
H, P = organization_role_permissions.c, organization_permissions.c
_COLUMNS = (M.user_role_id, M.uid, M.org_id, M.role_id)
_JOINED = Compiled(
    select(*organization_store.COLUMNS).where(
        O.tenant_id == bindparam("tenant"),
        O.org_id.in_(select(M.org_id).where(M.tenant_id == bindparam("tenant"), M.uid == bindparam("account"))),
    )
)
"""Unsorted: to return the oldest first, SQLite would read all organizations of the tenant."""


def memberships(
    context: Context, uid: str, org_id: str | None = None, *, name_key: str | None = None
) -> list[Membership]:
    """Return the memberships of an account with roles and permissions, the oldest organization first, in one statement.

    `org_id` or `name_key` selects one organization.
    """
    joined = (
        organization_user_roles.join(organizations, (O.tenant_id == M.tenant_id) & (O.org_id == M.org_id))
        .join(organization_roles, (R.tenant_id == M.tenant_id) & (R.role_id == M.role_id))
        .outerjoin(organization_role_permissions, (H.tenant_id == M.tenant_id) & (H.role_id == M.role_id))
        .outerjoin(organization_permissions, (P.tenant_id == H.tenant_id) & (P.permission_id == H.permission_id))
    )
    columns = (*organization_store.COLUMNS, R.role_id, R.name.label("role_name"), P.name.label("permission_name"))
    where = [*_of(context, M.uid == uid), *([M.org_id == org_id] if org_id is not None else [])]
    where += [O.name_key == name_key] if name_key is not None else []
    ordered = select(*columns).select_from(joined).where(*where).order_by(O.created_at, O.org_id, R.name_key, R.role_id)
    by_organization: dict[str, tuple[Any, dict[str, MemberRole], set[str]]] = {}
    for row in context.work.all(ordered):
        _, stored, permissions = by_organization.setdefault(row.org_id, (row, {}, set()))
        stored[row.role_id] = MemberRole(row.role_id, row.role_name)
        permissions |= {row.permission_name} - {None}
    return [
        Membership(organization_store.organization(row), tuple(item.values()), frozenset(permissions))
        for row, item, permissions in by_organization.values()
    ]


def count_people(context: Context, org_ids: Collection[str]) -> dict[str, int]:
    """Return the number of members of each organization."""
    counted = select(M.org_id, func.count(M.uid.distinct()).label("people"))
    where = _of(context, M.org_id.in_(org_ids))
    return {row.org_id: int(row.people) for row in context.work.all(counted.where(*where).group_by(M.org_id))}


def joined_at(context: Context, uid: str, org_ids: Collection[str]) -> dict[str, datetime]:
    """Return when an account got its first role in each of these organizations."""
    first = select(M.org_id, func.min(M.created_at).label("first")).group_by(M.org_id)
    rows = context.work.all(first.where(*_of(context, M.uid == uid, M.org_id.in_(org_ids))))
    return {row.org_id: row.first for row in rows}


def owners(context: Context, org_ids: Collection[str]) -> dict[str, Owners]:
    """Return the owners of each organization, in one statement."""
    joined = organization_user_roles.join(
        organization_role_permissions, (H.tenant_id == M.tenant_id) & (H.role_id == M.role_id)
    ).join(organization_permissions, (P.tenant_id == H.tenant_id) & (P.permission_id == H.permission_id))
    where = _of(context, M.org_id.in_(org_ids), P.name == OWN)
    owning = select(M.org_id, M.uid).select_from(joined).where(*where).distinct()
    rows = context.work.all(account_store.with_ability(owning, context.tenant.tenant_id, M.uid))
    return {
        org_id: Owners(
            frozenset(row.uid for row in rows if row.org_id == org_id),
            frozenset(row.uid for row in rows if row.org_id == org_id and row.can_sign_in),
        )
        for org_id in org_ids
    }


def managers(context: Context, org_id: str, limit: int) -> list[str]:
    """Return the accounts that manage an organization, the oldest members first."""
    joined = organization_user_roles.join(
        organization_role_permissions, (H.tenant_id == M.tenant_id) & (H.role_id == M.role_id)
    ).join(organization_permissions, (P.tenant_id == H.tenant_id) & (P.permission_id == H.permission_id))
    first = func.min(M.created_at)
    grouped = (
        select(M.uid, first).select_from(joined).where(*_of(context, M.org_id == org_id, P.name.in_((MANAGE, OWN))))
    )
    return [row.uid for row in context.work.all(grouped.group_by(M.uid).order_by(first, M.uid).limit(limit))]


def people(context: Context, org_id: str, search: str, limit: int, offset: int) -> list[MemberRecord]:
    """Return the members of an organization, the oldest first; `search` is a part of the name, email, username or phone."""
    listed = account_store.with_names(_found(context, org_id, search))
    rows = context.work.all(listed.order_by("since", "uid").limit(limit).offset(offset))
    roles = roles_of(context, org_id, [row.uid for row in rows])
    return [
        MemberRecord(
            row.uid,
            name_in({**row._mapping}) or "",
            row.email or row.username or row.phone or row.uid,
            row.since,
            tuple(roles.get(row.uid, ())),
        )
        for row in rows
    ]


def count_found(context: Context, org_id: str, search: str) -> int:
    """Return how many members `people` finds."""
    row = context.work.one(select(func.count()).select_from(_found(context, org_id, search).subquery()))
    return int(row[0]) if row else 0


def _found(context: Context, org_id: str, search: str) -> Select[Any]:
    grouped = select(M.uid, func.min(M.created_at).label("since"))
    of_one = grouped.where(*_of(context, M.org_id == org_id)).group_by(M.uid).subquery()
    listed = select(of_one.c.uid, of_one.c.since)
    return account_store.with_identifiers(listed, context.tenant.tenant_id, of_one.c.uid, search)


def roles_of(context: Context, org_id: str, uids: Collection[str]) -> dict[str, list[MemberRole]]:
    """Return the roles of these members by account, each list by name."""
    joined = organization_user_roles.join(organization_roles, (R.tenant_id == M.tenant_id) & (R.role_id == M.role_id))
    where = _of(context, M.org_id == org_id, M.uid.in_(uids))
    found: dict[str, list[MemberRole]] = {}
    ordered = select(M.uid, R.role_id, R.name).select_from(joined).where(*where).order_by(R.name_key, R.role_id)
    for row in context.work.all(ordered):
        found.setdefault(row.uid, []).append(MemberRole(row.role_id, row.name))
    return found


def with_accounts(context: Context) -> Sequence[Row[Any]]:
    """Return every role in an organization with email, username and phone of its account, the oldest first."""
    stored = account_store.with_identifiers(select(*_COLUMNS).where(*_of(context)), context.tenant.tenant_id, M.uid, "")
    return context.work.all(stored.order_by(M.created_at, M.user_role_id))


def profile_entries(context: Context, uid: str) -> ProfileOrganizations:
    """Return the account's organizations for its profile, the oldest first."""
    rows = context.work.all(_JOINED, {"tenant": context.tenant.tenant_id, "account": uid})
    found = sorted(map(organization_store.organization, rows), key=attrgetter("created_at", "org_id"))
    entries = [{"Id": row.org_id, "Name": row.display_name, "LogoURL": row.logo_url} for row in found]
    days = [row.policy.password_policy.expiry_days for row in found if row.is_active]
    return ProfileOrganizations(entries, min((number for number in days if number), default=None))


def of_account(
    context: Context, uid: str, org_id: str | None = None, window: tuple[int | None, int] = (None, 0)
) -> list[AccountRoleRecord]:
    """Return the roles of an account, in one organization or in all, the oldest first."""
    where = [M.uid == uid, *([M.org_id == org_id] if org_id is not None else [])]
    return _page(context, select(*_COLUMNS).where(*_of(context, *where)), window)


def granted_by(
    context: Context, org_id: str, connection_id: str, role_ids: Collection[str] | None = None
) -> set[tuple[str, str]]:
    """Return account and role of each grant of a connection, or those of these roles."""
    where = [M.org_id == org_id, M.connection_id == connection_id]
    where += [M.role_id.in_(role_ids)] if role_ids is not None else []
    return {(row.uid, row.role_id) for row in context.work.all(select(M.uid, M.role_id).where(*_of(context, *where)))}


def take_over(context: Context, uid: str, org_id: str, role_ids: Collection[str]) -> set[str]:
    """Record that people give the account these roles, which a connection granted and can no longer take. Return their ids."""
    where = _of(context, M.uid == uid, M.org_id == org_id, M.role_id.in_(role_ids), M.connection_id.is_not(None))
    taken = update(organization_user_roles).where(*where).values(connection_id=None).returning(M.role_id)
    active_policies.invalidate(context)
    return {row.role_id for row in context.work.all(taken)}


def of_organization(
    context: Context,
    org_id: str,
    window: tuple[int | None, int],
    *,
    role_id: str | None = None,
    email: str | None = None,
) -> list[AccountRoleRecord]:
    """Return the roles of the members of an organization, the oldest first; `email` is a part of the primary address."""
    where = [M.org_id == org_id, *([M.role_id == role_id] if role_id else [])]
    return _page(context, select(*_COLUMNS).where(*_of(context, *where)), window, email)


def members_among(context: Context, org_id: str, uids: Collection[str]) -> set[str]:
    """Return those of the accounts that are members of an organization."""
    where = _of(context, M.org_id == org_id, M.uid.in_(uids))
    return {row.uid for row in context.work.all(select(M.uid).where(*where).distinct())} if uids else set()


def member_uids(context: Context, org_id: str, role_id: str | None = None) -> Select[Any]:
    """Return the query for the id of each member of an organization, or of each with a role."""
    where = [M.org_id == org_id, *([M.role_id == role_id] if role_id is not None else [])]
    return select(M.uid).where(*_of(context, *where)).distinct()


def count(context: Context, org_id: str) -> int:
    """Return the number of members of an organization."""
    row = context.work.one(select(func.count(M.uid.distinct())).where(*_of(context, M.org_id == org_id)))
    return int(row[0]) if row else 0


def add(
    context: Context, uid: str, org_id: str, role_ids: Collection[str], *, connection_id: str | None = None
) -> None:
    """Give an account roles. Raises UserRoleExists if it has one of them."""
    key = {"tenant_id": context.tenant.tenant_id, "uid": uid, "org_id": org_id, "connection_id": connection_id}
    rows = [
        {
            **key,
            "user_role_id": organization_names.mint(organization_names.USER_ROLE),
            "role_id": role_id,
            "created_at": context.now,
        }
        for role_id in role_ids
    ]
    try:
        context.work.run(insert(organization_user_roles), rows)
        active_policies.invalidate(context)
    except IntegrityError:
        raise errors.UserRoleExists from None


def remove(context: Context, uid: str, org_id: str | None = None, role_ids: Collection[str] | None = None) -> int:
    """Take roles from an account: all, those in an organization, or these of them. Return how many it had."""
    where = [M.uid == uid]
    where += [M.org_id == org_id] if org_id is not None else []
    where += [M.role_id.in_(role_ids)] if role_ids is not None else []
    active_policies.invalidate(context)
    return context.work.changed(delete(organization_user_roles).where(*_of(context, *where)))


def remove_of_all(context: Context, uids: Collection[str], org_id: str, role_ids: Collection[str]) -> None:
    """Take these roles in an organization from several accounts."""
    active_policies.invalidate(context)
    where = _of(context, M.org_id == org_id, M.uid.in_(uids), M.role_id.in_(role_ids))
    context.work.run(delete(organization_user_roles).where(*where))


def _page(
    context: Context, chosen: Select[Any], window: tuple[int | None, int], email: str | None = None
) -> list[AccountRoleRecord]:
    limit, offset = window
    with_email = account_store.with_primary_email(chosen.add_columns(M.created_at), M.tenant_id, M.uid, email)
    ordered = with_email.order_by(M.created_at, M.user_role_id).limit(limit).offset(offset)
    rows = context.work.all(ordered)
    return [
        AccountRoleRecord(row.user_role_id, row.uid, row.org_id, row.role_id, row.email, row.created_at) for row in rows
    ]


def _of(context: Context, *where: ColumnElement[bool]) -> tuple[ColumnElement[bool], ...]:
    return (M.tenant_id == context.tenant.tenant_id, *where)
