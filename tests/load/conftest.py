"""Fixtures that start a server process for each test."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.load.clients import Served

ROOT = Path(__file__).parents[2]


@pytest.fixture
def serving() -> Iterator[Callable[..., Served]]:
    """Return a function that starts servers: `serving(workers=2, limits={"waiting": 4})`."""
    started: list[subprocess.Popen[str]] = []

    def start(**settings: Any) -> Served:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.load", json.dumps(settings)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        output: list[str] = []
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("ready "):
                address = line.split()[1]
                if address.startswith("unix:"):
                    return Served(process, address.removeprefix("unix:"), 0, output)
                host, port = address.rsplit(":", 1)
                return Served(process, host, int(port), output)
            output.append(line.strip())
        raise AssertionError(f"the server did not start; it printed {output}")

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def served(serving: Callable[..., Served]) -> Served:
    return serving(threads=4)
