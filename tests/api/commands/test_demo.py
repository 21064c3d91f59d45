"""`gatehouse demo` as a process: one command, and a sign-in at the shop."""

import os
import re
import signal
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import yaml

from app.kit.package_files import EXAMPLES
from tests.support.processes.command_process import Command, forked
from tests.support.processes.installation import eventually
from tests.support.services.servers import is_gone

ACCOUNTS = [
    (account["email"], account["password"])
    for tenant in yaml.safe_load((EXAMPLES / "demo.yaml").read_text())["tenants"]
    for account in tenant["accounts"]
]
ROOT = Path(__file__).resolve().parents[3]


def started(folder: Path) -> Command:
    return forked(["demo", "--bind", "127.0.0.1:0", "--data", str(folder)], ROOT, os.environ)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    running = started(tmp_path_factory.mktemp("demo"))
    yield running
    shop = shop_of(running)
    assert running.end(signal.SIGTERM) == 0
    assert is_gone(shop)


def test_output_lists_addresses_and_accounts(demo: Command) -> None:
    assert f"Open http://localhost:{demo.port} in" in demo.output
    for host in ("shop", "acme", "globex", "inbox"):
        assert demo.at(host, "") in demo.output
    assert demo.at("api", "/docs") in demo.output
    for email, password in ACCOUNTS:
        assert re.search(rf"{re.escape(email)} +password: {re.escape(password)}$", demo.output, re.MULTILINE)


def test_account_signs_in_and_out_at_shop(demo: Command) -> None:
    demo.forget()
    page, url = demo.open(demo.at("shop", "/sign-in/acme"))
    assert urlsplit(url).path == "/login"
    page, url = demo.submit(page, url, identifier="ada@example.com", password="correct-horse-7")
    assert "Sign in faster next time" in page.text
    page, url = demo.submit(page, url, do="skip")
    assert "Welcome to the shop, Ada" in page.text
    page, _ = demo.open(demo.at("shop", "/sign-out"), "POST")
    assert "Welcome" not in page.text
    _, url = demo.open(demo.at("shop", "/sign-in/acme"))
    assert urlsplit(url).path == "/login"


def at_globex(demo: Command) -> tuple[httpx.Response, str]:
    """The login page of Globex, which Acme's "Continue with Globex" leads to, for a sign-in at the shop."""
    demo.forget()
    _, url = demo.open(demo.at("shop", "/sign-in/acme"))
    requested = re.search(r"attempt=([^&\"]+)", url)
    assert requested
    page, url = demo.open(demo.at("acme", f"/sign-in/with?provider=globex&attempt={requested[1]}"))
    assert url.startswith(demo.at("globex", "/login"))
    return page, url


def test_account_of_one_tenant_signs_in_through_another(demo: Command) -> None:
    page, _ = demo.submit(*at_globex(demo), identifier="emmy@example.com", password="invariant-horse-6")
    assert "Welcome to the shop, Emmy" in page.text


def test_account_of_both_tenants_needs_its_own_password(demo: Command) -> None:
    page, url = demo.submit(*at_globex(demo), identifier="ada@example.com", password="another-horse-8")
    assert "You already have an account" in page.text
    demo.submit(page, url, identifier="ada@example.com", password="correct-horse-7")
    page, _ = demo.submit(*at_globex(demo), identifier="ada@example.com", password="another-horse-8")
    assert "Welcome to the shop, Ada" in page.text


def test_wrong_password_stays_on_login_page(demo: Command) -> None:
    demo.forget()
    page, url = demo.open(demo.at("shop", "/sign-in/acme"))
    page, url = demo.submit(page, url, identifier="ada@example.com", password="wrong-horse-7")
    assert (urlsplit(url).path, page.status_code) == ("/login", 401)


def test_second_tenant_has_own_accounts_and_asks_consent(demo: Command) -> None:
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
        ("acme", "/health/live", "application/json"),
    ],
)
def test_other_addresses_answer(demo: Command, host: str, path: str, kind: str) -> None:
    answer = demo.ask("GET", demo.at(host, path))
    assert (answer.status_code, answer.headers["Content-Type"].partition(";")[0]) == (200, kind)


def test_demo_gets_ready(demo: Command) -> None:
    assert eventually(lambda: demo.ask("GET", demo.at("acme", "/health/ready")).status_code == 200)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_start_page_lists_addresses_and_accounts(demo: Command, host: str) -> None:
    answer = demo.ask("GET", f"http://{host}:{demo.port}/")
    assert answer.status_code == 200
    for name in ("shop", "acme", "globex", "inbox"):
        assert f'href="{demo.at(name, "")}"' in answer.text
    assert f'href="{demo.at("api", "/docs")}"' in answer.text
    for email, password in ACCOUNTS:
        assert re.search(
            rf"<small>{email}</small><span [^>]*><small[^>]*>Password</small> <span [^>]*>{password}</span>",
            answer.text,
        )
    assert answer.text.count('<svg class="art"') == 2
    assert "'unsafe" not in answer.headers["Content-Security-Policy"]
    style = demo.ask("GET", f"http://{host}:{demo.port}/demo.css")
    assert style.headers["Content-Type"].startswith("text/css")
    assert demo.ask("GET", f"http://{host}:{demo.port}/health/live").status_code == 200
    assert demo.ask("GET", f"http://{host}:{demo.port}/login").status_code == 404
    assert demo.ask("GET", demo.at("absent")).status_code == 404


def test_every_address_of_the_start_page_answers(demo: Command) -> None:
    demo.forget()
    page = demo.ask("GET", f"http://localhost:{demo.port}/")
    links = re.findall(r'<a [^>]*href="(http[^"]+)"', page.text)
    assert len(links) >= 12
    for link in set(links):
        answer, url = demo.open(link)
        assert answer.status_code == 200, (link, url)


def test_gallery_shows_the_tenants_own_look(demo: Command) -> None:
    theme = yaml.safe_load((EXAMPLES / "themes" / "globex" / "theme.yaml").read_text())
    gallery = demo.ask("GET", demo.at("globex", "/_gallery?group=device")).text
    assert '<option value="own" selected>Globex (live)</option>' in gallery
    framed = re.findall(r'<iframe src="([^"]+)"', gallery)
    assert framed
    page = demo.ask("GET", demo.at("globex", unescape(framed[0]))).text
    assert theme["sentence"]["en"] in unescape(page)


def test_api_root_redirects_to_reference(demo: Command) -> None:
    answer = demo.ask("GET", demo.at("api", "/"))
    assert (answer.status_code, answer.headers["Location"]) == (302, "/docs")


def test_shop_imports_nothing_from_app() -> None:
    sources = [path.read_text() for path in (ROOT / "examples" / "shop").rglob("*.py")]
    assert sources
    assert not any(re.search(r"^\s*(?:from|import) app\b", text, re.MULTILINE) for text in sources)


def shop_of(running: Command) -> int:
    """Return the process id of the shop, the only child of the demo."""
    (child,) = Path(f"/proc/{running.process.pid}/task/{running.process.pid}/children").read_text().split()
    return int(child)


def test_demo_stops_its_shop_and_restarts_on_same_data(tmp_path: Path) -> None:
    running = started(tmp_path)
    shop = shop_of(running)
    assert running.end(signal.SIGINT) == 0
    assert is_gone(shop)
    running = started(tmp_path)
    shop = shop_of(running)
    assert running.end(signal.SIGKILL) == -signal.SIGKILL
    ends_at = time.monotonic() + 20
    while not is_gone(shop) and time.monotonic() < ends_at:
        time.sleep(0.05)
    assert is_gone(shop)
