"""What every test stands on. Fixtures live in tests/support, one module per subject."""

import gc
import os
from pathlib import Path

import hypothesis
import pytest

pytest_plugins = [
    "tests.support.network",
    "tests.support.translations",
    "tests.support.services",
    "tests.support.audit_trails",
    "tests.support.identity_service",
    "tests.support.oauth_world",
    "tests.support.tenant_server",
    "tests.support.samples",
    "tests.support.browsers",
    "tests.support.visitor",
    "tests.support.hub_in_browser",
    "tests.support.upstream",
]

# A busy machine is no failure: hypothesis measures nothing here. The build tries the same examples each time.
hypothesis.settings.register_profile("house", deadline=None, print_blob=True, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("house")

# These meet the machine's own clock: a browser or a server process that stalls for seconds is no fault of ours. The
# summary lists what needed a second run; races and rules of the product are never run twice.
HERE = Path(__file__).parent
ON_THE_CLOCK = {HERE / "load", HERE / "browser", HERE / "api" / "test_demo.py", HERE / "api" / "test_installation.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if ON_THE_CLOCK & {item.path, *item.path.parents}:
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_sessionstart() -> None:
    gc.disable()  # collecting makes many thousands of objects that all stay: to look for garbage among them takes seconds


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
