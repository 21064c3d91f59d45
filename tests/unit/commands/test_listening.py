"""What `gatehouse webhooks listen` does while the server it listens to is down, or refuses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.commands.errors import CommandError
from app.commands.webhooks import listening
from app.commands.webhooks.event_feed import Event
from app.commands.webhooks.listening import EventListener
from app.commands.webhooks.management_api import ManagementApi, RequestRefused, Unreachable

LOGIN = Event("0" * 32, "Login", b'{"Data": {"Uid": "ada"}}')
Answer = Event | CommandError


class FakeFeed:
    """A log whose readings are these, one after the other; then Ctrl-C."""

    def __init__(self, *answers: Answer) -> None:
        self.answers, self.closed = list(answers), 0

    def open(self) -> None:
        """Be open already."""

    def close(self) -> None:
        self.closed += 1

    def new_events(self) -> Iterator[Event]:
        if not self.answers:
            raise KeyboardInterrupt
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        yield answer


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the command waited, which takes no time."""
    found: list[float] = []
    monkeypatch.setattr(listening, "sleep", found.append)
    return found


def listener(feed: FakeFeed) -> EventListener:
    api = ManagementApi("http://acme.localhost:8000", "http://api.localhost:8000", "developer", "secret")
    made = EventListener(api, "laptop", None, [])
    made._feed = feed  # type: ignore[assignment]  # as much of a feed as the listener needs
    return made


def test_outage_is_waited_out_ever_longer(waits: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    feed = FakeFeed(*[Unreachable("No answer.")] * 7, LOGIN, Unreachable("No answer."))
    listener(feed).run()
    printed = capsys.readouterr()

    assert waits == [2, 4, 8, 16, 30, 30, 30, 1, 2]
    assert printed.err.splitlines()[:2] == ["No answer. Trying again in 2 s.", "No answer. Trying again in 4 s."]
    assert "Login" in printed.out
    assert feed.closed == 1


def test_replaced_listener_ends_with_the_reason(waits: list[float]) -> None:
    with pytest.raises(CommandError, match="took over") as refused:
        listener(FakeFeed(RequestRefused("Unknown webhook.", 7986))).run()
    assert (refused.value.exit_code, waits) == (2, [])


def test_refusal_ends_the_command(waits: list[float]) -> None:
    with pytest.raises(RequestRefused, match="lacks the scope"):
        listener(FakeFeed(LOGIN, RequestRefused("The machine token lacks the scope webhook:read.", 6002))).run()
