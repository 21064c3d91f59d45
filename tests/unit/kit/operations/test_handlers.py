"""Handlers of operations: each operation has exactly one, servers share it, and it is loaded before its operation runs."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import httpx
import pytest

from app.contract.auth import Host
from app.kit.operations.client import Client, ServiceUnavailable, http_transport
from app.kit.operations.operation import Catalogue, Operation
from app.kit.operations.server import OperationServer
from app.kit.operations.wire import Wire
from tests.support.operations.typed_handlers import PROFILE, CountedWords


def declared(name: str = "things.count") -> Operation[Wire, CountedWords]:
    return Operation(name, "GET", "/things", Wire, CountedWords, Host.API, PROFILE)


class Lifecycle:
    """Opens contexts that say which server they are of."""

    def __init__(self, number: int) -> None:
        self.number = number

    def open(self, _operation: object, _raw: object) -> int:
        return self.number

    def admit_caller(self, *_: object) -> None:
        return

    def cached_by(self, *_: object) -> object | None:
        return None

    def close(self, *_: object) -> None:
        return

    def may_retry(self, *_: object) -> bool:
        return False

    def headers(self, *_: object) -> list[tuple[str, str]]:
        return []


def server(operation: Operation[Any, Any], number: int = 0) -> OperationServer:
    return OperationServer(Catalogue([operation]), Lifecycle(number), lambda _raw: Host.API)


def count(server: OperationServer, operation: Operation[Wire, CountedWords]) -> int:
    with httpx.Client(transport=httpx.WSGITransport(app=server), base_url="http://api.example.com") as http:
        return Client(http_transport(http), lambda *_: {})(operation, Wire()).number


class Handlers:
    """Implements an operation when it is loaded, as the areas' modules do."""

    def __init__(self, operation: Operation[Wire, CountedWords]) -> None:
        self.operation = operation
        self.may_end = Event()
        self.has_begun = Event()
        self.problems: list[Exception] = []
        self.loads = 0

    def load(self) -> None:
        self.loads += 1
        self.has_begun.set()
        assert self.may_end.wait(30)
        if self.problems:
            raise self.problems.pop()
        self.operation.implements(lambda _context, _req: CountedWords(number=7))

    def server(self, early: str = "") -> OperationServer:
        catalogue = Catalogue([self.operation])
        return OperationServer(catalogue, Lifecycle(0), lambda _raw: Host.API, self.load, frozenset({early}))


def test_operation_without_handler_is_named_when_loading() -> None:
    with pytest.raises(LookupError, match=r"things\.count"):
        server(declared()).load()


def test_requests_wait_until_the_handlers_are_loaded_once() -> None:
    handlers = Handlers(declared())
    ours = handlers.server()
    with ThreadPoolExecutor(3) as threads:
        answers = [threads.submit(count, ours, handlers.operation) for _ in range(2)]
        loading = threads.submit(ours.load)
        assert handlers.has_begun.wait(30)
        assert not loading.done()
        assert not any(answer.done() for answer in answers)
        handlers.may_end.set()
        loading.result(30)
        assert [answer.result(30) for answer in answers] == [7, 7]
    assert handlers.loads == 1


def test_a_handler_alone_opens_no_operation_before_the_rest() -> None:
    """Another import may register a handler while hooks that it needs are missing."""
    handlers = Handlers(declared())
    handlers.problems.append(RuntimeError("a hook is missing"))
    handlers.may_end.set()
    handlers.operation.implements(lambda _context, _req: CountedWords(number=1))
    with pytest.raises(ServiceUnavailable):
        count(handlers.server(), handlers.operation)


def test_early_operation_waits_for_no_other_handler() -> None:
    handlers = Handlers(declared())
    handlers.operation.implements(lambda _context, _req: CountedWords(number=1))
    assert count(handlers.server(early="things.count"), handlers.operation) == 1
    assert handlers.loads == 0


def test_request_after_failed_loading_loads_again() -> None:
    handlers = Handlers(declared())
    handlers.problems.append(RuntimeError("the disk is gone"))
    handlers.may_end.set()
    ours = handlers.server()
    with pytest.raises(ServiceUnavailable):
        count(ours, handlers.operation)
    assert count(ours, handlers.operation) == 7


def test_second_handler_is_refused() -> None:
    operation = declared()
    operation.implements(lambda _context, _req: CountedWords(number=1))
    with pytest.raises(ValueError, match="implemented twice"):
        operation.implements(lambda _context, _req: CountedWords(number=2))


def test_two_servers_in_one_process_keep_their_contexts() -> None:
    operation = declared()

    @operation.implements
    def handle(context: int, _req: Wire) -> CountedWords:
        return CountedWords(number=context)

    first, second = server(operation, 1), server(operation, 2)
    assert [count(first, operation), count(second, operation), count(first, operation)] == [1, 2, 1]
