"""The databases that a test runs on. pytest loads it as a plugin.

A test of the service runs on SQLite and on PostgreSQL. A test with a table of cases runs each case on SQLite and its first case on
PostgreSQL too: the others differ in what the rules answer, hardly in what the store is asked. Where the cases differ in the store
(races, tenants kept apart, hostile or stored values, an operation's success) the test or its module is marked `both_databases`.
`--databases both` runs every case on both.
"""

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
    if (
        metafunc.config.getoption("--databases") == "chosen"
        and metafunc.definition.get_closest_marker("both_databases") is None
    ):
        others = [one for one in metafunc._calls if len(one.params) > 1 and one.params.get("services") == "postgres"]
        dropped = {id(one) for one in others[1:]}
        metafunc._calls = [one for one in metafunc._calls if id(one) not in dropped]
    return result
