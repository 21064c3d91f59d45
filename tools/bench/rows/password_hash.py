"""One password hash, at the shipped parameters."""

import time
from collections.abc import Iterator

from argon2 import PasswordHasher

from app.contract.tenants.settings import Argon2
from tools.bench.measurement import MeasuredLine
from tools.bench.scene import Scene

TIMES = 30


def verify_ms(parameters: dict[str, int]) -> float:
    """CPU of one verification, the best of some: the machine's other work only adds."""
    stated = Argon2(**parameters)
    hasher = PasswordHasher(stated.iterations, stated.memory_kib, stated.parallelism)
    known = hasher.hash("a password")
    best = float("inf")
    for _ in range(TIMES):
        before = time.process_time()
        hasher.verify(known, "a password")
        best = min(best, time.process_time() - before)
    return best * 1000


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """In this process: it is the same library."""
    del scene
    shipped = Argon2()
    name = f"password hash: argon2id m={shipped.memory_kib} KiB t={shipped.iterations} p={shipped.parallelism}"
    spent_ms = verify_ms({})
    yield MeasuredLine(operation=name, measured=f"{spent_ms:.1f} ms", counts=f"{1000 / spent_ms:.0f} a second a core")
