"""A program in a browser that has never met the server, such as an MCP client: it discovers, registers, and asks for tokens.

Its page is at an origin of its own, and the server runs as a process, so that Chromium judges each response by CORS.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers.chromium import Opened
from tests.support.processes.installation import Installation, eventually, installed

RESOURCE, ADA, PASSWORD = "https://mcp.acme.example/mcp", "ada@example.test", "Zebra-kettle-91"
PAGE = """<!doctype html><html lang="en"><title>Inspector</title><h1>Inspector</h1><pre id="said"></pre>
<script type="module" src="/program.mjs"></script>"""
SCRIPT = Path(__file__).with_name("registering_program.mjs")


class Program(BaseHTTPRequestHandler):
    """Serves the script, and the page at every other path."""

    def do_GET(self) -> None:
        is_script = self.path == "/program.mjs"
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if is_script else "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(SCRIPT.read_bytes() if is_script else PAGE.encode())

    def log_message(self, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("mcp")) as made:
        desk = {
            "name": "desk", "client_id": "desk", "application_type": "spa", "token_endpoint_auth_method": "none",
            "redirect_uris": ["https://desk.example/cb"],
        }  # fmt: skip
        registration = {"mode": "open", "resources": [RESOURCE]}
        made.tenant(desk, client_registration=registration, default_scopes=["openid", "email", "offline_access"])
        made.start()
        eventually(made.knows_the_tenant, "the tenant is configured")
        created = {"Email": [{"Type": "Primary", "Value": ADA}], "Password": PASSWORD, "EmailVerified": True}
        assert made.send("POST", "/identity/v2/manage/account", created, with_secret=True).status_code == 200
        yield made


@pytest.fixture(scope="module")
def program() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Program) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()
        thread.join()


def sign_in(page: Page) -> None:
    page.locator("input[name=identifier]:visible").fill(ADA)
    page.locator("input[name=password]:visible").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Allow access").click()


def test_page_registers_itself_and_gets_tokens(installation: Installation, program: str, opened: Opened) -> None:
    page = opened()
    page.goto(f"{program}/?issuer={installation.tenant_url}")
    page.wait_for_url(f"{installation.tenant_url}/login**")
    sign_in(page)
    page.wait_for_url(f"{program}/callback**")
    expect(page).to_have_title("Done")
    said = json.loads(page.locator("#said").inner_text())

    def statuses(*steps: str) -> list[int]:
        return [said[step]["status"] for step in steps]

    assert statuses("metadata", "keys", "registration", "reading") == [200, 200, 201, 200], said
    assert statuses("tokens", "claims", "refreshed", "revoked") == [200, 200, 200, 200], said
    assert said["tokens"]["body"]["scope"].split() == ["openid", "email", "offline_access"]
    assert said["claims"]["body"]["email"] == ADA
    assert said["refreshed"]["body"]["access_token"]
    assert statuses("wrong", "refused") == [401, 400], said
    assert said["wrong"]["challenge"].startswith("Bearer")
    assert statuses("foreign", "custom") == [0, 0], "Chromium kept both from the page"
