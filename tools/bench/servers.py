"""Server processes with the CPU time and memory of the whole process tree."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

PATIENCE_SECONDS = 60


class DidNotStart(Exception):
    """A server did not come up; the text is the end of its log."""


@dataclass
class BenchServer:
    """A running server on a port of its own."""

    process: "subprocess.Popen[bytes]"
    port: int
    log: Path

    @classmethod
    def start(cls, command: Sequence[str], port: int, log: Path, environment: Mapping[str, str] | None = None) -> Self:
        """Start it and wait until it takes connections."""
        with log.open("wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, **(environment or {})})
        server = cls(process, port, log)
        ends_at = time.monotonic() + PATIENCE_SECONDS
        while not is_open(port):
            if process.poll() is not None or time.monotonic() > ends_at:
                server.stop()
                raise DidNotStart(f"{' '.join(command)}\n{log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.005)
        return server

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()

    def cpu_seconds(self) -> float:
        """User and system time of all threads of the process tree, to the nanosecond; not of threads that have ended."""
        return sum(_cpu_nanoseconds(process) for process in self._tree()) / 1e9

    def memory_mb(self) -> float:
        """Resident memory of the tree; pages that two processes share are split between them."""
        kib = 0
        for process in self._tree():
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    kib += int(line.split()[1])
        return kib / 1024

    def _tree(self) -> list[int]:
        found = [self.process.pid]
        for process in found:
            for task in Path(f"/proc/{process}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
        return found


def _cpu_nanoseconds(process: int) -> int:
    """`/proc/<pid>/stat` counts in hundredths of a second: a turn of a sign-in has twenty."""
    return sum(int(file.read_text().split()[0]) for file in Path(f"/proc/{process}/task").glob("*/schedstat"))


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def is_open(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
