"""`gatehouse serve` on a developer's machine: the hub domain follows the port, and the inbox shows what isn't delivered."""

import os
import re
import signal
import socket
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from click.testing import CliRunner

from app.cli import cli
from app.commands.listen_address import has_dev_inbox
from app.settings import Settings
from tests.support.processes.command_process import Command, forked
from tests.support.services.servers import free_port
from tests.support.sources import ROOT

TENANT = "tenants: [{name: acme, settings: {email_verification: required, passkey_settings: {progressive_enrollment: false}}}]"
PASSWORD = "a-new-horse-for-acme-5"


def environment(folder: Path, **settings: str) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}
    return {**ours, "GATEHOUSE_DATA_DIR": str(folder), **settings}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    folder, port = tmp_path_factory.mktemp("development"), free_port()
    (folder / "acme.yaml").write_text(TENANT)
    environ = environment(folder)
    applied = CliRunner().invoke(cli, ["apply", str(folder / "acme.yaml")], env=environ)
    assert applied.exit_code == 0, applied.output
    running = forked(["serve", "--bind", f"127.0.0.1:{port}"], ROOT, environ, until="inbox.localhost", is_read=True)
    yield running
    assert running.end(signal.SIGTERM) == 0


def mails(serving: Command, address: str) -> list[Mapping[str, list[str]]]:
    found = serving.ask("GET", serving.at("inbox", "/messages.json")).json()
    return [mail for mail in found if mail["to"] == address]


def signed_up(serving: Command, address: str) -> None:
    serving.forget()
    page, url = serving.open(serving.at("acme", "/register"))
    serving.submit(page, url, email=address, password=PASSWORD)
    page, url = serving.open(mails(serving, address)[0]["links"][0])
    page, url = serving.submit(page, url)
    assert (page.status_code, urlsplit(url).path) == (200, "/profile")


def test_sign_up_is_finished_with_the_inbox(serving: Command) -> None:
    signed_up(serving, "ada@example.com")


def test_forgotten_password_is_reset_with_the_inbox(serving: Command) -> None:
    signed_up(serving, "grace@example.com")
    serving.forget()
    page, url = serving.open(serving.at("acme", "/forgot-password"))
    serving.submit(page, url, identifier="grace@example.com")
    page, url = serving.open(mails(serving, "grace@example.com")[0]["links"][0])
    page, url = serving.submit(page, url, password="another-horse-for-acme-6")
    assert (page.status_code, "Your password was changed" in page.text) == (200, True)
    serving.forget()
    page, url = serving.open(serving.at("acme", "/login"))
    page, url = serving.submit(page, url, identifier="grace@example.com", password="another-horse-for-acme-6")
    assert (page.status_code, urlsplit(url).path) == (200, "/profile")


def test_tls_handshake_at_a_plain_port_is_named_in_the_log(serving: Command) -> None:
    with pytest.raises(httpx.ConnectError, match=r"WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE|wrong version number"):
        httpx.get(f"https://127.0.0.1:{serving.port}/", verify=False)
    assert serving.process.stdout is not None
    lines = iter(serving.process.stdout.readline, "")
    line = next(item for item in lines if "serving.refused" in item)
    assert "a TLS handshake came to a plain HTTP port" in line


def test_start_page_lists_tenants_and_inbox_on_this_machine(serving: Command) -> None:
    address = f"http://localhost:{serving.port}/"
    page = serving.ask("GET", address)
    assert page.status_code == 200
    for link in (serving.at("acme", ""), serving.at("inbox", ""), serving.at("api", "/docs")):
        assert f'href="{link}"' in page.text
    links = [
        re.findall(r'href="([^"]+)"', re.findall(r"<nav.*?</nav>", each)[0])
        for each in (page.text, serving.ask("GET", serving.at("inbox")).text)
    ]
    assert links[0] == links[1]
    assert {serving.ask("GET", link).status_code for link in links[0]} == {200}
    assert serving.ask("GET", f"{address}demo.css").status_code == 200
    serving.jars[urlsplit(address).netloc].headers["X-Forwarded-For"] = "203.0.113.9"
    answer = serving.ask("GET", address)
    assert (answer.status_code, "acme" in answer.text) == (404, False)
    serving.forget()


def test_inbox_answers_neither_proxies_nor_other_hosts(serving: Command) -> None:
    assert serving.ask("GET", serving.at("inbox")).status_code == 200
    for header in ("X-Forwarded-For", "Forwarded", "X-Forwarded-Host", "Via"):
        serving.jars[urlsplit(serving.at("inbox")).netloc].headers[header] = "203.0.113.9"
        answer = serving.ask("GET", serving.at("inbox", "/messages.json"))
        assert (answer.status_code, "@example.com" in answer.text) == (403, False)
        serving.forget()
        serving.ask("GET", serving.at("inbox"))
    for host in ("inbox.evil.localhost", "localhost", "evil.example"):
        assert serving.ask("GET", f"http://{host}:{serving.port}/messages.json").status_code == 404


@pytest.mark.parametrize(
    ("bind", "changes", "is_served"),
    [
        ("127.0.0.1:8000", {}, True),
        ("localhost:8000", {}, True),
        ("[::1]:8000", {}, True),
        ("127.0.0.1:8000", {"hub_domain": "id.localhost:8000"}, True),
        ("127.0.0.1:8000", {"hub_domain": "id.example.com"}, False),
        ("127.0.0.1:8000", {"mail_url": "smtp://127.0.0.1:25"}, False),
        ("127.0.0.1:8000", {"mail_url": "smtp://127.0.0.1:25", "sms_url": "inbox:"}, False),
        ("127.0.0.1:8000", {"trusted_proxies": ("127.0.0.1",)}, False),
        ("0.0.0.0:8000", {}, False),
        ("192.0.2.7:8000", {}, False),
        ("unix:/run/gatehouse.sock", {}, False),
    ],
)
def test_inbox_is_for_development_alone(bind: str, changes: dict[str, str], is_served: bool) -> None:
    assert has_dev_inbox(replace(Settings(), **changes), bind) is is_served  # type: ignore[arg-type]  # by name


def test_taken_port_is_refused_with_a_free_one(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for command in ("serve", "demo"):
            done = CliRunner().invoke(cli, [command, "--bind", f"127.0.0.1:{port}"], env=environment(tmp_path))
            assert done.exit_code == 2
            assert done.stderr.startswith(
                f"Error: Port {port} is in use. Stop the program that uses it, or add --bind 127.0.0.1:"
            )
            assert done.stderr.count("\n") == 1
            assert str(port) not in done.stderr.partition("--bind")[2]
    assert not list(tmp_path.glob("*.db")), "something was prepared"
