"""Statements that are built where they run give what a connection of SQLAlchemy gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Executable, Row, and_, case, delete, func, insert, literal, or_, select, text, union_all, update
from sqlalchemy.exc import IntegrityError

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.continuation_tokens import token_table
from app.identity.platform.store.compiled_statements import insert_row
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.database.continuation_rows import AT, row

T = token_table.c
OWN = T.tenant_id == "acme"
both = pytest.mark.parametrize("own_database", ["sqlite", "postgres"], indirect=True)


@pytest.fixture
def work(own_database: Database) -> UnitOfWork:
    made = UnitOfWork(own_database, "acme")
    made.run(insert_row(token_table), [row(), row("two", uid="", state="used"), row("three", uid="grace", facts={})])
    return made


def by_sqlalchemy(work: UnitOfWork, statement: Executable) -> Sequence[Row[Any]]:
    return work._begin().connection.execute(statement).all()


SELECTS: dict[str, Executable] = {
    "every column": select(token_table).where(OWN, T.token_hash == "one"),
    "no row": select(token_table).where(OWN, T.token_hash == "none"),
    "no value": select(T.token_hash, accounts.c.email).outerjoin(accounts, accounts.c.email.is_(None)).where(OWN, T.uid == ""),
    "an instant": select(T.created_at).where(OWN, T.created_at >= AT).order_by(T.token_hash),
    "a member of JSON": select(T.facts["é"][0].as_integer().label("first")).where(OWN, T.token_hash == "one"),
    "a page": select(T.token_hash).where(OWN).order_by(T.token_hash).limit(1).offset(1),
    "the first ones": select(T.token_hash).where(OWN).order_by(T.token_hash).limit(2),
    "a number": select(func.count()).select_from(token_table).where(OWN),
    "a constant beside": select(literal("x").label("mark"), T.token_hash).where(OWN).order_by(T.token_hash),
    "cases": select(case((T.state == "open", 1), else_=0).label("is_open")).where(OWN).order_by(T.token_hash),
    "either": select(T.token_hash).where(or_(and_(OWN, T.uid == "grace"), T.state == "used")).order_by(T.token_hash),
    "a list": select(T.token_hash).where(OWN, T.token_hash.in_(["one", "three"])).order_by(T.token_hash),
    "an inner one": select(T.token_hash).where(OWN, T.uid == select(T.uid).where(T.token_hash == "one").scalar_subquery()),
    "two together": union_all(select(T.token_hash).where(T.uid == "ada"), select(T.state).where(T.uid == "grace")),
    "columns of one name": select(token_table, accounts).outerjoin(accounts, accounts.c.uid == T.uid).where(T.token_hash == "one"),
    "text": text("SELECT 1 AS one"),
}  # fmt: skip


@both
def test_rows_equal_those_of_sqlalchemy(work: UnitOfWork, subtests: pytest.Subtests) -> None:
    for name, statement in SELECTS.items():
        theirs = by_sqlalchemy(work, statement)
        for time in ("compiled", "cached"):
            with subtests.test(f"{name}, {time}"):
                own = work.all(statement)
                assert [tuple(item) for item in own] == [tuple(item) for item in theirs]
                assert [list(item._mapping) for item in own] == [list(item._mapping) for item in theirs]


@both
def test_statements_of_one_form_bring_their_own_values(work: UnitOfWork) -> None:
    for name, uid in (("one", "ada"), ("three", "grace"), ("four", None), ("two", "")):
        found = work.one(select(T.token_hash, T.uid).where(OWN, T.token_hash == name))
        assert found == (None if name == "four" else (name, uid))
        work.run(
            update(token_table).where(OWN, T.token_hash == name).values(state=f"state of {name}", facts={"of": name})
        )
    states: list[Any] = list(work.all(select(T.token_hash, T.state, T.facts).where(OWN).order_by(T.token_hash)))
    assert states == [(name, f"state of {name}", {"of": name}) for name in ("one", "three", "two")]


@both
def test_changes_count_and_return_their_rows(work: UnitOfWork) -> None:
    made = work.run(insert(token_table).values(row("four", uid="eve")).returning(T.uid, T.created_at)).one()
    assert made == ("eve", AT)
    assert work.changed(update(token_table).where(OWN, T.uid == "ada").values(expires_at=T.created_at, uid="bo")) == 1
    assert work.changed(update(token_table).where(OWN, T.uid == "ada").values(uid="bo")) == 0
    assert work.changed(delete(token_table).where(OWN, T.uid.in_(["bo", "eve"]))) == 2
    assert work.changed(delete(token_table).where(OWN)) == 2


@both
def test_second_row_of_a_key_is_an_integrity_error(work: UnitOfWork) -> None:
    with pytest.raises(IntegrityError):
        work.run(insert(token_table).values(row()))
    work.rollback()


@both
def test_locking_read_begins_the_transaction(work: UnitOfWork) -> None:
    work.commit()
    work.one(select(T.uid).where(OWN, T.token_hash == "one").with_for_update())
    assert work._is_begun is not work._database.is_sqlite


def test_default_that_python_computes_is_filled_in(work: UnitOfWork) -> None:
    key = {"tenant_id": "acme", "uid": "u", "profile_id": "p", "created_at": AT, "modified_at": AT}
    work.run(insert(accounts).values(**key, emails=[], profile={}, private={}))
    assert work.one(select(accounts.c.email_verified, accounts.c.is_active)) == (False, True)
