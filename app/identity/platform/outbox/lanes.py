"""Lanes: groups of message kinds with their own delivery threads, so that a slow receiver delays no other lane."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from sqlalchemy import ColumnElement, String, and_, literal_column, or_


@dataclass(frozen=True)
class Lane:
    """The message kinds of one lane; an empty tuple means every kind without a lane of its own.

    Args:
        has_queues: its messages are in queues, one for each receiver (outbox/queue_claims.py).
    """

    name: str
    kinds: tuple[str, ...] = ()
    has_queues: bool = False

    def contains(self, kind: Any) -> ColumnElement[bool]:
        """Return the SQL condition that a column holds a kind of this lane."""
        if self.kinds:
            return or_(*(kind == inlined(item) for item in self.kinds))
        between = (and_(kind > inlined(first), kind < inlined(last)) for first, last in pairwise(_NAMED))
        # ranges use the index; NOT IN would read every waiting row
        return or_(kind < inlined(_NAMED[0]), *between, kind > inlined(_NAMED[-1]))


def inlined(text: str) -> ColumnElement[str]:
    """Return a constant of the code as SQL text: with a bound parameter a prepared plan would use another index."""
    if not text.isidentifier():
        raise ValueError("no name")
    return literal_column(f"'{text}'", String)


MAIL: Final = Lane("mail", ("mail",))
SMS: Final = Lane("sms", ("sms",))
PUSH: Final = Lane("push", ("push", "push_platform"))
WEBHOOK: Final = Lane("webhook", ("webhook",), has_queues=True)
OTHER: Final = Lane("other")
LANES: Final = (MAIL, SMS, PUSH, WEBHOOK, OTHER)
_NAMED: Final = tuple(sorted(kind for lane in LANES for kind in lane.kinds))


def lane_of(kind: str) -> Lane:
    return next((lane for lane in LANES if kind in lane.kinds), OTHER)
