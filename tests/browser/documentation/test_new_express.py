"""`gatehouse new --framework express`: its first user signs up, verifies the address, and signs out, in Chromium."""

import json
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.commands.listen_address import is_free
from tests.support.browsers.chromium import Opened
from tests.support.browsers.sign_up import type_new_account
from tests.support.processes.command_process import Command, forked
from tests.support.processes.installation import eventually
from tests.support.services.real_services import FOLDER, locked
from tests.support.sources import ROOT, text

ADDRESS, PASSWORD = "ada@example.com", "a-new-horse-for-desk-5"


@pytest.fixture
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Command]:
    """The command in an empty folder. `npm install` links the packages of package-lock.json instead of downloading them."""
    npm = tmp_path / "programs" / "npm"
    npm.parent.mkdir()
    npm.write_text(f'#!/bin/sh\n[ "$1" = install ] && ln -s {ROOT}/node_modules node_modules\n')
    npm.chmod(0o755)
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}
    path = os.pathsep.join([str(npm.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    environ = {**ours, "PATH": path, "GATEHOUSE_DATA_DIR": str(tmp_path / "data")}
    arguments = ["new", "desk", "--framework", "express", "--bind", "127.0.0.1:0"]
    with locked(
        request.config.stash[FOLDER] / "new.lock"
    ):  # as in tests/api/commands/test_new.py: one takes a port at a time
        command_process = forked(arguments, tmp_path, environ, until="app.mjs")
    yield command_process
    assert command_process.end(signal.SIGTERM) == 0
    port = re.search(r"http://localhost:(\d+)", command_process.output)
    assert port
    eventually(lambda: is_free(int(port[1])), "the app has ended, too")


def test_first_user_signs_up_and_out(running: Command, tmp_path: Path, opened: Opened) -> None:
    begun = time.monotonic()
    found = re.search(r"http://localhost:\d+", running.output)
    assert found, running.output
    app, tab = found[0], opened()
    assert "desk/.env" in running.output
    assert (tmp_path / "desk" / ".env").stat().st_mode & 0o077 == 0
    tab.goto(f"{app}/signed-in?code=stolen&state=guessed")
    expect(tab.get_by_role("alert")).to_contain_text("Sign-in failed")
    assert tab.url == f"{app}/"
    tab.get_by_role("link", name="Sign in").click()
    tab.get_by_role("button", name="Create account").click()
    type_new_account(tab, ADDRESS, PASSWORD)
    tab.locator("main input[name=password]").press("Enter")
    expect(tab.get_by_text(ADDRESS).first).to_be_visible()
    tab.goto(running.ask("GET", running.at("inbox", "/messages.json")).json()[0]["links"][0])
    tab.wait_for_url(lambda url: url.startswith(app) or "passkey" in url)
    if not tab.url.startswith(app):
        tab.get_by_role("button", name="Not now").click()
    expect(tab.get_by_text("You’re signed in to Desk.")).to_be_visible()
    expect(tab.get_by_role("definition").filter(has_text=ADDRESS)).to_be_visible()
    assert tab.url == f"{app}/"
    print(f"first sign-in {time.monotonic() - begun:.1f} s after the app was up")
    tab.get_by_role("button", name="Sign out").click()
    tab.wait_for_url(f"{app}/")
    tab.get_by_role("link", name="Sign in").click()
    tab.wait_for_url("**/login**")  # the session at Gatehouse has ended, too


def test_starter_names_the_versions_of_the_lock() -> None:
    expected = json.loads(text(Path("examples/starters/express/package.json")))["dependencies"]
    locked_versions = json.loads(text(Path("package.json")))["devDependencies"]
    assert expected == {name: f"^{locked_versions[name]}" for name in expected}
