"""Executes a quickstart of docs/quickstarts from the text of its page, as a reader who pastes all of it.

The contract between a page and this module:

- A fenced block with `title="NAME"` in its info string is the file NAME of the reader's folder; with `title="NAME" append`, text that the
  reader adds to the end of that file. Files are written where they stand in the page, between the commands.
- A fenced block `sh` is pasted into a terminal, in the order of the page; other blocks are only read. Fences are not indented, and name
  their language.
- A block that begins with `gatehouse` is Gatehouse's: `gatehouse apply gatehouse.yaml` creates the tenant and the application, and
  `gatehouse serve` runs in a terminal of its own. All other `sh` blocks run in one shell, so an `export` lasts; the last one starts the
  app and does not return. Blocks with `terminal="NAME"` are pasted into another terminal meanwhile (quickstart_terminals.py).
- The page's account is ada@example.com with the password correct-horse-7 and the name Ada Lovelace (PERSON below).

What differs from a reader's machine, and nothing else:

- Gatehouse listens at a free port instead of 8000 and the app at a free one instead of 3000: these two numbers are replaced wherever
  they stand in the page as whole words. `gatehouse serve` gets `--bind` with the port.
- The commands of Gatehouse's blocks are processes that begin with the code loaded (`prefork.py`), without a shell: a line is a command.
- PASTED stands in the page where the reader pastes the client secret, with `-of-NAME` where the page has several applications. It is
  replaced by the one that `gatehouse apply` printed.
- Nothing is downloaded. The lines that install (INSTALLING) are not run: Python packages are those of this environment, that is of
  requirements-dev.lock, and `node_modules` is a link to the one of package-lock.json. A requirement that these do not fulfil fails the
  test, so that page and lock agree. With `from_registries=True` the lines run as they are.
- Programs find names below localhost at this machine even where its resolver does not know them (the reader has a line in /etc/hosts
  there): Python and Node.js by a module that they load at start, which `environment` names.

A page's app that `sign_in_and_out` can test has at `/` a link or button "Sign in" and, signed in, the user's name or email and a button or
link "Sign out"; at `/account`, for signed-in users alone, email and, if it has one, name.
Sign-out ends Gatehouse's session too and leads back to `/`. The app's addresses keep nothing of Gatehouse's answers.
It has the title Desk, an icon and the style sheet of the starter apps.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from packaging.requirements import Requirement
from playwright.sync_api import Locator, Page, expect

from tests.support.browsers.sign_up import type_new_account
from tests.support.processes.command_process import Command, forked
from tests.support.processes.commands import this_version
from tests.support.services.servers import free_port
from tests.support.sources import ROOT, text

FOLDER = Path("docs/quickstarts")
PASTED = "paste-the-client-secret"
INSTALLING = re.compile(r"^(?:python3 -m venv|\. \.venv/bin/activate|pip install|npm install)\b.*\n", re.MULTILINE)
PATIENCE_SECONDS = 60
DOWNLOAD_SECONDS = 600
"""How long an app may take whose packages come from registries."""
_BLOCK = re.compile(
    r'^```(\w+)(?: title="([^"]+)"( append)?)?(?: terminal="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL
)
_PASTED = re.compile(rf"{PASTED}(?:-of-([\w-]+))?")
_PYTHON_NAMES = """\
import socket
resolve = socket.getaddrinfo
def resolve_localhost(host, *more, **named):
    name = host.decode() if isinstance(host, bytes) else host
    return resolve("127.0.0.1" if name and name.endswith(".localhost") else host, *more, **named)
socket.getaddrinfo = resolve_localhost
"""
_NODE_NAMES = """\
import dns from "node:dns";
const resolve = dns.lookup;
dns.lookup = (host, ...more) => resolve(host.endsWith(".localhost") ? "127.0.0.1" : host, ...more);
"""


class DemoPerson(NamedTuple):
    email: str
    password: str
    name: str


PERSON = DemoPerson("ada@example.com", "correct-horse-7", "Ada Lovelace")
NAMELESS = DemoPerson("grace@example.com", "a-new-horse-for-desk-5", "")
"""Signs up at the tenant's form, which asks for no name."""


@dataclass(frozen=True)
class Block:
    """A fenced block: a file, or commands (`sh` without a name)."""

    language: str
    file: str
    is_appended: bool
    terminal: str
    """The terminal beside the app's that the commands are pasted into; empty for the app's."""
    code: str

    @property
    def is_script(self) -> bool:
        return self.language == "sh" and not self.file

    @property
    def is_of_gatehouse(self) -> bool:
        return self.is_script and self.code.startswith("gatehouse ")

    def write(self, home: Path) -> None:
        path = home / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a" if self.is_appended else "w") as file:
            file.write(self.code)


@dataclass(frozen=True)
class Quickstart:
    """A page's blocks, with the ports of one run."""

    blocks: list[Block]
    gatehouse_port: int
    app_port: int

    @property
    def app(self) -> str:
        return f"http://localhost:{self.app_port}"

    @property
    def issuer(self) -> str:
        return f"http://acme.localhost:{self.gatehouse_port}"


@dataclass(frozen=True)
class Running:
    """Gatehouse with the page's tenant, and all that the reader pastes into the app's terminal."""

    page: Quickstart
    folder: Path
    gatehouse: Command
    secrets: dict[str, str]
    """The client secrets that `gatehouse apply` printed, by the applications' names; a public client has none."""
    environment: dict[str, str]
    script: str
    names: Sequence[str] = ()
    """What a command begins with to find names below localhost, if no module does that."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """The tenant's `api_key` and `api_secret`, which `gatehouse apply` printed."""


def read(name: str) -> Quickstart:
    """Return the page of a quickstart, at free ports."""
    ports = {"8000": free_port(), "3000": free_port()}
    page = re.sub(r"\b(8000|3000)\b", lambda found: str(ports[found[0]]), text(FOLDER / f"{name}.md"))
    blocks = [
        Block(language, file, bool(more), terminal, code)
        for language, file, more, terminal, code in _BLOCK.findall(page)
    ]
    assert len(blocks) * 2 == page.count("```"), "a fence is indented, not closed or without a language"
    return Quickstart(blocks, ports["8000"], ports["3000"])


@contextmanager
def prepared(name: str, folder: Path, *, from_registries: bool = False) -> Iterator[Running]:
    """Apply the page's configuration in an empty folder, and serve Gatehouse while the block runs."""
    page, home, support = read(name), folder / "app", folder / "support"
    home.mkdir()
    environ, log, script = environment(support), support / "apply.log", ""
    if not from_registries:
        (home / "node_modules").symlink_to(ROOT / "node_modules")
    for number, block in enumerate(page.blocks):
        if block.code.startswith("gatehouse apply"):
            for line in block.code.splitlines():
                this_version().run(environ, *shlex.split(line)[1:], log=log, folder=home)
        elif block.file and not script:
            block.write(home)
        elif block.file:
            script += put(block, support / f"block-{number}")
        elif block.is_script and not block.is_of_gatehouse and not block.terminal:
            script += block.code if from_registries else without_installs(block.code)
    printed = log.read_text()
    secrets = dict(re.findall(r"application \S+/(\S+) client_secret: (\S+)", printed))
    gatehouse = forked(serve(page), home, environ, until="inbox.localhost")
    try:
        names = with_hosts_file(page, support) if from_registries else ()
        keys = dict(re.findall(r"tenant \S+ (api_\w+): (\S+)", printed))
        yield Running(page, home, gatehouse, secrets, environ, with_secrets(script, secrets), names, keys)
    finally:
        assert gatehouse.end(signal.SIGTERM) == 0


def serve(page: Quickstart) -> Sequence[str]:
    """Return the arguments of `gatehouse serve` at the port of a page."""
    return ["serve", "--bind", f"127.0.0.1:{page.gatehouse_port}"]


def with_secrets(script: str, secrets: dict[str, str]) -> str:
    """Return the commands with each secret in the place where the page says to paste it."""
    return _PASTED.sub(lambda found: secrets[found[1]] if found[1] else "".join(secrets.values()), script)


def put(block: Block, path: Path) -> str:
    """Return the commands that write the file of a block, whose text is kept outside until then."""
    path.write_text(block.code)
    name = shlex.quote(block.file)
    return f"mkdir -p $(dirname {name})\ncat {path} {'>>' if block.is_appended else '>'} {name}\n"


def without_installs(script: str) -> str:
    """Return the commands without those that install, after a check that the packages are installed."""
    for line in script.splitlines():
        check_installed(line)
    return INSTALLING.sub("", script)


@contextmanager
def app_started(running: Running) -> Iterator[str]:
    """Paste the app's blocks into one shell and return the app's address once it listens; end it with the block."""
    log = running.folder.parent / "app.log"
    with log.open("wb") as out:
        shell = subprocess.Popen(
            [*running.names, "bash", "-ec", running.script],
            cwd=running.folder, env=running.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
        )  # fmt: skip
    try:
        patience = DOWNLOAD_SECONDS if running.names else PATIENCE_SECONDS
        wait_for_port(running.page.app_port, lambda: shell.poll() is None, log, patience)
        yield running.page.app
    except BaseException:
        print(log.read_text(errors="replace")[-8000:])
        raise
    finally:
        with suppress(ProcessLookupError):  # the group: `npm run` and the like start the app as a child
            os.killpg(shell.pid, signal.SIGTERM)
        try:
            shell.wait(10)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)


def wait_for_port(port: int, is_alive: Callable[[], bool], log: Path, patience: float = PATIENCE_SECONDS) -> None:
    """Return once something listens at the port of localhost."""
    ends_at = time.monotonic() + patience
    while is_alive() and time.monotonic() < ends_at:
        with suppress(OSError), socket.create_connection(("localhost", port), timeout=1):
            return
        time.sleep(0.05)
    raise AssertionError(f"the app did not come up:\n{log.read_text(errors='replace')[-4000:]}")


def environment(support: Path) -> dict[str, str]:
    """Return the variables of the reader's terminals: names below localhost are found."""
    support.mkdir()
    python_names, node_names = support / "sitecustomize.py", support / "names.mjs"
    python_names.write_text(_PYTHON_NAMES)
    node_names.write_text(_NODE_NAMES)
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("GATEHOUSE_", "OIDC_"))}
    names = {"PYTHONPATH": str(support), "NODE_OPTIONS": f"--import={node_names.as_uri()}"}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**ours, **names, "PATH": path, "GATEHOUSE_DATA_DIR": str(support / "data")}


def with_hosts_file(page: Quickstart, support: Path) -> Sequence[str]:
    """Return the beginning of a command that adds to /etc/hosts the line that a reader adds, for its own processes alone."""
    hosts, host = support / "hosts", urlsplit(page.issuer).hostname
    hosts.write_text(f"{Path('/etc/hosts').read_text()}\n127.0.0.1 {host}\n")
    namespace = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    return [*namespace, "sh", "-ec", f'mount --bind {hosts} /etc/hosts && exec "$@"', "sh"]


def check_installed(line: str) -> None:
    """Fail if a line of a page installs what the locked packages do not fulfil."""
    command = shlex.split(line, comments=True)
    names = [part for part in command[2:] if not part.startswith("-")]
    if command[:2] == ["pip", "install"]:
        for requirement in map(Requirement, names):
            version = importlib.metadata.version(requirement.name)
            assert requirement.specifier.contains(version), f"{requirement} in the page, {version} in the lock"
            assert requirement.specifier, f"{requirement} names no version"
    elif command[:2] == ["npm", "install"]:
        for package in names:
            name, _, expected = package.rpartition("@")
            assert name, f"{package} names no version"
            version = json.loads(text(Path("node_modules") / name / "package.json"))["version"]
            assert f"{version}.".startswith(f"{expected}."), f"{package} in the page, {version} in the lock"


def sign_in(tab: Page, app: str, person: DemoPerson = PERSON) -> None:
    """Sign in on Gatehouse's page, pass over the offer of a passkey, and return at a page of the app."""
    tab.wait_for_url("**/login**")
    tab.locator("main input[name=identifier]").fill(person.email)
    tab.locator("main input[name=password]").fill(person.password)
    tab.locator("main input[name=password]").press("Enter")
    tab.wait_for_url(lambda url: url.startswith(f"{app}/") or "passkey" in urlsplit(url).path)
    if not tab.url.startswith(f"{app}/"):
        tab.get_by_role("button", name="Not now").click()
        tab.wait_for_url(lambda url: url.startswith(f"{app}/"))


def sign_in_and_out(tab: Page, app: str, *, protected: str = "/account") -> None:
    """Test the app: the protected page asks for sign-in and then shows the user; sign-out ends both sessions."""

    def link_or_button(name: str) -> Locator:
        return tab.get_by_role("link", name=name).or_(tab.get_by_role("button", name=name))

    tab.goto(f"{app}/")
    expect(link_or_button("Sign in")).to_be_visible()
    expect(tab.get_by_text(PERSON.email)).to_have_count(0)
    tab.goto(f"{app}{protected}")
    sign_in(tab, app)
    tab.wait_for_url(f"{app}{protected}")
    expect(tab).to_have_title("Desk")
    expect(tab.locator("link[rel=icon]")).to_have_count(1)
    expect(tab.get_by_role("main")).to_have_css("max-width", "720px")  # the style sheet is loaded
    expect(tab.get_by_text(PERSON.name)).to_be_visible()
    expect(tab.get_by_text(PERSON.email)).to_be_visible()
    tab.goto(f"{app}/")
    expect(tab.get_by_text(PERSON.name).or_(tab.get_by_text(PERSON.email)).first).to_be_visible()
    link_or_button("Sign out").click()
    tab.wait_for_url(f"{app}/")
    expect(link_or_button("Sign in")).to_be_visible()
    tab.goto(f"{app}{protected}")
    tab.wait_for_url("**/login**")  # neither the app nor Gatehouse knows the user any more


def sign_up_without_name(tab: Page, running: Running, app: str) -> None:
    """Test the app with a new account, which has no name: the protected page shows the email and no empty or absent value."""
    tab.goto(f"{app}/account")
    tab.wait_for_url("**/login**")
    tab.get_by_role("button", name="Create account").click()
    type_new_account(tab, NAMELESS.email, NAMELESS.password)
    tab.locator("main input[name=password]").press("Enter")
    expect(tab.get_by_role("heading", name="Check your email")).to_be_visible()
    gatehouse = running.gatehouse
    tab.goto(gatehouse.ask("GET", gatehouse.at("inbox", "/messages.json")).json()[0]["links"][0])
    tab.wait_for_url(lambda url: url == f"{app}/account" or "passkey" in urlsplit(url).path)
    if tab.url != f"{app}/account":
        tab.get_by_role("button", name="Not now").click()
    expect(tab.get_by_text(NAMELESS.email)).to_be_visible()
    shown = tab.get_by_role("main").inner_text()
    assert re.findall(r"\b(?:Name|None|null|undefined)\b", shown) == [], shown
    assert all(tab.get_by_role("main").locator("h1, dd").all_inner_texts())
