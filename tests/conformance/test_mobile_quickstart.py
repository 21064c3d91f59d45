"""The quickstart for phones: the values that its page states, used for a whole sign-in and sign-out.

Executed: the page's YAML as it is; client ID, redirect URIs and scopes of its Kotlin and its Swift, which must be the same, by AppAuth-JS
(of the same authors, not the same code) with PKCE, refresh, userinfo, end of session and revocation, in Chromium at a real service. The
test stands for the phone: it hands the address that the browser returns by to the program. The issuer is the service's http address in
place of the page's https one.

Not executed: the Kotlin and the Swift themselves. `make quickstarts` compiles the Kotlin against Android and AppAuth; nothing here
compiles Swift.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page, Response

from tests.support.browsers.chromium import Opened
from tests.support.documentation.quickstarts import PERSON, Running, prepared

SCRIPT = Path(__file__).with_name("app_auth_phone.mjs")
NODE = Path(sys.executable).with_name("node")
ISSUER = "https://acme.id.example.com"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


class App:
    """The program, one line of JSON at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def send(self, **what: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return dict(json.loads(self.process.stdout.readline()))


@contextmanager
def started_app() -> Iterator[App]:
    with subprocess.Popen([NODE, SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield App(process)
        finally:
            process.kill()


def test_app_signs_in_and_out_by_the_pages_values(opened: Opened, tmp_path: Path) -> None:
    with prepared("mobile", tmp_path) as running, started_app() as app:
        settings, page = settings_of(running), opened()
        blocked: list[str] = []
        page.on("console", lambda line: blocked.append(line.text) if "Content Security Policy" in line.text else None)
        app.send(**settings)
        page.goto(app.receive()["open"])
        fill_in(page)
        page.wait_for_url("**/consent**")
        page.get_by_role("button", name="Allow access").click()
        app.send(returned=opened_address(page, settings["redirect_uri"]))
        leave = app.receive()["open"]
        page.evaluate("address => { location.href = address }", leave)
        app.send(returned=opened_address(page, settings["signed_out_uri"]))
        report = app.receive()
        assert blocked == []
        assert (report["claims"]["iss"], report["claims"]["aud"]) == (running.page.issuer, settings["client_id"])
        assert report["scope"] == settings["scope"]
        assert (report["user"]["name"], report["user"]["email"]) == (PERSON.name, PERSON.email)
        assert report["is_rotated"]
        assert refresh(running, settings, report["revoked"]) == "invalid_grant"
        sign_in_by_app_link(page, running, settings)


def sign_in_by_app_link(page: Page, running: Running, settings: dict[str, str]) -> None:
    """Sign in with the page's https redirect; the session that has ended asks for the password again."""
    parameters = {"response_type": "code", "code_challenge": CHALLENGE, "code_challenge_method": "S256", "state": "1"}
    parameters |= {"client_id": settings["client_id"], "scope": settings["scope"], "redirect_uri": app_link(running)}
    page.goto(f"{running.page.issuer}/service/oidc/authorize?{urlencode(parameters)}")
    with page.expect_response(leads_to(f"{app_link(running)}?code=")):
        fill_in(page)


def settings_of(running: Running) -> dict[str, str]:
    """Return the settings in the page's Kotlin, which are those of its Swift and of its build file."""
    code = {block.file: block.code for block in running.page.blocks if block.file}
    kotlin = {
        name.lower(): value
        for name, value in re.findall(r'^const val (\w+) = "([^"]+)"$', code["Gatehouse.kt"], re.MULTILINE)
    }
    swift = {
        snake(name): value
        for name, value in re.findall(r'^let (\w+) = "([^"]+)"$', code["Gatehouse.swift"], re.MULTILINE)
    }
    assert kotlin == swift
    scheme = only(running, r'manifestPlaceholders\["appAuthRedirectScheme"\] = "([^"]+)"')[0]
    assert {kotlin[name].partition(":")[0] for name in ("redirect_uri", "signed_out_uri")} == {scheme}
    assert kotlin.pop("issuer") == ISSUER
    return {"issuer": running.page.issuer, **kotlin}


def app_link(running: Running) -> str:
    """Return the https redirect that the page's manifest claims."""
    return "{}://{}{}".format(
        *only(running, r'<data android:scheme="(\w+)" android:host="([^"]+)" android:path="([^"]+)" />')
    )


def only(running: Running, pattern: str) -> tuple[str, ...]:
    """Return the groups of the one place of the page's blocks that fits."""
    (found,) = [hit.groups() for block in running.page.blocks for hit in re.finditer(pattern, block.code)]
    return found


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def fill_in(page: Page) -> None:
    page.wait_for_url("**/login**")
    page.locator("main input[name=identifier]").fill(PERSON.email)
    page.locator("main input[name=password]").fill(PERSON.password)
    page.locator("main input[name=password]").press("Enter")


def opened_address(page: Page, begins: str) -> str:
    """Return the address by which the page that stays opens the app: by itself, and by its button, which have the same."""
    address = page.locator(f'main a[href^="{begins}"]').get_attribute("href")
    refresh = page.locator('meta[http-equiv="refresh"]').get_attribute("content")
    assert address is not None
    assert (refresh or "").endswith(address)
    return address


def leads_to(address: str) -> Callable[[Response], bool]:
    """Recognize the response by which the browser leaves for an address that only the phone can open."""
    return lambda answer: answer.headers.get("location", "").startswith(address)


def refresh(running: Running, settings: dict[str, str], token: str) -> str:
    form = {"grant_type": "refresh_token", "client_id": settings["client_id"], "refresh_token": token}
    answer = running.gatehouse.ask("POST", f"{running.page.issuer}/api/oidc/token", data=form)
    return str(answer.json()["error"])
