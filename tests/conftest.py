"""Settings of all tests. Fixtures are in tests/support, one module per subject."""

import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

# Each test process and each server that a test starts would otherwise compile every module again, which takes a second. Before the
# plugins below: pytest rewrites the assertions of Hypothesis, too, and keeps the result from run to run.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

gc.disable()  # imported modules and collected tests stay, and searching them for garbage takes seconds

pytest_plugins = [
    "tests.support.plugins.generated",
    "tests.support.plugins.durations",
    "tests.support.plugins.examples",
    "tests.support.plugins.network",
    "tests.support.plugins.log_fields",
    "tests.support.services.citus",
    "tests.support.services.real_services",
    "tests.support.database.audit_trails",
    "tests.support.plugins.databases",
    "tests.support.plugins.distribution",
    "tests.support.plugins.lock_upgrades",
    "tests.support.services.identity_service",
    "tests.support.oauth.world",
    "tests.support.tenants.tenant_server",
    "tests.support.tenants.webhook_deliveries",
    "tests.support.organizations.members",
    "tests.support.organizations.open_organization",
    "tests.support.browsers.page_samples",
    "tests.support.browsers.theme_samples",
    "tests.support.browsers.chromium",
    "tests.support.plugins.local_calls",
    "tests.support.plugins.over_http",
    "tests.support.visitors.visitor",
    "tests.support.visitors.scripted_answers",
    "tests.support.browsers.hub_in_browser",
    "tests.support.fakes.identity_provider",
    "tests.support.fakes.logout_receiver",
    "tests.support.fakes.dns_server",
    "tests.support.journeys.invitations",
    "tests.support.journeys.organization_members",
    "tests.support.oauth.token_exchange",
    "tests.support.workflows.called_server",
]

# What a process makes before it searches for garbage: five times what `gatehouse` does, for tests end before they fill the memory.
GARBAGE = 50_000

# These depend on real time: a browser or a server process may stall for seconds on a busy machine. The summary lists the
# tests that needed a second run; tests of races and of product rules never run twice.
HERE = Path(__file__).parent
ON_THE_CLOCK = {
    HERE / "load",
    HERE / "browser",
    HERE / "api" / "commands" / "test_demo.py",
    HERE / "api" / "operating" / "test_installation.py",
}
WITH_PROCESSES = {
    HERE / "api" / folder / f"test_{name}.py"
    for folder, names in {
        "hub_calls": ("separate_processes",),
        "operating": (
            "backups", "hanging_dependencies", "rotation_under_load", "several_database_hosts", "upgrade_under_load",
        ),
        "platform": ("outbox_workers",),
        "registration": ("under_faults",),
    }.items()
    for name in names
}  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Leave the seed of `random` alone: no test draws from it, and it would be set three times per test."""
    config.option.randomly_reset_seed = False


@pytest.hookimpl(trylast=True)  # after the files were put in random order
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest tests first: while the last tests run, no worker waits for one of these."""
    paths = {item.path for item in items}
    on_the_clock = {path for path in paths if ON_THE_CLOCK & {path, *path.parents}}
    for item in items:
        if item.path in on_the_clock:
            item.add_marker(pytest.mark.flaky(reruns=1))
    first = on_the_clock | (paths & WITH_PROCESSES) | {path for path in paths if HERE / "conformance" in path.parents}
    items.sort(key=lambda item: item.path not in first)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Have each worker begin with modules of its own: one rewrites the assertions of a new module, the others read the result."""
    if (worker := getattr(session.config, "workerinput", None)) is None:
        return
    paths = [Path(argument.partition("::")[0]) for argument in session.config.args]
    files = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("test_*.py")))]
    number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    for file in files[len(files) * number // count : len(files) * (number + 1) // count]:
        with suppress(Exception):  # pytest reports the error
            import_module(".".join(file.resolve().relative_to(HERE.parent).with_suffix("").parts))


def pytest_xdist_auto_num_workers() -> int:
    """Return one more than the machine has cores: a quarter of the time a worker waits for a server, a browser or a clock."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(GARBAGE)
    gc.enable()
