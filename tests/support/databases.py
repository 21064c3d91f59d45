"""The databases that a test runs on. pytest loads it as a plugin.

A test of the service runs on SQLite and on PostgreSQL. A test with a table of cases runs each case on SQLite and its first case on
PostgreSQL too: the others differ in what the rules answer, hardly in what the store is asked. Where the cases differ in the store
(races, tenants kept apart, hostile or stored values, an operation's success) the test or its module is marked `both_databases`.
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
        on_postgres = [
            one for one in metafunc._calls if len(one.params) > 1 and one.params.get("services") == "postgres"
        ]
        kept = on_postgres[:1] if mark is None else [one for one in on_postgres if _has(one.params, mark.kwargs)]
        dropped = {id(one) for one in on_postgres} - {id(one) for one in kept}
        metafunc._calls = [one for one in metafunc._calls if id(one) not in dropped]
    return result


def _has(params: Mapping[str, Any], wanted: Mapping[str, Iterable[Any]]) -> bool:
    return all(params[name] in values for name, values in wanted.items())
