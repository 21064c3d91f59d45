"""Compile the translations before the first test, so that a page never shows yesterday's words. pytest loads it as a plugin."""

import pytest

from tools import translations


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        translations.compile_all()
