"""Commands of `gatehouse` as processes of their own that share one import of the code: in a run, all workers share it."""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.services.real_services import shared
from tests.support.services.servers import TestServer

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Version:
    """The code of one version, loaded once; its commands run as processes of their own."""

    server: TestServer
    """What starts them; where nothing else is said, they write into its log."""

    @classmethod
    def load(cls, root: Path, log: Path | None = None) -> Version:
        """Load the code in a folder."""
        server = TestServer(Path(tempfile.mkdtemp(prefix="gatehouse-commands-", dir="/tmp")), port=0)
        if log is not None:
            (server.folder / "server.log").symlink_to(log)
        made = cls(server)
        command = [sys.executable, "-m", "tests.support.processes.prefork", str(made.socket)]
        server.launch(command, made.ping, OSError, env={**os.environ, "PYTHONPATH": str(root)})
        return made

    @property
    def log(self) -> Path:
        return self.server.folder / "server.log"

    @property
    def socket(self) -> Path:
        return self.server.folder / "socket"

    def ping(self) -> None:
        self._ask({})

    def start(
        self,
        environ: Mapping[str, str],
        *arguments: str,
        log: Path | None = None,
        folder: Path | None = None,
        program: str = "app.cli",
    ) -> int:
        """Start a command that goes on, in a folder; return its process id. `program` is the module whose `main` it runs."""
        what = {"program": program, "arguments": arguments, "environ": dict(environ)}
        pid: int = self._ask({**what, "log": str(log or self.log), "folder": str(folder or ROOT)})
        return pid

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
        pid = self.start(environ, *arguments, log=log, folder=folder)
        while (status := self.status(pid)) is None:
            time.sleep(0.02)
        return status

    def status(self, pid: int) -> int | None:
        """Return the exit status of a started command, None while it runs."""
        found: int | None = self._ask({"pid": pid})
        return found

    def close(self) -> None:
        self.server.remove()

    def _ask(self, requested: dict[str, Any]) -> Any:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.socket))
            with connection.makefile("rw") as lines:
                lines.write(json.dumps(requested) + "\n")
                lines.flush()
                said = lines.readline()
        assert said, self.log.read_text()[-4000:]
        return json.loads(said)


@cache
def this_version() -> Version:
    """Return the code under test, loaded by the first test of the run that runs a command of it."""
    return Version(shared("commands", lambda: Version.load(ROOT).server))
