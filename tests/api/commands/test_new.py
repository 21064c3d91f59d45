"""`gatehouse new` as a process: a folder with an app whose first user signs up, signs in and signs out."""

import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner, Result

from app.cli import cli
from app.demo.starters import STYLE
from tests.support.processes.command_process import Command, forked
from tests.support.services.real_services import FOLDER, locked
from tests.support.sources import ROOT

GATEHOUSE = [sys.executable, "-m", "app.cli"]
ADDRESS, PASSWORD = "ada@example.com", "a-new-horse-for-desk-5"


@dataclass
class Made:
    """The running command, and the folder that it made."""

    command: Command
    folder: Path

    @property
    def app(self) -> str:
        found = re.search(r"http://localhost:\d+", self.command.output)
        assert found, self.command.output
        return found[0]


def environment(folder: Path) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}
    return {**ours, "GATEHOUSE_DATA_DIR": str(folder / "data"), "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    folder = tmp_path_factory.mktemp("new")
    arguments = ["new", "desk", "--bind", "127.0.0.1:0"]
    with locked(request.config.stash[FOLDER] / "new.lock"):  # two workers would take the same free port for the app
        running = forked(arguments, folder, environment(folder), until="app.py")
    yield Made(running, folder / "desk")
    assert running.end(signal.SIGTERM) == 0


def run(folder: Path, environ: Mapping[str, str], *arguments: str) -> Result:
    """Run a command in a folder, within this process: what ends at once needs none of its own."""
    with chdir(folder):
        return CliRunner().invoke(cli, arguments, env=environ)


def test_first_user_signs_up_in_and_out(made: Made) -> None:
    browser = made.command
    page, url = browser.open(f"{made.app}/account")
    assert (urlsplit(url).path, urlsplit(url).hostname) == ("/login", "desk.localhost")
    attempt = re.search(r"attempt=([\w-]+)", url)
    assert attempt
    page, url = browser.open(browser.at("desk", f"/register?attempt={attempt[1]}"))
    page, url = browser.submit(page, url, email=ADDRESS, password=PASSWORD)
    mail = browser.ask("GET", browser.at("inbox", "/messages.json")).json()[0]
    assert mail["to"] == ADDRESS
    page, url = browser.submit(*browser.open(mail["links"][0]))
    while not url.startswith(made.app):  # pages on the way may offer a passkey
        assert page.status_code == 200, page.text
        page, url = browser.submit(page, url, do="skip")
    assert (url, "signed in to Desk" in page.text, ADDRESS in page.text) == (f"{made.app}/account", True, True)
    style = browser.ask("GET", f"{made.app}/static/style.css")
    assert style.content == STYLE.read_bytes()
    page, url = browser.open(f"{made.app}/sign-out", "POST")
    assert (url, "Sign in" in page.text) == (f"{made.app}/", True)
    _, url = browser.open(f"{made.app}/sign-in")
    assert urlsplit(url).path == "/login", "the session at Gatehouse has ended, too"


def test_foreign_answer_starts_no_session(made: Made) -> None:
    made.command.forget()
    page, url = made.command.open(f"{made.app}/signed-in?code=stolen&state=guessed")
    assert (url, "Sign-in failed" in page.text, "signed in" in page.text) == (f"{made.app}/", True, False)
    page, _ = made.command.open(url)
    assert "Sign-in failed" not in page.text


def test_secrets_are_in_one_file_that_only_its_owner_reads(made: Made) -> None:
    secrets = made.folder / "config.toml"
    assert secrets.stat().st_mode & 0o077 == 0
    values = tomllib.loads(secrets.read_text())
    assert values["ISSUER"] == made.command.at("desk", "")
    assert "config.toml" in (made.folder / ".gitignore").read_text().splitlines()
    others = [path for path in made.folder.rglob("*") if path.is_file() and path != secrets and path.suffix != ".pyc"]
    assert {"app.py", "gatehouse.yaml", "README.md"} <= {path.name for path in others}
    for name in ("CLIENT_SECRET", "SECRET_KEY"):
        assert not any(values[name] in path.read_text() for path in others)


def test_configuration_file_describes_what_was_made(made: Made) -> None:
    environ = {**environment(made.folder.parent), "GATEHOUSE_HUB_DOMAIN": f"localhost:{made.command.port}"}
    applied = run(made.folder.parent, environ, "apply", "desk/gatehouse.yaml")
    assert applied.exit_code == 0, applied.output
    assert applied.stdout.endswith("Done: 0 created, 0 changed, 0 removed, 2 unchanged.\n")


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("Desk!", {}, "can't be a name. Use 1 to 63 lowercase letters"),
        ("../desk", {}, "can't be a name."),
        ("inbox", {}, "'inbox' is reserved."),
        ("other", {"GATEHOUSE_HUB_DOMAIN": "id.example.com", "GATEHOUSE_SECRET_KEY": "x" * 40}, "for your own machine"),
        ("other", {"GATEHOUSE_MAIL_URL": "smtp://127.0.0.1:25"}, "GATEHOUSE_MAIL_URL unset"),
    ],
)
def test_impossible_name_or_place_is_refused(made: Made, name: str, settings: dict[str, str], sentence: str) -> None:
    done = run(made.folder.parent, {**environment(made.folder.parent), **settings}, "new", name)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert sentence in done.stderr
    assert not (made.folder.parent / "other").exists()


def test_existing_folder_is_refused_with_its_commands(made: Made) -> None:
    command = [*GATEHOUSE, "new", "desk"]
    environ = environment(made.folder.parent)
    done = subprocess.run(command, cwd=made.folder.parent, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, "'desk' already exists in this folder." in done.stderr) == (2, True)
    serve, start = done.stderr.rstrip().splitlines()[-2:]
    assert serve.endswith("gatehouse serve")
    assert start == f"  cd desk && {sys.executable} app.py"
    assert (
        f"After a change, run: {serve.strip().removesuffix(' serve')} apply"
        in (made.folder / "gatehouse.yaml").read_text()
    )
    assert f"Gatehouse's data in {made.folder.parent / 'data'}." in made.command.output


def program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("node", "npm"),
    [(None, "exit 0"), ("echo v20.5.1", "exit 0"), ("echo v24.1.0", None)],
    ids=["no node", "old node", "no npm"],
)
def test_express_without_its_programs_is_refused(tmp_path: Path, node: str | None, npm: str | None) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, script in (("node", node), ("npm", npm)):
        if script:
            program(programs, name, script)
    environ = {**environment(tmp_path), "PATH": str(programs)}
    done = run(tmp_path, environ, "new", "desk", "--framework", "express")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "Express needs Node.js 20.6 or newer and npm. Install them (https://nodejs.org)" in done.stderr
    assert not (tmp_path / "desk").exists()


def test_failed_npm_install_leaves_neither_folder_nor_tenant(tmp_path: Path) -> None:
    program(tmp_path / "programs", "node", "echo v24.1.0")
    program(tmp_path / "programs", "npm", "exit 1")
    environ = environment(tmp_path)
    environ["PATH"] = f"{tmp_path / 'programs'}:{environ['PATH']}"
    command = ["new", "desk", "--bind", "127.0.0.1:0"]
    done = run(tmp_path, environ, *command, "--framework", "express")
    assert (done.exit_code, "npm couldn't install the packages" in done.stderr) == (2, True)
    assert not (tmp_path / "desk").exists()
    done = run(tmp_path, environ, *command, "--no-run")
    assert done.exit_code == 0, done.stderr  # the name is free


def test_existing_tenant_is_refused_and_leaves_no_folder(made: Made, tmp_path: Path) -> None:
    done = run(tmp_path, environment(made.folder.parent), "new", "desk", "--no-run")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "There's already a tenant 'desk'." in done.stderr
    assert not (tmp_path / "desk").exists()


def test_taken_port_is_refused_before_anything_is_created(made: Made, tmp_path: Path) -> None:
    """The demo keeps its data in another folder, so the new tenant would not be found at its port."""
    environ = environment(made.folder.parent)
    done = run(tmp_path, environ, "new", "other", "--bind", f"127.0.0.1:{made.command.port}")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert f"Port {made.command.port} is in use. Stop the program that uses it" in done.stderr
    assert list(tmp_path.iterdir()) == []
