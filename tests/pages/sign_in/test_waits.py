"""Pages that say "too many attempts": they name the wait once, in words, where it is known."""

from __future__ import annotations

import pytest
from werkzeug.exceptions import TooManyRequests as HTTPTooManyRequests

from app.contract.errors import TooManyRequests
from app.hub.web.application import HubFlask


@pytest.mark.both_databases
@pytest.mark.parametrize("error", [TooManyRequests(retry_after_seconds=40), HTTPTooManyRequests(retry_after=40)])
def test_known_wait_is_named_once_in_words(hub_app: HubFlask, error: Exception) -> None:
    status, retry_after, html = _answer(hub_app, error)
    assert (status, retry_after) == (429, "40")
    assert html.count("Try again in") == 1
    assert "Try again in 40 seconds." in html


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "Try again in a minute."), (7200, "Try again in 2 hours.")],
    ids=["unknown", "long"],
)
def test_unknown_or_long_wait_has_its_own_words(hub_app: HubFlask, seconds: int | None, text: str) -> None:
    status, _, html = _answer(hub_app, TooManyRequests(retry_after_seconds=seconds))
    assert status == 429
    assert text in html


def _answer(app: HubFlask, error: Exception) -> tuple[int, str, str]:
    """Return status, `Retry-After` and HTML of the page for an error."""
    with app.test_request_context("/login"):
        answer = app.error_pages.page_of(error)
    return answer.status_code, answer.headers.get("Retry-After", ""), answer.get_data(as_text=True)
