"""Commands of `gatehouse` as processes of their own that share one import of the code."""

from __future__ import annotations

import atexit
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.support.servers import end

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Version:
    """The code of one version, loaded once; its commands run as processes of their own."""

    root: Path
    log: Path
    _process: subprocess.Popen[str] = field(init=False)

    def __post_init__(self) -> None:
        command = [sys.executable, "-m", "tests.support.prefork"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=self.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )

    def start(self, environ: Mapping[str, str], *arguments: str, log: Path | None = None) -> int:
        """Start a command that goes on; return its process id."""
        return self._ask(environ, arguments, log or self.log, waits=False)

    def run(self, environ: Mapping[str, str], *arguments: str, log: Path | None = None) -> None:
        """Run a command to its end, which must be a good one."""
        log = log or self.log
        assert self._ask(environ, arguments, log, waits=True) == 0, log.read_text()[-4000:]

    def close(self) -> None:
        end(self._process.pid, signal.SIGKILL)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _ask(self, environ: Mapping[str, str], arguments: tuple[str, ...], log: Path, *, waits: bool) -> int:
        assert self._process.stdin
        assert self._process.stdout
        asked = {"arguments": arguments, "environ": dict(environ), "log": str(log), "waits": waits}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        while (said := self._process.stdout.readline().strip()) == "ready":
            pass
        assert said, self.log.read_text()[-4000:]
        return int(said)


@cache
def this_version() -> Version:
    """Return the code under test, loaded by the first test that runs a command of it."""
    made = Version(ROOT, Path(tempfile.mkdtemp(prefix="gatehouse-commands-")) / "log")
    atexit.register(made.close)
    return made
