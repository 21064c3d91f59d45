"""A command as a process that serves until it is stopped, and a simple browser for its pages."""

import html
import os
import re
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO
from urllib.parse import urljoin, urlsplit

import httpx

from tests.support.processes.commands import this_version
from tests.support.services.servers import NO_AUTHORITIES


@dataclass
class HostsBrowser:
    """Follows redirects across the hosts of this machine with one cookie jar per host; resolves no names."""

    jars: dict[str, httpx.Client] = field(default_factory=dict)

    def forget(self) -> None:
        """Drop all cookies, like another browser."""
        for jar in self.jars.values():
            jar.close()
        self.jars.clear()

    def ask(self, method: str, url: str, **how: dict[str, str]) -> httpx.Response:
        """Send one request by address, with the Host header that the URL names."""
        parts = urlsplit(url)
        jar = self.jars.setdefault(
            parts.netloc, httpx.Client(base_url=f"http://127.0.0.1:{parts.port}", timeout=20, verify=NO_AUTHORITIES)
        )
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        return jar.request(method, path, headers={"Host": parts.netloc}, **how)  # type: ignore[arg-type]  # data= of a form

    def open(self, url: str, method: str = "GET", **how: dict[str, str]) -> tuple[httpx.Response, str]:
        """Return the page where redirects end, and its address."""
        answer = self.ask(method, url, **how)
        while answer.is_redirect:
            url = urljoin(url, answer.headers["Location"])
            answer = self.ask("GET", url)
        return answer, url

    def submit(self, page: httpx.Response, url: str, **typed: str) -> tuple[httpx.Response, str]:
        """Submit the form of a page that has fields or buttons for the typed values."""
        forms = re.finditer(r'(<form[^>]*method="post"[^>]*>)(.*?)</form>', page.text, re.DOTALL)
        form = next((each for each in forms if all(f'name="{name}"' in each[2] for name in typed)), None)
        assert form, page.text
        action = re.search(r'action="([^"]*)"', form[1])
        hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form[2])
        hidden += re.findall(r'<input[^>]*name="([^"]+)"[^>]*type="hidden"[^>]*value="([^"]*)"', form[2])
        button = re.search(r'<button type="submit"[^>]*>', form[2])  # Enter presses it
        hidden += re.findall(r'name="([^"]+)" value="([^"]*)"', button[0] if button else "")
        values = {key: html.unescape(value) for key, value in hidden} | typed
        return self.open(urljoin(url, html.unescape(action[1]) if action else ""), "POST", data=values)


@dataclass(frozen=True)
class Forked:
    """A process of `this_version`, as much of a Popen as tests need."""

    pid: int
    stdout: TextIO | None = None

    def send_signal(self, how: int) -> None:
        os.kill(self.pid, how)

    def wait(self, timeout: float) -> int:
        ends_at = time.monotonic() + timeout
        while (status := this_version().status(self.pid)) is None:
            if time.monotonic() > ends_at:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.02)
        return status


@dataclass
class Command(HostsBrowser):
    """The running command, its output until it was ready, and the browser of its visitor."""

    process: subprocess.Popen[str] | Forked = field(kw_only=True)
    output: str = field(kw_only=True)
    is_read: bool = field(kw_only=True, default=True)
    """Whether the test may read what the command prints later; else a thread does."""

    @property
    def port(self) -> int:
        """The port of the hub domain, from the printed address of the inbox."""
        found = re.search(r"http://inbox\.localhost:(\d+)", self.output)
        assert found, self.output
        return int(found[1])

    def at(self, host: str, path: str = "/") -> str:
        return f"http://{host}.localhost:{self.port}{path}"

    def end(self, how: int) -> int:
        """Send the signal and return the exit status."""
        self.forget()
        self.process.send_signal(how)
        status = self.process.wait(30)
        if self.is_read and self.process.stdout is not None:
            self.process.stdout.close()
        return status


def started(
    command: Sequence[str], cwd: Path, environ: Mapping[str, str] | None = None, until: str = "Ctrl-C"
) -> Command:
    """Start the command and return once it has printed `until`."""
    process = subprocess.Popen(
        command, cwd=cwd, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return ready(process, until)


def forked(
    arguments: Sequence[str], cwd: Path, environ: Mapping[str, str], until: str = "Ctrl-C", *, is_read: bool = False
) -> Command:
    """Do as `started` with `gatehouse` and the arguments, from the code that is loaded already: for tests of what the command serves.

    Args:
        is_read: the test reads what the command prints later; else nobody needs it, and a full pipe stops no command.
    """
    with TemporaryDirectory() as folder:
        said = Path(folder) / "said"
        os.mkfifo(said)
        pid = this_version().start(environ, *arguments, log=said, folder=cwd)
        command = ready(Forked(pid, output := said.open()), until)
        command.is_read = is_read
        if not is_read:
            threading.Thread(target=_read_on, args=(output,), name="output", daemon=True).start()
        return command


def ready(process: subprocess.Popen[str] | Forked, until: str) -> Command:
    """Return the command once it has printed `until`."""
    said = ""
    assert process.stdout is not None
    for line in process.stdout:
        said += line
        if until in line:
            return Command(process=process, output=said)
    raise AssertionError(f"the command ended with {process.wait(30)}:\n{said}")


def _read_on(output: TextIO) -> None:
    """Read to the end of the command's output, and close it."""
    with output:
        for _ in output:
            pass
