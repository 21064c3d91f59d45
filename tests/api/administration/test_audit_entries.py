"""Audit entries: the request reference, attempts on locked accounts, and retention."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from werkzeug.test import Client

from app.identity.assembly.clean_up import audit_retention, expired_rows
from app.identity.platform.audit import AuditLog, audit, latest
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from app.kit.observability.instrumentation import Instrumented
from app.kit.observability.logs import bound
from tests.support.accounts.customers import OLD
from tests.support.operation_cases.cases import AccountHolder, account_holder
from tests.support.tenants.tenant_server import NewTenantServer, refused

WRONG, LOCKED = "not the password", {"maximum_failed_attempts": 3, "suspend_seconds": 600}


def entries_of(who: AccountHolder) -> list[Any]:
    services: IdentityServices = who.tenant.services
    work = UnitOfWork(services.database, who.tenant.tenant_id)
    try:
        found = select(audit).where(audit.c.tenant_id == who.tenant.tenant_id, audit.c.uid == who.uid)
        return list(work.all(found.order_by(audit.c.entry_id)))
    finally:
        work.rollback()


@pytest.mark.parametrize("kind", ["suspend", "captcha", "security_question", "block"])
def test_attempt_on_locked_account_is_audited(new_tenant_server: NewTenantServer, kind: str) -> None:
    who = account_holder(new_tenant_server, lockout={"type": kind, **LOCKED})
    for _ in range(3):
        who.call("U12", {"email": who.email, "password": WRONG})
    before = len(entries_of(who))
    for password in (WRONG, OLD):
        assert refused(who.call("U12", {"email": who.email, "password": password}))[0] == 403
    attempts = entries_of(who)[before:]
    assert [row.event for row in attempts] == ["sign_in.refused"] * 2
    assert {row.facts["reason"] for row in attempts} == {"locked"}
    assert len({row.reference for row in attempts}) == 2


@pytest.mark.both_databases
def test_audit_reference_equals_request_id(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    client = Client(Instrumented(who.tenant.app))
    query = {"apikey": who.tenant.api_key}
    base = f"http://{who.tenant.services.settings.api_hostname}"
    body = {"email": who.email, "password": WRONG}
    answer = client.post("/identity/v2/auth/login", json=body, query_string=query, base_url=base)
    assert entries_of(who)[-1].reference == answer.headers["X-Request-Id"]
    assert (bound("refused"), bound("reason")) == ("sign_in.refused", "password")
    work = UnitOfWork(who.tenant.services.database, who.tenant.tenant_id)
    (found,) = latest(work, 9, reference=answer.headers["X-Request-Id"])
    assert (found.uid, found.event) == (who.uid, "sign_in.refused")
    assert latest(work, 1)[0] == found
    assert latest(UnitOfWork(who.tenant.services.database, "another"), 9, reference=found.reference) == []
    work.rollback()


@pytest.mark.both_databases
def test_audit_retention_follows_tenant_setting(new_tenant_server: NewTenantServer) -> None:
    retained, short = (account_holder(new_tenant_server, **settings) for settings in ({}, {"audit_days": 30}))
    services: IdentityServices = retained.tenant.services

    def removed(days: int) -> None:
        for who in (retained, short):
            expired_rows._clean_tenant(
                services.database, who.tenant.tenant_id, services.clock.now() + timedelta(days=days)
            )

    before = len(entries_of(retained))
    assert before > 0
    assert len(entries_of(short)) == before
    removed(29)
    assert (len(entries_of(retained)), len(entries_of(short))) == (before, before)
    removed(31)
    assert (len(entries_of(retained)), len(entries_of(short))) == (before, 0)
    removed(366)
    assert len(entries_of(retained)) == 0


@pytest.mark.both_databases
def test_entries_of_a_millisecond_stay_in_order(new_tenant_server: NewTenantServer) -> None:
    who, clock = account_holder(new_tenant_server), FixedClock(datetime(2026, 1, 1, 23, 59, 59, 999_001, tzinfo=UTC))
    services: IdentityServices = who.tenant.services
    audit, before = AuditLog(clock), len(entries_of(who))
    for number in range(50):
        audit.record("something.happened", uid=who.uid, number=number)
        clock.advance(microseconds=19)
    with UnitOfWork(services.database, who.tenant.tenant_id).separate_transaction() as work:
        audit.write(work)
    assert [row.facts.get("number") for row in entries_of(who)] == [*range(50), *[None] * before]


@pytest.mark.both_databases
def test_clean_up_removes_more_than_one_batch(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, audit_days=1)
    services: IdentityServices = who.tenant.services
    audit = AuditLog(services.clock)
    for _ in range(audit_retention.BATCH * 2 + 1):
        audit.record("something.happened", uid=who.uid)
    with UnitOfWork(services.database, who.tenant.tenant_id).separate_transaction() as work:
        audit.write(work)
    expired_rows._clean_tenant(services.database, who.tenant.tenant_id, services.clock.now() + timedelta(days=2))
    assert entries_of(who) == []
