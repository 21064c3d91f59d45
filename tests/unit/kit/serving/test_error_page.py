"""What the server answers itself: a page with a link to browsers, one sentence to programs."""

from __future__ import annotations

import pytest

from app.kit.serving.http1.error_responses import REASONS, Refusals, ServerRefusalReason

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


def answer(status: int, accept: str) -> tuple[str, str]:
    """Return the head and the body of a response."""
    text = Refusals(retry_after_seconds=2).answer(status, ServerRefusalReason.BROKEN, accept=accept).decode()
    head, _, body = text.partition("\r\n\r\n")
    return head, body


@pytest.mark.parametrize(("status", "link"), [(500, "Try again"), (503, "Try again"), (431, "Go to the start page")])
def test_browser_gets_a_page_with_a_link(status: int, link: str) -> None:
    head, body = answer(status, BROWSER)
    assert "content-type: text/html; charset=utf-8" in head
    assert f"content-length: {len(body.encode())}" in head
    assert "<h1>" in body
    assert f"<p>{REASONS[status]}</p>" in body
    assert f">{link}</a>" in body


@pytest.mark.parametrize("accept", ["", "*/*", "application/json"])
def test_program_gets_one_sentence(accept: str) -> None:
    head, body = answer(500, accept)
    assert "content-type: text/plain; charset=utf-8" in head
    assert body == f"{REASONS[500]}\n"


def test_status_without_a_sentence_is_named() -> None:
    assert answer(414, "")[1] == "Request-URI Too Long.\n"
