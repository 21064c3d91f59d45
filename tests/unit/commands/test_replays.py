"""`gatehouse webhooks replay` sends a long period again in several requests, at the pace that the server allows."""

from __future__ import annotations

from typing import Any

import pytest

from app.commands.webhooks import webhook_commands
from app.commands.webhooks.management_api import Busy


class BusyApi:
    """A server that replays two deliveries of three, then asks to wait, then replays the last one."""

    def __init__(self) -> None:
        self.answers: list[Any] = [{"Count": 2, "Next": "later"}, Busy("busy", 7), {"Count": 1, "Next": None}]
        self.asked: list[dict[str, Any]] = []

    def call(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        assert (method, path) == ("POST", "/webhooks/hook/replay")
        self.asked.append(body)
        answer = self.answers.pop(0)
        if isinstance(answer, Busy):
            raise answer
        return dict(answer)


def test_replay_waits_as_long_as_the_server_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(webhook_commands, "sleep", waits.append)
    api: Any = BusyApi()

    assert webhook_commands._replay(api, "hook", {"Since": "then", "Until": None, "State": "dead"}) == 3
    assert waits == [7]
    assert [body["Since"] for body in api.asked] == ["then", "later", "later"]
