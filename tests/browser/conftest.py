"""Run browser tests on one database, except those that are parametrized."""

import pytest

from tests.support.services.identity_service import on_one_database


@pytest.hookimpl(tryfirst=True)  # before the fixture adds its own two databases
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrized = {mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")}
    if "services" in metafunc.fixturenames and "services" not in parametrized:
        metafunc.definition.add_marker(on_one_database)
