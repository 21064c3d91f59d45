"""The databases that a test runs on. pytest loads it as a plugin.

A test of the service runs on SQLite and on PostgreSQL. A test with a table of cases runs each case on SQLite and its first case on
PostgreSQL too: the others differ in what the rules answer, hardly in what the store is asked. Where the cases differ in the store
(races, tenants kept apart, hostile or stored values, an operation's success) the test or its module is marked `both_databases`.
A test of pages (tests/pages) runs on SQLite, unless it is so marked: the marked ones together send PostgreSQL each statement that any
test of pages sends (decision 0267).
`@pytest.mark.both_databases(variant={"as stated"})` runs those cases on both whose parameter `variant` is one of these.
`--databases both` runs every case on both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--databases",
        choices=("chosen", "both"),
        default="chosen",
        help="both: run every case on SQLite and PostgreSQL",
    )


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> object:
    result = yield
    mark = metafunc.definition.get_closest_marker("both_databases")
    if metafunc.config.getoption("--databases") == "chosen" and (mark is None or mark.kwargs):
        held = [one for one in metafunc._calls if one.params.get("services") == "postgres"]
        is_page = "pages" in metafunc.definition.path.parts and len(held) < len(metafunc._calls)
        on_postgres = [one for one in held if is_page or len(one.params) > 1]
        kept = _kept(on_postgres, mark, is_page=is_page)
        dropped = {id(one) for one in on_postgres} - {id(one) for one in kept}
        metafunc._calls = [one for one in metafunc._calls if id(one) not in dropped]
    return result


def _kept(on_postgres: list[Any], mark: pytest.Mark | None, *, is_page: bool) -> list[Any]:
    if mark is not None:
        return [one for one in on_postgres if _has(one.params, mark.kwargs)]
    return [] if is_page else on_postgres[:1]


def _has(params: Mapping[str, Any], wanted: Mapping[str, Iterable[Any]]) -> bool:
    return all(params[name] in values for name, values in wanted.items())
