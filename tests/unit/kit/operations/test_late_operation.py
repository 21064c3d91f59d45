"""The models of an operation of a resource are made when they are first asked for, once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Annotated

import pytest

from app.contract.auth import Host
from app.kit.operations.operation import Accept, BodyRules, LateOperation, Models
from app.kit.operations.wire import From, Wire
from tests.support.operations.typed_handlers import PROFILE

THREADS = 8


class LazyRequest(Wire):
    name: Annotated[str, From.PATH]


class LazyResponse(Wire):
    name: str


def lazy_operation(requested: list[Models], request: type[Wire] = LazyRequest) -> LateOperation:
    def models() -> Models:
        requested.append((request, LazyResponse))
        return request, LazyResponse

    return LateOperation(
        models=models, name="things.read", method="DELETE", path="/things/{name}", host=Host.API, error_profile=PROFILE,
        body=BodyRules(accepts=Accept.JSON),
    )  # fmt: skip


def test_declaring_makes_no_models() -> None:
    requested: list[Models] = []
    item = lazy_operation(requested)
    assert item.every_error
    assert requested == []
    assert (item.request, item.response) == (LazyRequest, LazyResponse)
    assert len(requested) == 1


def test_threads_that_ask_at_once_get_the_same_models() -> None:
    requested: list[Models] = []
    item, together = lazy_operation(requested), Barrier(THREADS)

    def ask(_: int) -> type[Wire]:
        together.wait()
        found: type[Wire] = item.request
        return found

    with ThreadPoolExecutor(THREADS) as pool:
        assert set(pool.map(ask, range(THREADS))) == {LazyRequest}
    assert len(requested) == 1


def test_operation_without_body_fields_reads_forms_too() -> None:
    assert lazy_operation([]).media_types == Accept.JSON_OR_FORM.value
    assert lazy_operation([], LazyResponse).media_types == Accept.JSON.value


def test_other_attributes_are_missing() -> None:
    with pytest.raises(AttributeError, match="answer"):
        _ = lazy_operation([]).answer
