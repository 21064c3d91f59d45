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
from typing import Any

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

    def start(
        self,
        environ: Mapping[str, str],
        *arguments: str,
        log: Path | None = None,
        folder: Path | None = None,
        program: str = "app.cli",
    ) -> int:
        """Start a command that goes on, in a folder; return its process id. `program` is the module whose `main` it runs."""
        return self._run(environ, arguments, log or self.log, folder, program, waits=False)

    def run(
        self, environ: Mapping[str, str], *arguments: str, log: Path | None = None, folder: Path | None = None
    ) -> None:
        """Run a command to its end, which must be a good one."""
        log = log or self.log
        assert self.exit_status(environ, *arguments, log=log, folder=folder) == 0, log.read_text()[-4000:]

    def exit_status(
        self, environ: Mapping[str, str], *arguments: str, log: Path | None = None, folder: Path | None = None
    ) -> int:
        """Run a command to its end, good or not."""
        return self._run(environ, arguments, log or self.log, folder, waits=True)

    def status(self, pid: int) -> int | None:
        """Return the exit status of a started command, None while it runs."""
        found: int | None = self._ask({"pid": pid})
        return found

    def close(self) -> None:
        end(self._process.pid, signal.SIGKILL)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _run(
        self,
        environ: Mapping[str, str],
        arguments: tuple[str, ...],
        log: Path,
        folder: Path | None,
        program: str = "app.cli",
        *,
        waits: bool,
    ) -> int:
        what = {"program": program, "arguments": arguments, "environ": dict(environ), "waits": waits}
        return int(self._ask({**what, "log": str(log), "folder": str(folder or self.root)}))

    def _ask(self, asked: dict[str, Any]) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        while (said := self._process.stdout.readline().strip()) == "ready":
            pass
        assert said, self.log.read_text()[-4000:]
        return json.loads(said)


@cache
def this_version() -> Version:
    """Return the code under test, loaded by the first test that runs a command of it."""
    made = Version(ROOT, Path(tempfile.mkdtemp(prefix="gatehouse-commands-")) / "log")
    atexit.register(made.close)
    return made
