"""Examples of the API reference: recorded from the tests that call the operations, and compared with them in every run.

An example names the test that made it (`made_by`). Whenever that test runs, one of its calls must still have the example's shape,
or the test fails. `python -m tools.examples --update` records. pytest loads this module as a plugin.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

import pytest

from app.contract.auth import AuthScheme
from app.contract.published.examples import FOLDER, load_examples
from app.kit.operations import server
from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import RawRequest
from app.kit.operations.wire import From, shape_of
from tests.support.plugins.example_values import FixedValues

_HINT: Final = (
    "The example of {} is stale: no call of this test has its shape any more. Run: python -m tools.examples --update {}"
)
_LESS_TYPICAL: Final = (
    "attack", "fuzz", "race", "hostile", "malformed", "concurren", "isolat", "forged", "enumerat", "load", "fault", "evil",
    "unknown", "refus", "invalid", "wrong", "long", "odd", "blank", "empty", "cost", "number_of", "limit", "not_fit", "another",
)  # fmt: skip
_ODD: Final = ("<", "evil", "xxxx", "attack", "something", "\\u", "javascript", "foreign", "globex")
_MAX_ITEMS: Final = 12
_MAX_BODY: Final = 20_000
"""Of the requests that are recorded: replacing fixed values takes long in the base64 of a file."""

Example = dict[str, Any]


@dataclass
class Recorder:
    """The calls of the running test, and the best example of each operation so far."""

    test: str = ""
    records_all: bool = False
    calls: list[tuple[str, Example]] = field(default_factory=list)
    best: dict[str, tuple[float, Example]] = field(default_factory=dict)
    names_by_test: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, example in load_examples().items():
            self.names_by_test.setdefault(example["made_by"], []).append(name)

    def note(self, operation: AnyOperation, raw: RawRequest, answer: server.HttpResponse, context: Any) -> None:
        """Keep a successful call whose example is to be recorded."""
        is_recorded = self.records_all or operation.name in self.names_by_test.get(self.test, ())
        if not is_recorded or not operation.documentation.is_public or len(raw.body) > _MAX_BODY:
            return
        example = _example_of(operation, raw, answer, context)
        if example is None:
            return
        self.calls.append((operation.name, example))
        if self.records_all and "postgres" not in self.test:
            score = _score(operation, self.test, example)
            if operation.name not in self.best or score > self.best[operation.name][0]:
                self.best[operation.name] = (score, {"made_by": self.test, **example})

    def stale(self) -> list[str]:
        """Return the operations whose example this test made and makes no longer."""
        stored = load_examples()
        return [
            name
            for name in self.names_by_test.get(self.test, ())
            if not any(called == name and shape(item) == shape(stored[name]) for called, item in self.calls)
        ]


def _example_of(operation: AnyOperation, raw: RawRequest, answer: server.HttpResponse, context: Any) -> Example | None:
    """Return the call with fixed values; None if it came by an older address."""
    if raw.method != operation.method or not _is_at(operation.path, raw.path):
        return None
    fixed = FixedValues(context.now)
    return {"request": _request(operation, raw, fixed), "answer": _answer(answer, fixed)}


def _is_at(template: str, path: str) -> bool:
    parts, expected = path.strip("/").split("/"), template.strip("/").split("/")
    return len(parts) == len(expected) and all(
        part == other or other.startswith("{") for part, other in zip(parts, expected, strict=True)
    )


def _request(operation: AnyOperation, raw: RawRequest, fixed: FixedValues) -> Example:
    places = shape_of(operation.request).places
    declared = {name.lower(): name for name in places[From.QUERY].values()}
    sent = {declared.get(name.lower(), name): value for name, value in parse_qsl(raw.query_text)}
    query = {name: value for name, value in sent.items() if name.lower() not in _credentials(operation)}
    headers = {name: raw.headers[name.lower()] for name in places[From.HEADER].values() if name.lower() in raw.headers}
    made: Example = {"path": dict(raw.parameters), "query": query, "headers": headers}
    made = {place: fixed.of(item) for place, item in made.items() if item}
    if raw.body and raw.method not in ("GET", "HEAD"):
        kind = raw.headers.get("content-type", "").partition(";")[0]
        made["media_type"] = kind
        made["body"] = fixed.of(_body(operation, raw.body, kind))
    return made


def _body(operation: AnyOperation, content: bytes, kind: str) -> Any:
    body = json.loads(content) if "json" in kind else dict(parse_qsl(content.decode()))
    declared = {name.lower(): name for name in shape_of(operation.request).places[From.BODY].values()}
    return {
        declared.get(name.lower(), name): value
        for name, value in body.items()
        if name.lower() not in _credentials(operation)
    }


def _credentials(operation: AnyOperation) -> set[str]:
    """Return the names of credentials that the document states as security, so that no example shows them."""
    schemes = operation.admission.every_auth.schemes()
    named = {str(scheme.facts.openapi.get("name", "")).lower() for scheme in schemes if scheme.facts.openapi}
    return {"apikey", "apisecret", *named, *(["access_token"] if AuthScheme.ACCESS_TOKEN in schemes else [])}


def _answer(answer: server.HttpResponse, fixed: FixedValues) -> Example:
    headers = dict(answer.headers)
    kind = headers.get("Content-Type", "").partition(";")[0]
    made: Example = {"status": answer.status}
    if answer.content and kind:
        made["media_type"] = kind
    if answer.content and not kind.startswith("image/"):
        text = answer.content.decode()
        made["body"] = fixed.of(json.loads(text)) if "json" in kind else fixed.text(text)
    if "Location" in headers:
        made["location"] = fixed.text(headers["Location"])
    return made


def shape(value: Any) -> Any:
    """Return the members and the types of a value, without the values."""
    if isinstance(value, dict):
        stored = sorted((name, item) for name, item in value.items() if name != "made_by")
        return {name: item if name == "status" else shape(item) for name, item in stored}
    if isinstance(value, list):
        return sorted({json.dumps(shape(item)) for item in value})
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "number"
    return type(value).__name__


def _leaves(value: Any) -> int:
    """Count what a value tells: nothing and empty tell little."""
    if isinstance(value, dict):
        return sum(map(_leaves, value.values()))
    if isinstance(value, list):
        return sum(map(_leaves, value))
    return value not in (None, "", False)


def _oddities(operation: AnyOperation, test: str, example: Example) -> int:
    """Count what an example for readers would not have."""
    text, request = json.dumps(example), example["request"]
    places = shape_of(operation.request).places
    declared = {*places[From.BODY].values(), *places[From.QUERY].values()}
    sent = {*request.get("query", ()), *request.get("body", ())} if not places[From.WHOLE] else set()
    return (
        sum(word in test.lower() for word in _LESS_TYPICAL)
        + sum(word in text.lower() for word in _ODD)
        + len(sent - declared)
        + len(re.findall(r'(?<=: )"[^"]"', text))
        + 2 * any(len(item) > _MAX_ITEMS for item in _lists(example))
    )


def _lists(value: Any) -> Iterable[list[Any]]:
    if isinstance(value, list):
        yield value
    stored = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in stored:
        yield from _lists(item)


def _score(operation: AnyOperation, test: str, example: Example) -> float:
    """Return how well a call explains its operation: complete and ordinary, from a test of the ordinary case."""
    answered = example["answer"].get("body")
    is_empty = "body" in example["answer"] and not answered
    is_bare = isinstance(answered, dict) and [] in answered.values() and len(answered) < 3
    return (
        min(_leaves(answered), 40)
        + 2 * min(_leaves(example["request"]), 12)
        - len(json.dumps(example)) / 400
        - 30 * is_empty
        - 15 * is_bare
        - 12 * _oddities(operation, test, example)
        - 60 * ("page" in operation.request.model_fields and "page" not in example["request"].get("query", {}))
        + 8 * any(word in test for word in ("operations.py", "test_every_resource", "/oauth/"))
    )


_recorder: Recorder | None = None
_success_response = server.OperationServer.success_response


def _note_success(self: server.OperationServer, result: server.OperationResult, raw: RawRequest) -> server.HttpResponse:
    made = _success_response(self, result, raw)
    if _recorder is not None and _recorder.test:
        _recorder.note(result.operation, raw, made, result.context)
    return made


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record-examples", metavar="FOLDER", help="write the best call of each operation; tools.examples"
    )


def pytest_configure(config: pytest.Config) -> None:
    global _recorder  # noqa: PLW0603 - the server that is watched is one per process, too
    _recorder = Recorder(records_all=config.getoption("--record-examples") is not None)
    server.OperationServer.success_response = _note_success  # type: ignore[method-assign]  # every server of this process


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    if _recorder is None:
        return (yield)
    is_watched = _recorder.records_all or item.nodeid in _recorder.names_by_test
    _recorder.test, _recorder.calls = item.nodeid if is_watched else "", []
    result = yield
    _recorder.test = ""
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    result = yield
    if _recorder is not None and not _recorder.records_all and item.nodeid in _recorder.names_by_test:
        stale = _recorder.stale()
        assert not stale, _HINT.format(", ".join(stale), item.location[0])
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    folder = session.config.getoption("--record-examples")
    if folder is not None and _recorder is not None:
        path = Path(folder) / f"{os.getpid()}.json"
        path.write_text(json.dumps(_recorder.best))


def merged(found: Iterable[dict[str, tuple[float, Example]]]) -> dict[str, Example]:
    """Return the best example of each operation."""
    best: dict[str, tuple[float, Example]] = {}
    for part in found:
        for name, (score, example) in part.items():
            if name not in best or (score, example["made_by"]) > (best[name][0], best[name][1]["made_by"]):
                best[name] = (score, example)
    return {name: example for name, (_, example) in sorted(best.items())}


__all__ = ["FOLDER", "merged", "shape"]
