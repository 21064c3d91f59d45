"""Settings of all tests. Fixtures are in tests/support, one module per subject."""

import gc
import os
import sys
from pathlib import Path

import hypothesis
import pytest

# Each test process and each server that a test starts would otherwise compile every module again, which takes a second.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

pytest_plugins = [
    "tests.support.durations",
    "tests.support.network",
    "tests.support.translations",
    "tests.support.services",
    "tests.support.audit_trails",
    "tests.support.databases",
    "tests.support.identity_service",
    "tests.support.oauth_world",
    "tests.support.tenant_server",
    "tests.support.members",
    "tests.support.joining",
    "tests.support.samples",
    "tests.support.browsers",
    "tests.support.visitor",
    "tests.support.hub_in_browser",
    "tests.support.upstream",
    "tests.support.logout_receiver",
    "tests.support.dns_server",
]

# Examples have no deadline, since a busy machine is no failure. The build runs the same examples each time.
hypothesis.settings.register_profile("gatehouse", deadline=None, print_blob=True, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("gatehouse")

# These depend on real time: a browser or a server process may stall for seconds on a busy machine. The summary lists the
# tests that needed a second run; tests of races and of product rules never run twice.
HERE = Path(__file__).parent
ON_THE_CLOCK = {HERE / "load", HERE / "browser", HERE / "api" / "test_demo.py", HERE / "api" / "test_installation.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    on_the_clock = {path for path in {item.path for item in items} if ON_THE_CLOCK & {path, *path.parents}}
    for item in items:
        if item.path in on_the_clock:
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_sessionstart() -> None:
    gc.disable()  # collection creates many thousands of lasting objects, and searching them for garbage takes seconds


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(10_000)  # as `gatehouse` does
    gc.enable()
