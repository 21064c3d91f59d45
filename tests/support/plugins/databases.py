"""The databases that a test runs on. pytest loads it as a plugin.

A test over `services` (or `own_database`) runs on SQLite. In the folders `BY_MARK` it runs on PostgreSQL too if it or its module is marked
`both_databases`; in others unless it has a table of cases, of which then the first runs on both. The marked ones together send PostgreSQL
each statement, with each combination of types and each kind of outcome (no row, one, several, each error), that any test of the folder
sends (decisions 0267 and 0294). Races, tenants kept apart, and hostile or stored values are marked as such.
`@pytest.mark.both_databases("first")` runs the first case of a table on both, and
`@pytest.mark.both_databases(variant={"as stated"})` the cases whose parameter `variant` is spelt so.
`--databases both` runs every case on both, `--databases postgres` on PostgreSQL alone, where it can.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[2]
BY_MARK = {TESTS / "api", TESTS / "pages"}
DATABASES = ("services", "own_database")
"""The fixtures whose parameter is the database; outside of the folders `BY_MARK` the rule is for the first."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--databases",
        choices=("chosen", "both", "postgres"),
        default="chosen",
        help="both: run every case on SQLite and PostgreSQL; postgres: on PostgreSQL alone",
    )


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> object:
    result = yield
    mark = metafunc.definition.get_closest_marker("both_databases")
    chooses = metafunc.config.getoption("--databases") == "chosen" and (mark is None or mark.args or mark.kwargs)
    is_by_mark = not BY_MARK.isdisjoint(metafunc.definition.path.parents)
    fixtures = DATABASES if is_by_mark else DATABASES[:1]
    on_postgres = [call for call in metafunc._calls if "postgres" in map(call.params.get, fixtures)]
    if on_postgres and metafunc.config.getoption("--databases") == "postgres":
        metafunc._calls = on_postgres
    elif chooses and len(on_postgres) < len(metafunc._calls):  # else it runs on nothing but PostgreSQL
        chosen = {id(item) for item in _chosen(on_postgres, mark, is_by_mark=is_by_mark)}
        dropped = {id(postgre) for postgre in on_postgres} - chosen
        metafunc._calls = [call for call in metafunc._calls if id(call) not in dropped]
    return result


def _chosen(on_postgres: list[Any], mark: pytest.Mark | None, *, is_by_mark: bool) -> list[Any]:
    if mark is not None and mark.kwargs:
        return [postgre for postgre in on_postgres if _has(postgre.params, mark.kwargs)]
    if mark is not None:
        assert mark.args == ("first",), f"both_databases takes no {mark.args}"
        return on_postgres[:1]
    return [] if is_by_mark else on_postgres[:1]


def _has(params: Mapping[str, Any], expected: Mapping[str, Iterable[Any]]) -> bool:
    return all(str(params[name]) in values for name, values in expected.items())
