"""SQLite's text of an instant: its order is that of time, and it is read as it was written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as some
from sqlalchemy.dialects import sqlite

from app.identity.platform.store.tables import Instant

DIALECT = sqlite.dialect()
WRITE, READ = Instant().bind_processor(DIALECT), Instant().result_processor(DIALECT, None)
ZONES = some.sampled_from((UTC, timezone(timedelta(hours=-11)), timezone(timedelta(hours=5, minutes=45))))
INSTANTS = some.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=ZONES)  # noqa: DTZ001 - the zone is drawn


def written(at: datetime | None) -> str | None:
    assert WRITE is not None
    text: str | None = WRITE(at)
    return text


@given(some.one_of(INSTANTS, INSTANTS.map(lambda at: at.replace(microsecond=0))))
def test_instant_is_read_as_it_was_written(at: datetime) -> None:
    assert READ is not None
    assert READ(written(at)) == at


@given(some.lists(some.one_of(INSTANTS, INSTANTS.map(lambda at: at.replace(microsecond=0))), max_size=5))
def test_order_of_texts_is_that_of_instants(instants: list[datetime]) -> None:
    assert sorted(filter(None, map(written, instants))) == [written(at) for at in sorted(instants)]


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (datetime(2026, 1, 2, 3, 4, 5, 60, tzinfo=UTC), "2026-01-02 03:04:05.000060"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02 03:04:05.000000"),
        (datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=1))), "2026-01-01 23:00:00.000000"),
        (None, None),
    ],
)
def test_text_has_all_places(at: datetime | None, text: str | None) -> None:
    assert written(at) == text
