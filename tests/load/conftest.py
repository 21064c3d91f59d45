"""Fixtures that start a server process for each test."""

import contextlib
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any, TextIO

import pytest

from tests.load.clients import Served


def run(settings: dict[str, Any], output: Connection) -> None:
    """Serve as `python -m tests.load` does: in a session of its own, its standard output read by the test."""
    from tests.load.application import main  # noqa: PLC0415 - loaded once, by the process that forks

    os.setsid()
    os.dup2(output.fileno(), sys.stdout.fileno())
    output.close()
    sys.exit(main(settings))


@pytest.fixture(scope="session")
def forking() -> ForkServerContext:
    """Return what starts processes as forks of a process that has loaded the application: loading it takes longer than most tests."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", "tests.load.application"])
    return context


@contextlib.contextmanager
def servers(forking: ForkServerContext) -> Iterator[Callable[..., Served]]:
    """Give a function that starts servers, and end them after the block."""
    started: list[tuple[ForkServerProcess, TextIO]] = []

    def start(**settings: Any) -> Served:
        reader, writer = forking.Pipe(duplex=False)
        process = forking.Process(target=run, args=(settings, writer))
        process.start()
        writer.close()
        stdout = os.fdopen(os.dup(reader.fileno()))
        reader.close()
        started.append((process, stdout))
        output: list[str] = []
        while line := stdout.readline():
            if line.startswith("ready "):
                host, _, port = line.split()[1].rpartition(":")
                if host == "unix":
                    host, port = port, "0"
                return Served(process, stdout, host, int(port), output)
            output.append(line.strip())
        raise AssertionError(f"the server did not start; it printed {output}")

    yield start
    for process, stdout in started:
        process.kill()
        process.join()
        stdout.close()


@pytest.fixture
def serving(forking: ForkServerContext) -> Iterator[Callable[..., Served]]:
    """Return a function that starts servers: `serving(workers=2, limits={"waiting": 4})`."""
    with servers(forking) as start:
        yield start


@pytest.fixture(scope="module")
def shared(forking: ForkServerContext) -> Iterator[Served]:
    """Return one server for the tests of a module, which leave nothing behind in it."""
    with servers(forking) as start:
        yield start(threads=4)


@pytest.fixture
def served(serving: Callable[..., Served]) -> Served:
    return serving(threads=4)
