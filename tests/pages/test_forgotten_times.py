"""How long the page takes for a name that somebody has and for one that nobody has: printed, not asserted."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

from tests.support.oauth_world import NewWorld

TIMES = 200


def test_the_time_of_the_answer_is_printed(new_world: NewWorld, new_visitor_at: Any) -> None:
    unlimited = {"forgot_per_minute_per_address": 0, "forgot_per_minute": 0}
    there = new_world(limits=unlimited, sending={"mails_by_type": {"forgotpassword": {"amount": 0, "minutes": 60}}})
    there.person("ada@example.com")
    visitor = new_visitor_at(there)
    form = visitor.open("/forgot-password").form("Send it").fields
    taken: dict[str, list[float]] = {"ada@example.com": [], "bob@example.com": []}
    for _ in range(TIMES):
        for name, times in taken.items():
            begun = perf_counter()
            answer = visitor.client.post("/forgot-password", base_url=visitor.home, data={**form, "identifier": name})
            times.append(perf_counter() - begun)
            assert answer.status_code == 303
    shown = {name: f"{median(times) * 1000:.2f} ms" for name, times in taken.items()}
    print(f"medians of {TIMES}: {shown}")
