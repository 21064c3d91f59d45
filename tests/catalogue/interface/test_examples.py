"""Every public operation has an example, which still fits its declaration.

`tests/support/plugins/examples.py` compares it with fresh calls.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.contract.catalogue import load_catalogue
from app.contract.published.examples import FOLDER, load_examples
from tests.support.operations.published import is_valid, published_interface, undeclared
from tests.support.plugins.examples import shape
from tools.examples import missing, text_of, updated

ROOT = Path(__file__).parents[3]
LANGUAGES = ["curl", "Python", "JavaScript"]


def entries() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in published_interface()["paths"].items():
        for method, entry in methods.items():
            yield f"{method.upper()} {path}", entry


def examples_of(content: dict[str, Any]) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield operation, example and schema of a body."""
    for item in content.values():
        for name, example in item.get("examples", {}).items():
            if name in load_examples():
                yield name, example["value"], item["schema"]


def test_no_public_operation_is_without_an_example() -> None:
    assert missing(load_examples()) == [], "python -m tools.examples --update FILE records those of a test's requests"
    assert set(load_examples()) <= {
        operation.name for operation in load_catalogue() if operation.documentation.is_public
    }


def test_every_entry_shows_its_samples_in_three_languages() -> None:
    without = [
        address for address, entry in entries() if [item["label"] for item in entry["x-codeSamples"]] != LANGUAGES
    ]
    assert without == []


def test_answers_of_examples_fit_the_document() -> None:
    wrong = []
    for address, entry in entries():
        for status, response in entry["responses"].items():
            for name, value, schema in examples_of(response.get("content", {})):
                if not is_valid(schema, value) or (isinstance(value, dict) and undeclared(schema, value)):
                    wrong.append((address, status, name, value))
    assert wrong == []


def test_python_samples_parse() -> None:
    for _, entry in entries():
        ast.parse(entry["x-codeSamples"][1]["source"])


def test_examples_hold_nothing_of_the_machine_that_recorded_them() -> None:
    for name, example in load_examples().items():
        text = json.dumps({place: item for place, item in example.items() if place != "made_by"})
        assert not re.search(r"\.localhost|localhost:\d{5}|127\.0\.0\.1:|/tmp/|apisecret\"|Bearer ", text), name


def test_files_of_examples_are_as_the_tool_writes_them() -> None:
    other = [
        path.name
        for path in FOLDER.glob("*.json")
        if path.read_text("utf-8") != text_of(json.loads(path.read_text("utf-8")))
    ]
    assert other == [], "run: python -m tools.examples --update"


def test_test_that_made_an_example_exists() -> None:
    gone = []
    for name, example in load_examples().items():
        file, _, function = example["made_by"].partition("::")
        path = ROOT / file
        if not path.exists() or f"def {function.partition('[')[0].rpartition('::')[2]}(" not in path.read_text(
            encoding="utf-8"
        ):
            gone.append((name, example["made_by"]))
    assert gone == [], "run: python -m tools.examples --update"


def test_shape_is_of_members_and_types_not_of_values() -> None:
    call = {"request": {"query": {"uid": "a"}}, "answer": {"status": 200, "body": {"Data": [{"N": 1}], "Next": None}}}
    same = {
        "request": {"query": {"uid": "b"}},
        "answer": {"status": 200, "body": {"Data": [{"N": 2}] * 2, "Next": None}},
    }
    assert shape(call) == shape(same)
    assert shape({"status": 200}) != shape({"status": 204})
    for other in ({"Data": [{"N": "1"}], "Next": None}, {"Data": [{"N": 1}]}, {"Data": [{"N": 1}], "Next": "x"}):
        assert shape({**call, "answer": {"status": 200, "body": other}}) != shape(call)


def test_recording_replaces_what_is_stale_and_keeps_the_rest() -> None:
    first, second, *_ = load_examples()
    old = {"made_by": "t::a", "request": {}, "answer": {"status": 200, "body": {"Id": "1"}}}
    changed = {**old, "answer": {"status": 200, "body": {"Id": 1}}}
    found = {first: {**old, "answer": {"status": 200, "body": {"Id": "2"}}}, second: changed}
    before = {first: old, second: old, "gone.operation": old}
    assert updated(before, found, replaces=False) == {first: old, second: changed}
    assert updated(before, found, replaces=True) == found
