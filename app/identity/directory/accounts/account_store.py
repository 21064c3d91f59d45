"""Queries of accounts and their identifiers, always within the tenant."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import timedelta
from functools import cache, partial
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import BindParameter, ColumnElement, and_, bindparam, delete, func, or_, select, update
from sqlalchemy.engine import Row
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql import Select

from app.identity.directory.accounts import account_search_rows, assigned_roles
from app.identity.directory.accounts.account import (
    IDENTITIES,
    TENANT_LIMIT,
    Account,
    ProfileOrganizations,
    no_organizations,
)
from app.identity.directory.accounts.email_list import EmailList
from app.identity.directory.accounts.identifiers import (
    EMAIL,
    FORMER_DOMAIN,
    IDENTITY,
    PREVIOUS_UID,
    PROFILE,
    identity_value,
)
from app.identity.directory.accounts.tables import accounts, identifiers
from app.identity.platform.context import Context
from app.identity.platform.extension_points import ExtensionPoint
from app.identity.platform.store import upserts
from app.identity.platform.store.compiled_statements import (
    TENANT,
    Compiled,
    change_row,
    changes,
    insert_row,
    row_class,
)
from app.identity.platform.store.unit_of_work import UnitOfWork

A, I = accounts.c, identifiers.c  # noqa: E741 - short names of columns, as in all stores
_OWN_COLUMNS = tuple(column for column in accounts.columns if column.name not in ("tenant_id", "roles"))
_ROLES = assigned_roles.outside_contexts(TENANT, A.uid)
_COLUMNS = (*_OWN_COLUMNS, _ROLES)
_FIELDS = tuple(column.name for column in _COLUMNS)
_JOINED = tuple(f"account_{name}" for name in _FIELDS)
_BY_UID = Compiled(select(*_COLUMNS).where(A.tenant_id == TENANT, A.uid == bindparam("account")))
_ADD = insert_row(accounts, *_OWN_COLUMNS, assigned_roles.OF_NEW_ACCOUNT)
_LOCK = Compiled(
    select(A.uid).where(A.tenant_id == bindparam("tenant"), A.uid == bindparam("account")).with_for_update()
)
_HAS_IDENTIFIER = identifiers.join(accounts, (A.tenant_id == I.tenant_id) & (A.uid == I.uid))
_BY_IDENTIFIER = Compiled(
    select(*_COLUMNS)
    .select_from(_HAS_IDENTIFIER)
    .where(I.tenant_id == TENANT, I.kind == bindparam("held_as"), I.value == bindparam("held"))
)

FROM_FILE = "from_file"
"""The key in `private` that marks accounts from a configuration file, so that a file removes only accounts it created."""
_JoinedRow = row_class(_FIELDS)
_joined_columns = attrgetter(*_JOINED)
_FILE_COLUMNS = (
    A.uid, A.email, A.username, A.phone, A.email_verified, A.phone_verified, A.is_active, A.profile, _ROLES
)  # fmt: skip


class IdentifierTaken(Exception):
    """Another account has the identifier or the uid."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"{kind} is taken")
        self.kind = kind


def by_uid(context: Context, uid: str) -> Account | None:
    """Return the account with this id."""
    return _found(context, context.work.one(_BY_UID, {"tenant": context.tenant.tenant_id, "account": uid}))


def with_account(statement: Select[Any], uid: Any) -> Select[Any]:
    """Return a statement of another area that also reads the account of its row, if there is one; see `account_in`."""
    return statement.add_columns(*_joined()).outerjoin(accounts, (A.tenant_id == TENANT) & (A.uid == uid))


def of_identifier(statement: Select[Any]) -> Select[Any]:
    """Return a statement that also reads `identifiers` with the account of each; see `account_in`."""
    return statement.add_columns(*_joined()).select_from(_HAS_IDENTIFIER)


def _joined() -> Iterator[ColumnElement[Any]]:
    columns = (*_OWN_COLUMNS, assigned_roles.outside_contexts(TENANT, A.uid))
    return (column.label(name) for column, name in zip(columns, _JOINED, strict=True))


def account_in(context: Context, row: Row[Any]) -> Account | None:
    """Return the account in a row of `with_account`."""
    return _account(context, _JoinedRow._make(_joined_columns(row))) if row.account_uid is not None else None


def by_identifier(context: Context, kind: str, value: str) -> Account | None:
    """Return the account with this normalized identifier."""
    parameters = {"tenant": context.tenant.tenant_id, "held_as": kind, "held": value}
    return _found(context, context.work.one(_BY_IDENTIFIER, parameters))


def uid_of(work: UnitOfWork, kind: str, value: str) -> str | None:
    """Return the id of the account with this normalized identifier, for a command, which has no context."""
    row = work.one(select(I.uid).where(I.tenant_id == work.tenant_id, I.kind == kind, I.value == value))
    return str(row.uid) if row else None


def has_beginning(work: UnitOfWork, kind: str, beginning: str) -> bool:
    """Return whether a normalized identifier of this kind begins so."""
    where = (I.tenant_id == work.tenant_id, I.kind == kind, I.value.startswith(beginning, autoescape=True))
    return work.one(select(I.uid).where(*where).limit(1)) is not None


def uids_with_beginning(work: UnitOfWork, kind: str, beginning: str) -> set[str]:
    """Return the ids of the accounts that have a normalized identifier of this kind with this beginning."""
    where = (I.tenant_id == work.tenant_id, I.kind == kind, I.value.startswith(beginning, autoescape=True))
    return {row.uid for row in work.all(select(I.uid).where(*where))}


def by_identifiers(context: Context, kind: str, values: Collection[str]) -> dict[str, Account]:
    """Return the accounts with these normalized identifiers by identifier, in two statements for any number."""
    where = (I.tenant_id == context.tenant.tenant_id, I.kind == kind, I.value.in_(values))
    uids = {row.value: row.uid for row in context.work.all(select(I.value, I.uid).where(*where))} if values else {}
    found = {item.uid: item for item in by_uids(context, uids.values())} if uids else {}
    return {value: found[uid] for value, uid in uids.items() if uid in found}


def by_uids(context: Context, uids: Iterable[str]) -> list[Account]:
    """Return the accounts with these ids, in any order."""
    rows = context.work.all(
        select(*_COLUMNS).where(A.tenant_id == TENANT, A.uid.in_(sorted(uids))), {"tenant": context.tenant.tenant_id}
    )
    return [_account(context, row) for row in rows]


def add(context: Context, row: dict[str, Any], new: Iterable[tuple[str, str, bool]]) -> Account:
    """Insert an account with identifiers `(kind, value, is_verified)` and identities. Raises IdentifierTaken."""
    values = {**row, "tenant_id": context.tenant.tenant_id}
    try:
        added = context.work.run(_ADD, values).one()
    except IntegrityError:
        raise IdentifierTaken("uid") from None
    context.work.locked[row["uid"]] = True
    linked = [identity_value(item["provider"], item["subject"]) for item in row["private"].get(IDENTITIES) or ()]
    add_identifiers(
        context,
        row["uid"],
        [*new, (PROFILE, row["profile_id"], True), *((IDENTITY, value, True) for value in linked)],
    )
    account = _account(context, added)
    account_search_rows.write(context.work, account, is_sqlite=context.services.database.is_sqlite)
    return account


def add_identifiers(context: Context, uid: str, new: Iterable[tuple[str, str, bool]]) -> None:
    """Add identifiers to an account; raises IdentifierTaken.

    They are inserted in sorted order, so that concurrent transactions with the same identifiers cannot deadlock. After the
    refusal some may be inserted: the transaction must be rolled back.
    """
    rows = sorted(set(new))
    added = _insert_identifiers(context, uid, rows)
    for kind, value, _ in rows:
        if (kind, value) not in added:
            raise IdentifierTaken(kind)


def _insert_identifiers(context: Context, uid: str, rows: Sequence[tuple[str, str, bool]]) -> set[tuple[str, str]]:
    """Insert identifiers, except those that are taken. Return kind and value of the new ones."""
    if not rows:
        return set()
    parameters: dict[str, Any] = {"tenant": context.tenant.tenant_id, "owner": uid}
    for at, (kind, value, is_verified) in enumerate(rows):
        parameters |= {f"kind_{at}": kind, f"value_{at}": value, f"is_verified_{at}": is_verified}
    statement = _added_identifiers(len(rows), is_sqlite=context.services.database.is_sqlite)
    return {(row.kind, row.value) for row in context.work.run(statement, parameters)}


@cache
def _added_identifiers(count: int, *, is_sqlite: bool) -> Compiled:
    """Build the insert of so many identifiers, which leaves out and does not return those that are taken."""
    each: list[dict[str, Any]] = [
        {name: bindparam(f"{name}_{at}") for name in ("kind", "value", "is_verified")} for at in range(count)
    ]
    common: dict[str, Any] = {"tenant_id": bindparam("tenant"), "uid": bindparam("owner")}
    inserted = upserts.insert(identifiers, is_sqlite=is_sqlite).values([{**common, **item} for item in each])
    return Compiled(inserted.on_conflict_do_nothing().returning(I.kind, I.value))


def remove_identifiers(context: Context, uid: str, kind: str, value: str | None = None) -> None:
    """Remove all identifiers of a kind from an account, or one normalized `value`."""
    where = [I.tenant_id == context.tenant.tenant_id, I.uid == uid, I.kind == kind]
    context.work.run(delete(identifiers).where(*where, *([I.value == value] if value is not None else [])))


def set_verified(context: Context, uid: str, kind: str, value: str | None, is_verified: bool) -> None:
    """Set whether an identifier of an account is verified."""
    if value is not None:
        where = (I.tenant_id == context.tenant.tenant_id, I.uid == uid, I.kind == kind, I.value == value)
        context.work.run(update(identifiers).where(*where).values(is_verified=is_verified))


def change_email_identifiers(context: Context, uid: str, before: EmailList, after: EmailList) -> None:
    """Write the identifiers of an account whose addresses change.

    Raises IdentifierTaken. For a single new address nothing is written then, and the transaction can go on.
    """
    stored = {normalized: is_verified for _, normalized, is_verified in before.identifiers()}
    requested = {normalized: is_verified for _, normalized, is_verified in after.identifiers()}
    add_identifiers(context, uid, [item for item in after.identifiers() if item[1] not in stored])
    for normalized in sorted(stored.keys() - requested.keys()):
        remove_identifiers(context, uid, EMAIL, normalized)
    for normalized in sorted(stored.keys() & requested.keys()):
        if stored[normalized] != requested[normalized]:
            set_verified(context, uid, EMAIL, normalized, requested[normalized])
    lost = before.verified_domains - after.verified_domains
    if lost and context.tenant.settings.organizations.enabled:
        _insert_identifiers(context, uid, sorted((FORMER_DOMAIN, f"{uid} {domain}", True) for domain in lost))


def former_domains(context: Context, uid: str) -> set[str]:
    """Return the domains of verified addresses that the account had, in a tenant with organizations.

    The clean-up deletes those that no organization claims, so that an account cannot collect any number.
    """
    where = (I.tenant_id == context.tenant.tenant_id, I.uid == uid, I.kind == FORMER_DOMAIN)
    return {str(row.value).rpartition(" ")[2] for row in context.work.all(select(I.value).where(*where))}


def current_uid(context: Context, former: str) -> str | None:
    """Return the id of the account that had this id before; None if none had."""
    where = (I.tenant_id == context.tenant.tenant_id, I.kind == PREVIOUS_UID, I.value == former)
    found = context.work.one(select(I.uid).where(*where))
    return found.uid if found is not None else None


_CLAIMED = frozenset({"profile", "email", "email_verified", "username", "phone", "phone_verified"})


@cache
def _change(columns: frozenset[str], *, is_sqlite: bool) -> Compiled:
    """Build the update that returns the account with its roles. On Citus, RETURNING has no subqueries."""
    tenant: BindParameter[str] = bindparam("key_tenant_id")
    if is_sqlite:
        returned = (*_OWN_COLUMNS, assigned_roles.outside_contexts(tenant, A.uid))
        return change_row(accounts, ("tenant_id", "uid"), columns, returned)
    changed = change_row(accounts, ("tenant_id", "uid"), columns, _OWN_COLUMNS).statement.cte("changed")
    roles = assigned_roles.outside_contexts(tenant, changed.c.uid)
    return Compiled(select(*changed.c, roles), changes=accounts)


def change(context: Context, uid: str, values: dict[str, Any]) -> Account | None:
    """Update columns and return the changed account; the row stays locked until the commit.

    A value that applications read changes the profile, unless `values` states when it did.
    """
    key = {"tenant_id": context.tenant.tenant_id, "uid": uid}
    instants = {"modified_at": context.now} | (
        {} if _CLAIMED.isdisjoint(values) else {"profile_modified_at": context.now}
    )
    written, is_sqlite = {**instants, **values}, context.services.database.is_sqlite
    found = _found(context, context.work.one(_change(frozenset(written), is_sqlite=is_sqlite), changes(key, written)))
    context.work.locked[uid] = found is not None
    if found is not None and "profile_modified_at" in written:
        account_search_rows.write(context.work, found, is_sqlite=is_sqlite)
    return found


def lock(context: Context, uid: str) -> Account | None:
    """Lock the row until the transaction ends and return the account as it is now; None if it is gone.

    Who locks an account is about to change it or what belongs to it: its `modified_at` becomes now.
    """
    return change(context, uid, {})


def lock_unread(context: Context, uid: str) -> bool:
    """Lock an account as `lock` does, but read and write nothing of it. Return whether it exists."""
    locked = context.work.locked
    if uid not in locked:
        context.work.begin()
        parameters = {"tenant": context.tenant.tenant_id, "account": uid}
        locked[uid] = context.work.one(_LOCK, parameters) is not None
    return locked[uid]


def lock_before_own_rows(context: Context, uid: str) -> None:
    """Lock an account before rows of its own are written, which is everybody's order; SQLite's only writer has locked all."""
    context.work.begin()
    if not context.services.database.is_sqlite:
        lock_unread(context, uid)


def remove(context: Context, uid: str) -> bool:
    """Delete an account and its identifiers. Return whether it existed."""
    context.work.locked[uid] = False
    context.work.run(delete(identifiers).where(I.tenant_id == context.tenant.tenant_id, I.uid == uid))
    account_search_rows.remove(context.work, uid)
    return context.work.changed(delete(accounts).where(A.tenant_id == context.tenant.tenant_id, A.uid == uid)) > 0


def accounts_from_file(work: UnitOfWork) -> Sequence[Any]:
    """Return accounts created by a configuration file, oldest first; reads every account of the tenant."""
    where = (A.tenant_id == TENANT, A.private[FROM_FILE].as_boolean())
    ordered = select(*_FILE_COLUMNS).where(*where).order_by(A.created_at, A.uid)
    return work.all(ordered, {"tenant": work.tenant_id})


def with_primary_email(statement: Select[Any], tenant_id: Any, uid: Any, search: str | None = None) -> Select[Any]:
    """Return a statement of another area with the primary address of the account in its row as the column `email`.

    Rows without an account are dropped. `search` keeps the accounts whose address contains the text, in any letter case.
    """
    joined = statement.add_columns(A.email).join(accounts, (A.tenant_id == tenant_id) & (A.uid == uid))
    return joined.where(A.email.icontains(search, autoescape=True)) if search else joined


_NAMES: Final = tuple(A.profile[name].as_string().label(name) for name in ("FirstName", "LastName"))


def with_identifiers(statement: Select[Any], tenant_id: str, uid: Any, search: str) -> Select[Any]:
    """Return a statement of another area with the columns `email`, `username` and `phone` of the account in its row.

    Rows without an account are dropped. `search` keeps the accounts where one of them or the name contains the text, in any letter case.
    """
    joined = statement.add_columns(A.email, A.username, A.phone)
    joined = joined.join(accounts, (A.tenant_id == tenant_id) & (A.uid == uid))
    if not search:
        return joined
    first, last = (func.coalesce(column, "") for column in _NAMES)
    searched = (A.email, A.username, A.phone, first + " " + last)
    return joined.where(or_(*(column.icontains(search, autoescape=True) for column in searched)))


def with_names(statement: Select[Any]) -> Select[Any]:
    """Return a statement of `with_identifiers` with the columns `FirstName` and `LastName`, as far as known."""
    return statement.add_columns(*_NAMES)


def with_ability(statement: Select[Any], tenant_id: Any, uid: Any) -> Select[Any]:
    """Return a statement of another area with the column `can_sign_in`: neither blocked, nor disabled, nor being deleted.

    Rows without an account are dropped.
    """
    can_sign_in = and_(A.is_active, ~A.login_disabled, ~A.is_deleted).label("can_sign_in")
    return statement.add_columns(can_sign_in).join(accounts, (A.tenant_id == tenant_id) & (A.uid == uid))


def mark_member(context: Context, uid: str) -> Account | None:
    """Record that the account joins an organization, and lock it until the commit; return it, or None if it is gone."""
    return change(context, uid, {"has_organizations": True})


organizations_of_profile: Final = ExtensionPoint[Callable[[Context, str], ProfileOrganizations]]()
"""Reads the organizations of an account for its profile."""


def _found(context: Context, row: Row[Any] | None) -> Account | None:
    return _account(context, row) if row is not None else None


def _organizations(context: Context, uid: str) -> ProfileOrganizations:
    return next((read(context, uid) for read in organizations_of_profile), no_organizations())


def _account(context: Context, row: Row[Any]) -> Account:
    days = context.tenant.settings.password_policy.expiry_days
    expires = row.password_changed_at + timedelta(days=days) if days and row.password_changed_at else None
    is_own_limit = row.session_limit != TENANT_LIMIT  # the account's wins
    allowed = max(row.session_limit, 0) if is_own_limit else context.tenant.settings.session_limit
    organizations = no_organizations
    if row.has_organizations and context.tenant.settings.organizations.enabled:
        organizations = partial(_organizations, context, row.uid)
    return Account(
        **row._mapping,
        read_at=context.now,
        password_expires_at=expires,
        sessions_allowed=allowed,
        organizations=organizations,
    )
