"""Handlers of operations: each operation has exactly one, and servers share it."""

from typing import Any

import httpx
import pytest

from app.contract.auth import Host
from app.kit.client import Client, http_transport
from app.kit.operation import Catalogue, Operation
from app.kit.server import Server
from app.kit.wire import Wire
from tests.support.typed_handlers import PROFILE, Counted


def declared(name: str = "things.count") -> Operation[Wire, Counted]:
    return Operation(name, "GET", "/things", Wire, Counted, Host.API, PROFILE)


class Lifecycle:
    """Opens contexts that say which server they are of."""

    def __init__(self, number: int) -> None:
        self.number = number

    def open(self, _operation: object, _raw: object) -> int:
        return self.number

    def admit_person(self, *_: object) -> None:
        return

    def close(self, *_: object) -> None:
        return

    def may_retry(self, *_: object) -> bool:
        return False

    def headers(self, *_: object) -> list[tuple[str, str]]:
        return []


def server(operation: Operation[Any, Any], number: int = 0) -> Server:
    return Server(Catalogue([operation]), Lifecycle(number), lambda _raw: Host.API)


def count(server: Server, operation: Operation[Wire, Counted]) -> int:
    with httpx.Client(transport=httpx.WSGITransport(app=server), base_url="http://api.example.com") as http:
        return Client(http_transport(http), lambda *_: {})(operation, Wire()).number


def test_operation_without_handler_stops_the_start() -> None:
    with pytest.raises(LookupError, match=r"things\.count"):
        server(declared())


def test_second_handler_is_refused() -> None:
    operation = declared()
    operation.implements(lambda _context, _req: Counted(number=1))
    with pytest.raises(ValueError, match="implemented twice"):
        operation.implements(lambda _context, _req: Counted(number=2))


def test_two_servers_in_one_process_keep_their_contexts() -> None:
    operation = declared()

    @operation.implements
    def handle(context: int, _req: Wire) -> Counted:
        return Counted(number=context)

    first, second = server(operation, 1), server(operation, 2)
    assert [count(first, operation), count(second, operation), count(first, operation)] == [1, 2, 1]
