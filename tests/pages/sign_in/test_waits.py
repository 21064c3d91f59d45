"""Pages that say "too many attempts": they count down where the wait is known, and name no time where it is not."""

from __future__ import annotations

import pytest
from werkzeug.exceptions import TooManyRequests as HTTPTooManyRequests

from app.contract.errors import TooManyRequests
from app.hub.web.application import HubFlask


@pytest.mark.both_databases
@pytest.mark.parametrize("error", [TooManyRequests(retry_after_seconds=40), HTTPTooManyRequests(retry_after=40)])
def test_known_wait_is_counted_down(hub_app: HubFlask, error: Exception) -> None:
    page = _answer(hub_app, error)
    assert (page[0], page[1]) == (429, "40")
    assert ".count{--from:40}" in page[2]
    assert "<time datetime=" in page[2], "the clock time is there for browsers that do not count"
    assert "Try again in a minute." not in page[2]


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "Try again in a minute."), (7200, "Try again later.")], ids=["unknown", "long"]
)
def test_unknown_or_long_wait_has_no_countdown(hub_app: HubFlask, seconds: int | None, text: str) -> None:
    page = _answer(hub_app, TooManyRequests(retry_after_seconds=seconds))
    assert page[0] == 429
    assert "--from:" not in page[2]
    assert text in page[2]


def _answer(app: HubFlask, error: Exception) -> tuple[int, str, str]:
    """Return status, `Retry-After` and HTML of the page for an error."""
    with app.test_request_context("/login"):
        answer = app.error_pages.page_of(error)
    return answer.status_code, answer.headers.get("Retry-After", ""), answer.get_data(as_text=True)
