"""Parallel password guesses: the lockout threshold is exact, and responses hide which guess was right."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from argon2 import PasswordHasher
from sqlalchemy import update
from werkzeug.test import TestResponse

from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.directory.accounts.tables import accounts as table
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.password_customers import LOGIN, UNLIMITED, WRONG
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused

pytestmark = pytest.mark.both_databases

MAX_ATTEMPTS = 5
CODES = {"suspend": 1198, "captcha": 1132, "security_question": 1148, "block": 991}


class Victim:
    """An account under parallel password guesses."""

    def __init__(self, tenant: TenantServer) -> None:
        self.tenant = tenant
        made = tenant.create(Email=[{"Type": "Primary", "Value": "victim@example.test"}])
        self.uid = str(made["Uid"])
        tenant.update(self.uid, {"EmailVerified": True})

    def guess(self, password: str, email: str = "victim@example.test") -> TestResponse:
        return self.tenant.send("POST", LOGIN, {"email": email, "password": password}, with_secret=False)

    def guesses(self, passwords: list[str], **options: Any) -> list[tuple[int, int]]:
        """Send all guesses in parallel; return status and code of each response."""
        barrier = threading.Barrier(len(passwords))

        def guess_once(password: str) -> tuple[int, int]:
            barrier.wait()
            return refused(self.guess(password, **options))

        with ThreadPoolExecutor(len(passwords)) as pool:
            return list(pool.map(guess_once, passwords))


@pytest.fixture
def victim_of(new_tenant_server: NewTenantServer) -> Callable[..., Victim]:
    def make(kind: str, **settings: Any) -> Victim:
        lockout = {"type": kind, "maximum_failed_attempts": MAX_ATTEMPTS, "suspend_seconds": 600}
        return Victim(new_tenant_server(lockout=lockout, limits=UNLIMITED, **settings))

    return make


@pytest.mark.parametrize("kind", CODES)
def test_parallel_guesses_stop_at_the_threshold(victim_of: Callable[..., Victim], kind: str) -> None:
    victim = victim_of(kind)
    results = Counter(victim.guesses([WRONG] * 30))
    assert results == {(401, 966): MAX_ATTEMPTS, (403, CODES[kind]): 30 - MAX_ATTEMPTS}
    assert refused(victim.guess(PASSWORD)) == (403, CODES[kind])


@pytest.mark.parametrize("is_hidden", [True, False])
def test_parallel_guesses_at_unknown_account_look_alike(victim_of: Callable[..., Victim], is_hidden: bool) -> None:
    victim = victim_of("suspend", hide_unknown_accounts=is_hidden)
    results = Counter(victim.guesses([WRONG] * 20, email="absent@example.test"))
    expected = {(401, 966): MAX_ATTEMPTS, (403, 1198): 20 - MAX_ATTEMPTS} if is_hidden else {(403, 938): 20}
    assert results == expected


@pytest.fixture
def lock_during_check(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[IdentityServices, Victim], None]]:
    """Use up the account's attempts while a password is being verified."""

    def install(services: IdentityServices, victim: Victim) -> None:
        is_match = services.hashing.is_match

        def lock_then_check(*arguments: Any) -> bool:
            monkeypatch.setattr(services.hashing, "is_match", is_match)
            with call_of(services, victim.tenant.name) as call:
                account = accounts.require(call, victim.uid)
                for _ in range(MAX_ATTEMPTS):
                    with call.work.separate_transaction() as work:
                        login_records.count_failure(call.within(work), account)
            return is_match(*arguments)

        monkeypatch.setattr(services.hashing, "is_match", lock_then_check)

    yield install
    monkeypatch.undo()


@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("is_hidden", [True, False])
def test_guess_during_lock_hides_whether_it_was_right(
    services: IdentityServices,
    victim_of: Callable[..., Victim],
    lock_during_check: Callable[[IdentityServices, Victim], None],
    kind: str,
    is_hidden: bool,
) -> None:
    results = []
    for password in (PASSWORD, WRONG):
        victim = victim_of(kind, hide_unknown_accounts=is_hidden)
        lock_during_check(services, victim)
        results.append(refused(victim.guess(password)))
    assert results == [(403, CODES[kind])] * 2


def test_parallel_good_sign_ins_are_all_counted(victim_of: Callable[..., Victim]) -> None:
    victim = victim_of("suspend")
    with ThreadPoolExecutor(12) as pool:
        for answer in pool.map(victim.guess, [PASSWORD] * 12):
            answered(answer)
    assert victim.tenant.read(victim.uid)["NoOfLogins"] == 12


def test_parallel_sign_ins_renewing_stale_hash_all_succeed(victim_of: Callable[..., Victim]) -> None:
    victim = victim_of("suspend")
    tenant = victim.tenant
    stale = PasswordHasher(time_cost=1, memory_cost=64, parallelism=2).hash(PASSWORD)
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        where = (table.c.tenant_id == tenant.tenant_id, table.c.uid == victim.uid)
        work.run(update(table).where(*where).values(password_hash=stale))
    with ThreadPoolExecutor(6) as pool:
        for answer in pool.map(victim.guess, [PASSWORD] * 6):
            answered(answer)
    assert tenant.read(victim.uid)["NoOfLogins"] == 6
