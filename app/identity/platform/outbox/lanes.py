"""The lanes of the outbox: kinds of messages that are sent apart, so that a slow receiver of one delays no other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from sqlalchemy import BindParameter, ColumnElement, and_, literal, or_


@dataclass(frozen=True)
class Lane:
    """Kinds of messages that share their places; without kinds: all that have no lane of their own."""

    name: str
    kinds: tuple[str, ...] = ()

    def holds(self, kind: Any) -> ColumnElement[bool]:
        """The condition under which a column names a kind of this lane."""
        if self.kinds:
            return or_(*(kind == constant(one) for one in self.kinds))
        between = (and_(kind > constant(first), kind < constant(last)) for first, last in pairwise(_NAMED))
        # what an index finds; "not in" reads all that waits
        return or_(kind < constant(_NAMED[0]), *between, kind > constant(_NAMED[-1]))


def constant(text: str) -> BindParameter[str]:
    """Return a literal of ours inlined in the statement: as a parameter, a prepared plan would use another index."""
    return literal(text, literal_execute=True)


MAIL: Final = Lane("mail", ("mail",))
SMS: Final = Lane("sms", ("sms",))
PUSH: Final = Lane("push", ("push", "push_platform"))
OTHER: Final = Lane("other")
LANES: Final = (MAIL, SMS, PUSH, OTHER)
_NAMED: Final = tuple(sorted(kind for lane in LANES for kind in lane.kinds))


def lane_of(kind: str) -> Lane:
    """Return the lane of a kind."""
    return next((lane for lane in LANES if kind in lane.kinds), OTHER)
