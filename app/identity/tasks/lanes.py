"""The lanes of the outbox: kinds of messages that are sent apart, so that a slow receiver of one delays no other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement


@dataclass(frozen=True)
class Lane:
    """Kinds of messages that share their places; without kinds: all that have no lane of their own."""

    name: str
    kinds: tuple[str, ...] = ()

    def holds(self, kind: Any) -> ColumnElement[bool]:
        """The condition under which a column names a kind of this lane."""
        condition: ColumnElement[bool] = kind.in_(self.kinds) if self.kinds else kind.not_in(_NAMED)
        return condition


MAIL: Final = Lane("mail", ("mail",))
SMS: Final = Lane("sms", ("sms",))
PUSH: Final = Lane("push", ("push", "push_platform"))
OTHER: Final = Lane("other")
LANES: Final = (MAIL, SMS, PUSH, OTHER)
_NAMED: Final = tuple(kind for lane in LANES for kind in lane.kinds)


def lane_of(kind: str) -> Lane:
    """Return the lane of a kind."""
    return next((lane for lane in LANES if kind in lane.kinds), OTHER)
