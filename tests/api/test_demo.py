"""`gatehouse demo` as a process: one command, and a sign-in at the shop."""

import html
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx
import pytest

from tests.support.servers import is_gone

COMMAND = [sys.executable, "-m", "app.cli", "demo", "--bind", "127.0.0.1:0"]
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Demo:
    """The running command and a simple browser, which follows redirects across hosts with one cookie jar per host."""

    process: subprocess.Popen[str]
    output: str
    jars: dict[str, httpx.Client] = field(default_factory=dict)

    @property
    def port(self) -> int:
        found = re.search(r"http://shop\.localhost:(\d+)", self.output)
        assert found, self.output
        return int(found[1])

    def forget(self) -> None:
        """Drop all cookies, like another browser."""
        for jar in self.jars.values():
            jar.close()
        self.jars.clear()

    def end(self, how: int) -> int:
        """Send the signal and return the exit status."""
        self.forget()
        self.process.send_signal(how)
        status = self.process.wait(30)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return status

    def at(self, host: str, path: str = "/") -> str:
        return f"http://{host}.localhost:{self.port}{path}"

    def ask(self, method: str, url: str, **how: dict[str, str]) -> httpx.Response:
        """Send one request by address, with the Host header that the URL names."""
        parts = urlsplit(url)
        jar = self.jars.setdefault(parts.netloc, httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=20))
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
        """Submit the form of a page with the typed values."""
        form = re.search(r'<form[^>]*method="post"[^>]*>', page.text)
        assert form
        action = re.search(r'action="([^"]*)"', form[0])
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
        hidden |= dict(re.findall(r'<input[^>]*name="([^"]+)"[^>]*type="hidden"[^>]*value="([^"]*)"', page.text))
        values = {key: html.unescape(value) for key, value in hidden.items()} | typed
        return self.open(urljoin(url, html.unescape(action[1]) if action else ""), "POST", data=values)


def started(folder: Path) -> Demo:
    process = subprocess.Popen(
        [*COMMAND, "--data", str(folder)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    said = ""
    assert process.stdout is not None
    for line in process.stdout:
        said += line
        if "Ctrl-C" in line:
            return Demo(process, said)
    raise AssertionError(f"the demo ended with {process.wait()}:\n{said}")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    running = started(tmp_path_factory.mktemp("demo"))
    yield running
    assert running.end(signal.SIGTERM) == 0


def test_output_lists_addresses_and_accounts(demo: Demo) -> None:
    for host in ("shop", "acme", "globex", "inbox"):
        assert demo.at(host, "") in demo.output
    assert demo.at("api", "/docs") in demo.output
    assert re.search(r"ada@example\.com +password: \S+", demo.output)


def test_account_signs_in_and_out_at_shop(demo: Demo) -> None:
    demo.forget()
    page, url = demo.open(demo.at("shop", "/sign-in/acme"))
    assert urlsplit(url).path == "/login"
    page, url = demo.submit(page, url, identifier="ada@example.com", password="correct-horse-7")
    assert "Welcome to the shop, Ada" in page.text
    page, _ = demo.open(demo.at("shop", "/sign-out"), "POST")
    assert "Welcome" not in page.text
    _, url = demo.open(demo.at("shop", "/sign-in/acme"))
    assert urlsplit(url).path == "/login"


def test_account_of_one_tenant_signs_in_through_another(demo: Demo) -> None:
    demo.forget()
    page, url = demo.open(demo.at("shop", "/sign-in/acme"))
    asked = re.search(r"attempt=([^&\"]+)", url)
    assert asked
    page, url = demo.open(demo.at("acme", f"/sign-in/with?provider=globex&attempt={asked[1]}"))
    assert url.startswith(demo.at("globex", "/login"))
    page, url = demo.submit(page, url, identifier="ada@example.com", password="another-horse-8")
    assert "Welcome to the shop, Ada" in page.text


def test_wrong_password_stays_on_login_page(demo: Demo) -> None:
    demo.forget()
    page, url = demo.open(demo.at("shop", "/sign-in/acme"))
    page, url = demo.submit(page, url, identifier="ada@example.com", password="wrong-horse-7")
    assert (urlsplit(url).path, page.status_code) == ("/login", 401)


def test_second_tenant_has_own_accounts_and_asks_consent(demo: Demo) -> None:
    demo.forget()
    page, url = demo.open(demo.at("shop", "/sign-in/globex"))
    page, url = demo.submit(page, url, identifier="ada@example.com", password="correct-horse-7")
    assert page.status_code == 401
    page, url = demo.submit(page, url, identifier="ada@example.com", password="another-horse-8")
    assert urlsplit(url).path == "/consent"


@pytest.mark.parametrize(
    ("host", "path", "kind"),
    [
        ("api", "/docs", "text/html"),
        ("api", "/openapi.json", "application/json"),
        ("inbox", "/", "text/html"),
        ("inbox", "/messages.json", "application/json"),
        ("acme", "/.well-known/openid-configuration", "application/json"),
        ("acme", "/health/ready", "application/json"),
    ],
)
def test_other_addresses_answer(demo: Demo, host: str, path: str, kind: str) -> None:
    answer = demo.ask("GET", demo.at(host, path))
    assert (answer.status_code, answer.headers["Content-Type"].partition(";")[0]) == (200, kind)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_start_page_lists_addresses_and_accounts(demo: Demo, host: str) -> None:
    answer = demo.ask("GET", f"http://{host}:{demo.port}/")
    assert answer.status_code == 200
    for name in ("shop", "acme", "globex", "inbox"):
        assert f'href="{demo.at(name, "")}"' in answer.text
    assert f'href="{demo.at("api", "/docs")}"' in answer.text
    assert "<dd>ada@example.com</dd><dt>Password</dt><dd>correct-horse-7</dd>" in answer.text
    assert "'unsafe" not in answer.headers["Content-Security-Policy"]
    style = demo.ask("GET", f"http://{host}:{demo.port}/demo.css")
    assert style.headers["Content-Type"].startswith("text/css")
    assert demo.ask("GET", f"http://{host}:{demo.port}/health/live").status_code == 200
    assert demo.ask("GET", f"http://{host}:{demo.port}/login").status_code == 404
    assert demo.ask("GET", demo.at("nobody")).status_code == 404


def test_api_root_redirects_to_reference(demo: Demo) -> None:
    answer = demo.ask("GET", demo.at("api", "/"))
    assert (answer.status_code, answer.headers["Location"]) == (302, "/docs")


def test_reference_loads_nothing_external_and_no_script(demo: Demo) -> None:
    answer = demo.ask("GET", demo.at("api", "/docs"))
    assert re.findall(r"<script|https?://(?!api\.localhost)[^<\"\s]*(?=\")", answer.text) == []
    assert "'unsafe" not in answer.headers["Content-Security-Policy"]


def test_shop_imports_nothing_from_app() -> None:
    sources = [path.read_text() for path in (ROOT / "examples" / "shop").rglob("*.py")]
    assert sources
    assert not any(re.search(r"^\s*(?:from|import) app\b", text, re.MULTILINE) for text in sources)


def test_demo_stops_its_shop_and_restarts_on_same_data(tmp_path: Path) -> None:
    for ending in (signal.SIGINT, signal.SIGTERM):
        running = started(tmp_path)
        children = Path(f"/proc/{running.process.pid}/task/{running.process.pid}/children").read_text().split()
        assert children
        assert running.end(ending) == 0
        assert all(is_gone(int(child)) for child in children)


def test_shop_ends_after_demo_is_killed(tmp_path: Path) -> None:
    running = started(tmp_path)
    (child,) = Path(f"/proc/{running.process.pid}/task/{running.process.pid}/children").read_text().split()
    assert running.end(signal.SIGKILL) == -signal.SIGKILL
    ends_at = time.monotonic() + 20
    while not is_gone(int(child)) and time.monotonic() < ends_at:
        time.sleep(0.05)
    assert is_gone(int(child))
