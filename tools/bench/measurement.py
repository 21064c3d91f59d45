"""How an operation is measured: CPU of the server's whole process tree, in turns with the bare view."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

from tools.bench.servers import BenchServer
from tools.bench.visitor import BenchVisitor

TURNS = 6
"""The least busy one counts: other work on the machine only adds."""
TURN_SECONDS = 0.5
FEWEST_PER_TURN, MAX_PER_TURN = 40, 4000


@dataclass(frozen=True)
class MeasuredLine:
    """One line of the table."""

    operation: str
    counts: str = ""
    measured: str = ""
    bar: str = ""
    aim: str = ""
    is_over: bool = False
    """Whether it is beyond the bar."""
    is_reached: bool = False
    """Whether the aim is reached."""


@dataclass(frozen=True)
class Budget:
    """A bar and an aim for CPU, as multiples of the bare view, and bounds for the counts per operation."""

    bar: float
    aim: float
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Spent:
    """What one operation cost."""

    cpu_ms: float
    bare_ms: float
    counts: dict[str, float]

    @property
    def ratio(self) -> float:
        return self.cpu_ms / self.bare_ms

    def line(self, operation: str, budget: Budget) -> MeasuredLine:
        """Compare it with its budget."""
        excess = [name for name, most in budget.counts.items() if self.counts.get(name, 0.0) > most]
        shown = [f"{name} {self.counts[name]:g}" for name in self.counts if self.counts[name] or name in budget.counts]
        bounds = ", ".join(f"{name} ≤ {most}" for name, most in budget.counts.items())
        return MeasuredLine(
            operation=operation,
            counts=", ".join(shown) + (f"  ({bounds})" if bounds else ""),
            measured=f"{self.cpu_ms:.2f} ms = {self.ratio:.1f} ×",
            bar=f"{budget.bar:g} ×",
            aim=f"{budget.aim:g} ×",
            is_over=self.ratio > budget.bar or bool(excess),
            is_reached=self.ratio <= budget.aim and not excess,
        )


HASHING = "hash_us"
"""Reported time of password hashes: budgeted in a row of its own and subtracted in all others."""
Operation = Callable[[int], BenchVisitor | None]
"""Does the operation once, the n-th time; returns the visitor whose costs are counted."""


def measure(product: BenchServer, bare: BenchServer, operation: Operation, warm: int = 20, views: int = 2000) -> Spent:
    """Do `operation` in turns with the bare view, and take the least busy turn of each."""
    visitor = BenchVisitor(bare.port, "bare.localhost")

    def view(_: int) -> None:
        visitor.get("/")

    done = _warm(operation, warm)
    _warm(view, 100)
    times = _times(operation, done)
    own: list[float] = []
    measured_bare: list[float] = []
    counts: dict[str, float] = {}
    for _ in range(TURNS):
        measured_bare.append(_turn(bare, view, 0, views)[0])
        spent_ms, counts = _turn(product, operation, done, times)
        own.append(spent_ms)
        done += times
    visitor.close()
    return Spent(min(own), min(measured_bare), counts)


def beside(
    item: BenchServer, operation: Operation, other: BenchServer, same: Operation, warm: int = 20
) -> tuple[float, float]:
    """Do the same on two servers in turns; return the milliseconds of CPU of each in its least busy turn."""
    done = _warm(operation, warm)
    _warm(same, warm)
    times = _times(operation, done)
    spent_ms: list[tuple[float, float]] = []
    for _ in range(TURNS):
        spent_ms.append((_turn(item, operation, done, times)[0], _turn(other, same, done, times)[0]))
        done += times
    return min(first for first, _ in spent_ms), min(second for _, second in spent_ms)


def _warm(operation: Operation, times: int) -> int:
    for number in range(times):
        _counts(operation(number))
    return times


def _times(operation: Operation, done: int) -> int:
    """How often to do it in a turn, judged by the clock on the wall."""
    began = time.perf_counter()
    _counts(operation(done))
    once = max(time.perf_counter() - began, 0.0001)
    return min(MAX_PER_TURN, max(FEWEST_PER_TURN, int(TURN_SECONDS / once)))


def _turn(server: BenchServer, operation: Operation, done: int, times: int) -> tuple[float, dict[str, float]]:
    """Return CPU per operation, and what one usually counts: the tenant's copy is asked for anew every few seconds."""
    counted: dict[str, list[int]] = {}
    before = server.cpu_seconds()
    for number in range(done, done + times):
        for name, count in _counts(operation(number)).items():
            counted.setdefault(name, []).append(count)
    hashing_ms = sum(counted.pop(HASHING, [])) / 1000
    spent_ms = (server.cpu_seconds() - before) * 1000 - hashing_ms
    return spent_ms / times, {name: float(median(counts)) for name, counts in counted.items()}


def _counts(visitor: BenchVisitor | None) -> dict[str, int]:
    """Return what the operation counted, and begin anew."""
    if visitor is None:
        return {}
    counts = dict(visitor.costs)
    visitor.costs.clear()
    return counts
