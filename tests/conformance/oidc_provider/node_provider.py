"""npm oidc-provider in a process of its own, and a person's browser at its pages."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any
from urllib.parse import urljoin

import httpx

from tests.conformance.openid_client.program import NODE
from tests.conformance.visitor import MAX_STEPS, FormReader
from tests.support.services.servers import NO_AUTHORITIES, PATIENCE_SECONDS

SCRIPT = Path(__file__).with_name("provider.mjs")


class NoAnswer(Exception):
    """The process did not print a line in time."""


@dataclass
class NodeProvider:
    """A running provider."""

    process: subprocess.Popen[str]
    log: Path
    lines: Queue[str] = field(default_factory=Queue)
    url: str = ""
    """The issuer."""

    def start(self) -> None:
        Thread(target=self._read, daemon=True).start()
        self.url = self._answer()["issuer"]

    def stop(self) -> None:
        """Close its stdin, at which it ends: `node` is a child of the process that was started."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(timeout=PATIENCE_SECONDS)
        finally:
            self.process.kill()

    def rotate_keys(self) -> None:
        """Replace every signing key."""
        assert self.process.stdin is not None
        self.process.stdin.write("{}\n")
        self.process.stdin.flush()
        assert self._answer() == {"rotated": True}

    def register(self, redirect_uri: str, **metadata: Any) -> tuple[str, str]:
        """Register a client (RFC 7591) and return its ID and secret."""
        body = {"redirect_uris": [redirect_uri], **metadata}
        answer = httpx.post(f"{self.url}/reg", json=body, timeout=30, verify=NO_AUTHORITIES)
        assert answer.status_code == 201, answer.text
        client: dict[str, str] = answer.json()
        return client["client_id"], client["client_secret"]

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)

    def _answer(self) -> Any:
        try:
            return json.loads(self.lines.get(timeout=PATIENCE_SECONDS))
        except Empty:
            raise NoAnswer(self.log.read_text(errors="replace")[-4000:]) from None


@contextmanager
def node_provider(folder: Path) -> Iterator[NodeProvider]:
    """Run a provider."""
    log = folder / "oidc-provider.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [NODE, SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )
    provider = NodeProvider(process, log)
    try:
        provider.start()
        yield provider
    finally:
        provider.stop()


class ProviderBrowser:
    """A person's browser at the provider. Its account there is the email that it signs in with."""

    def __init__(self, provider: NodeProvider, login: str) -> None:
        self.provider, self.login = provider, login
        self._http = httpx.Client(timeout=30, verify=NO_AUTHORITIES)
        self.asked: list[str] = []
        """Which pages of the provider it filled in: `login`, `consent`."""

    def sign_in(self, address: str) -> str:
        """Open the authorization address, fill in what the provider asks, and return the callback URL."""
        answer = self._http.get(address)
        for _ in range(MAX_STEPS):
            if callback := self._redirected(answer):
                if not callback.startswith(self.provider.url):
                    return callback
                answer = self._http.get(callback)
            else:
                answer = self._fill_in(answer)
        raise AssertionError(f"{self.provider.url} does not redirect back")

    def open(self, address: str) -> httpx.Response:
        """Open an address of the provider; return its page."""
        answer = self._http.get(address)
        while callback := self._redirected(answer):
            answer = self._http.get(callback)
        return answer

    def cancel(self, address: str) -> str:
        """Open the authorization address and cancel; return the callback URL."""
        page = self.open(address)
        (link,) = re.findall(r'href="([^"]+/abort)"', page.text)
        answer = self._http.get(urljoin(str(page.url), link))
        while (callback := self._redirected(answer)).startswith(self.provider.url):
            answer = self._http.get(callback)
        return callback

    def sign_out(self) -> None:
        """Sign out at the provider."""
        page = self.open(f"{self.provider.url}/session/end")
        assert self._redirected(self._fill_in(page)), page.text

    def _redirected(self, answer: httpx.Response) -> str:
        return urljoin(str(answer.url), answer.headers["location"]) if answer.is_redirect else ""

    def _fill_in(self, page: httpx.Response) -> httpx.Response:
        assert page.status_code == 200, f"{page.url} answered {page.status_code}: {page.text}"
        reader = FormReader()
        reader.feed(page.text)
        (form,) = reader.forms
        self.asked.append(form.values.get("prompt", "logout"))
        typed = {"login": form.values.get("login") or self.login, "password": "any"}
        known = {name: value for name, value in typed.items() if name in form.values}
        return self._http.post(urljoin(str(page.url), form.action), data={**form.values, **known})
