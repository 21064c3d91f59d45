"""Many do something in the same moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import VisitedPage, Visitor

RACERS = 20
CROWD = 50
"""More than a process has connections to its database: some wait for one. A lock that is missing is noticed as often by RACERS."""
T = TypeVar("T")


def at_once(acts: Sequence[Callable[[], T]]) -> list[T]:
    """Begin all of them together; return what each came to, in their order."""
    line = Barrier(len(acts))

    def run(act: Callable[[], T]) -> T:
        line.wait()
        return act()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def tabs(page: VisitedPage, count: int = RACERS) -> list[VisitedPage]:
    """The same page in so many tabs of its browser; each may be sent by a thread of its own."""

    def tab() -> Visitor:
        known = page.visitor
        made = Visitor(PlainClient(known.client.application), known.home, known.language)
        made.client._cookies = dict(known.client._cookies or {})
        return made

    return [VisitedPage(tab(), page.address, page.answer) for _ in range(count)]
