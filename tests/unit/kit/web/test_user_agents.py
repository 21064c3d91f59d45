"""User agents: the name of a known browser, and no name for any other text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kit.web.user_agents import UserAgent, parse_user_agent

KHTML = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {KHTML} Chrome/140.0.0.0 Safari/537.36",
            UserAgent("Chrome", "Windows", None, "desktop"),
        ),
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {KHTML} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
            UserAgent("Edge", "Windows", None, "desktop"),
        ),
        (
            "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            UserAgent("Firefox", "Linux", None, "desktop"),
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Mobile/15E148 Safari/604.1",
            UserAgent("Safari", "iOS", "iPhone", "phone"),
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.5 Safari/605.1.15",
            UserAgent("Safari", "macOS", "Mac", "desktop"),
        ),
        (
            f"Mozilla/5.0 (Linux; Android 10; K) {KHTML} Chrome/140.0.0.0 Mobile Safari/537.36",
            UserAgent("Chrome", "Android", None, "phone"),
        ),
        (
            f"Mozilla/5.0 (Linux; Android 10; K) {KHTML} Chrome/140.0.0.0 Safari/537.36",
            UserAgent("Chrome", "Android", None, "tablet"),
        ),
        ("python-httpx/0.28.1", UserAgent("python-httpx")),
        ("curl/8.5.0", UserAgent("curl")),
        ("Mozilla/5.0", UserAgent()),
        ("<script>alert(1)</script>", UserAgent()),
        ("", UserAgent()),
    ],
)
def test_user_agent_is_named_without_its_version(text: str, agent: UserAgent) -> None:
    assert parse_user_agent(text) == agent


@given(st.text(max_size=400))
def test_any_user_agent_gives_a_short_name_or_none(text: str) -> None:
    assert len(parse_user_agent(text).browser or "") <= 40
