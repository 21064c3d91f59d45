"""Expensive hashes run apart from all others: one at a time, in turns of the tenants, and within a bound."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.contract.tenants.settings import Argon2
from app.identity.credentials.passwords import hash_limiter, imported_hashes
from app.identity.credentials.passwords.hash_limiter import ExpensiveLane, HashLimiter
from app.identity.credentials.passwords.hashing import Argon2Hashing
from app.identity.platform.password_hashing import HashingBusy
from app.kit.limits.fair_limiter import MaxWaiting

CHEAP = Argon2(memory_kib=8_192, iterations=1)
COSTLY = Argon2(memory_kib=262_144, iterations=1)
DERIVED = hashlib.pbkdf2_hmac("sha1", b"pass", b"salt", 1_000_000, 20)
EXPENSIVE = imported_hashes.pbkdf2("sha1", 1_000_000, b"salt", DERIVED)


class Occupied:
    """A lane in which a hash runs until `end`."""

    def __init__(self, lane: ExpensiveLane) -> None:
        self._begun, self.end = threading.Event(), threading.Event()
        self._pool = ThreadPoolExecutor(1)
        self.result = self._pool.submit(lane.run, self._work, "acme")
        assert self._begun.wait(10)

    def _work(self) -> bool:
        self._begun.set()
        return self.end.wait(30)


def test_ordinary_hash_does_not_wait_for_an_expensive_one() -> None:
    hashing = Argon2Hashing(1)
    occupied = Occupied(hashing._lane)
    assert not hashing.is_match(hashing.hash("pass", CHEAP), "path", CHEAP)
    assert not occupied.result.done()
    occupied.end.set()
    assert occupied.result.result(10)


REQUESTED_HASHES: dict[str, Callable[[Argon2Hashing], object]] = {
    "hash of another system": lambda hashing: hashing.is_match(EXPENSIVE, "pass", CHEAP),
    "new hash with the tenant's settings": lambda hashing: hashing.hash("pass", COSTLY),
    "unknown account in such a tenant": lambda hashing: hashing.is_match(None, "pass", COSTLY),
}


@pytest.mark.parametrize("name", REQUESTED_HASHES)
def test_expensive_hash_waits_in_its_lane(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hash_limiter, "_MAX_IN_LANE", MaxWaiting(0, 0))
    hashing = Argon2Hashing(1)
    occupied = Occupied(hashing._lane)
    with pytest.raises(HashingBusy) as refusal:
        REQUESTED_HASHES[name](hashing)
    assert (refusal.value.unavailable_status, refusal.value.retry_after_seconds) == (503, 5)
    occupied.end.set()


def test_expensive_hash_is_verified_and_not_averaged() -> None:
    hashing = Argon2Hashing(1)
    assert hashing.is_match(EXPENSIVE, "pass", CHEAP)
    assert not hashing.is_match(EXPENSIVE, "path", CHEAP)
    assert hashing.recent_seconds() == 0
    assert hashing.is_expensive(EXPENSIVE, CHEAP)
    assert not hashing.is_expensive(hashing.hash("pass", COSTLY), COSTLY)


@pytest.mark.parametrize("most", [MaxWaiting(of_all=1, of_one_tenant=9), MaxWaiting(of_all=9, of_one_tenant=1)])
def test_full_lane_refuses_at_once(most: MaxWaiting) -> None:
    limiter, waits = HashLimiter(1, max_wait_seconds=30, max_waiting=most), threading.Event()

    def wait() -> None:
        waits.set()
        with limiter.place("acme"):
            pass

    with limiter.place("acme"):
        waiting = threading.Thread(target=wait)
        waiting.start()
        while not limiter.waiting:
            waits.wait(0.01)
        with pytest.raises(HashingBusy), limiter.place("acme"):
            pass
    waiting.join(10)
    assert not waiting.is_alive()


def test_lane_has_a_lower_priority_than_all_others() -> None:
    def priority() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    assert (ExpensiveLane().run(priority, "acme") > priority()) == (sys.platform == "linux")
