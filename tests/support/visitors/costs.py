"""What requests of a visitor cost the database, as the server states it in `X-Gatehouse-Cost`."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from werkzeug.test import TestResponse

from tests.support.visitors.visitor import Visitor


def statements(answer: TestResponse) -> int:
    """Return the number of statements of a request that led the browser on."""
    assert answer.status_code in (302, 303), answer.text
    return int(dict(part.split("=") for part in answer.headers["X-Gatehouse-Cost"].split("; "))["sql"])


def of_opening(visitor: Visitor, address: str) -> tuple[int, str]:
    """Open an address without following where it leads; return its statements, and where it leads."""
    parts = urlsplit(address)
    answer = visitor.client.get(f"{parts.path}?{parts.query}", base_url=visitor.home)
    return statements(answer), answer.headers["Location"]


def of_posted_answer(visitor: Visitor, path: str, message: str, relay_state: str) -> list[int]:
    """Post an answer of a SAML provider, and come back with the cookies; return the statements of both requests."""
    form = {"SAMLResponse": message, "RelayState": relay_state}
    answer = visitor.client.post(path, data=form, base_url=visitor.home)
    came_back, address = of_opening(visitor, answer.headers["Location"])
    assert address == "/profile"
    return [statements(answer), came_back]


def fewest(visit: Callable[[], list[int]]) -> list[int]:
    """Return the counts of the cheapest of some visits: the first stores more, and any may read the tenant anew."""
    return min((visit() for _ in range(4)), key=sum)
