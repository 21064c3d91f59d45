"""The built wheel in an empty environment, away from the repository: `gatehouse demo` serves every journey."""

import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from app import __version__
from tests.support.processes import wheel
from tests.support.processes.command_process import Command, started
from tests.support.processes.installation import eventually


@pytest.fixture(scope="module")
def away(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside the repository, with the installed commands in `venv/bin`."""
    folder = tmp_path_factory.mktemp("away")
    wheel.install(wheel.build(folder), folder / "venv")
    return folder


@pytest.fixture(scope="module")
def demo(away: Path) -> Iterator[Command]:
    command = [str(away / "venv" / "bin" / "gatehouse"), "demo", "--bind", "127.0.0.1:0"]
    running = started(command, away, wheel.environment(away))
    yield running
    assert running.end(signal.SIGTERM) == 0


def test_installed_program_is_the_wheels(away: Path) -> None:
    command = [str(away / "venv" / "bin" / "python"), "-c", "import app; print(app.__file__)"]
    done = subprocess.run(command, cwd=away, env=wheel.environment(away), check=True, capture_output=True, text=True)
    assert Path(done.stdout.strip()).is_relative_to(away / "venv")
    assert not list((away / "venv").rglob("__editable__*"))
    shown = subprocess.run(
        [str(away / "venv" / "bin" / "gatehouse"), "--version"], check=True, capture_output=True, text=True
    )
    assert shown.stdout == f"gatehouse, version {__version__}\n"


def test_guides_and_changes_are_installed(demo: Command) -> None:
    for path, title in (("/docs/guides/webhooks", "Webhooks"), ("/docs/changelog", "Changelog")):
        page, _ = demo.open(demo.at("api", path))
        assert f"<h1>{title}</h1>" in page.text or f'<h1 id="{title.lower()}">{title}</h1>' in page.text


def test_account_of_demo_signs_in_at_shop(demo: Command) -> None:
    demo.forget()
    page, url = demo.open(demo.at("shop", "/sign-in/acme"))
    page, url = demo.submit(page, url, identifier="ada@example.com", password="correct-horse-7")
    page, url = demo.submit(page, url, do="skip")  # the offer of a passkey
    assert "Welcome to the shop, Ada" in page.text
    page, url = demo.open(demo.at("acme", "/security"))
    assert (page.status_code, urlsplit(url).path) == (200, "/security")


def test_new_account_is_verified_by_its_email(demo: Command) -> None:
    demo.forget()
    page, url = demo.open(demo.at("acme", "/register"))
    demo.submit(page, url, email="new@example.com", password="a-new-horse-for-acme-5")
    mail = demo.ask("GET", demo.at("inbox", "/messages.json")).json()[0]
    assert (mail["to"], bool(mail["html"])) == ("new@example.com", True)
    page, url = demo.open(mail["links"][0])
    page, url = demo.submit(page, url)
    page, url = demo.submit(page, url, do="skip")
    assert (page.status_code, urlsplit(url).path) == (200, "/profile")
    assert "new@<wbr>example.com" in page.text


def test_pages_have_their_style_and_translations(demo: Command) -> None:
    demo.forget()
    demo.open(demo.at("acme", "/login"))
    demo.jars[urlsplit(demo.at("acme")).netloc].cookies.set("gatehouse-language", "de")
    page, _ = demo.open(demo.at("acme", "/login"))
    assert '<html lang="de"' in page.text
    assert "Passwort" in page.text
    address = re.search(r'href="(/static/[^"]+\.css)"', page.text)
    assert address
    style = demo.ask("GET", demo.at("acme", address[1]))
    assert (style.status_code, style.headers["Content-Type"]) == (200, "text/css; charset=utf-8")
    page = demo.ask("GET", demo.at("api", "/docs/sign-in/sign_in.with_password"))
    renderer = re.search(r'src="(/docs/assets/openapi-explorer[^"]+)"', page.text)
    assert renderer
    assert len(demo.ask("GET", demo.at("api", renderer[1])).content) > 500_000


def test_installed_program_creates_a_starter_app(away: Path) -> None:
    command = [str(away / "venv" / "bin" / "gatehouse"), "new", "desk", "--no-run"]
    done = subprocess.run(command, cwd=away, env=wheel.environment(away), check=True, capture_output=True, text=True)
    assert f"cd desk && {away / 'venv' / 'bin' / 'python'} app.py" in done.stdout
    assert {"app.py", "config.toml", "gatehouse.yaml", ".gitignore"} <= {
        path.name for path in (away / "desk").iterdir()
    }


def test_data_is_in_the_folder_of_the_user(demo: Command, away: Path) -> None:
    assert eventually(lambda: demo.ask("GET", demo.at("acme", "/health/ready")).status_code == 200)
    assert (away / "data" / "gatehouse" / "demo" / "gatehouse.db").is_file()
