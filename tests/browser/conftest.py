"""A browser does not see which database stands behind the pages: its journeys run on one, but for those that say otherwise."""

import pytest

from tests.support.identity_service import on_one_database


@pytest.hookimpl(tryfirst=True)  # before the fixture states its own two
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    stated = {mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")}
    if "services" in metafunc.fixturenames and "services" not in stated:
        metafunc.definition.add_marker(on_one_database)
