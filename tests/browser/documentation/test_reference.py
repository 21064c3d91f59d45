"""The API reference of `gatehouse demo` in Chromium: "Try it" with the demo's keys, search, menu, keyboard, accessibility."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.page_checkers import axe_source
from tests.support.processes.command_process import Command, forked

ROOT = Path(__file__).resolve().parents[3]
COMMAND = ["demo", "--bind", "127.0.0.1:0", "--data"]
SIGN_IN = "/docs/sign-in/sign_in.with_password"
CONFIGURATION = "/docs/client-configuration/tenants.appinfo"
PAGES = [
    "/docs", "/docs/introduction", "/docs/errors", "/docs/changelog", "/docs/sign-in", SIGN_IN, CONFIGURATION, "/docs/first-sign-in",
    "/docs/first-account", "/docs/guides", "/docs/guides/management-api", "/docs/search?q=token",
]  # fmt: skip


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    running = forked([*COMMAND, str(tmp_path_factory.mktemp("demo"))], ROOT, os.environ)
    yield running
    assert running.end(signal.SIGTERM) == 0


class Reader:
    """A window of the reference, with what its console says."""

    def __init__(self, opened: Opened, demo: Command, **how: Any) -> None:
        self.page = opened(painted=True, **how)  # axe examines no colours of transparent elements
        self.said: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda problem: self.said.append(str(problem)))
        self._demo = demo
        self._has_scripts = how.get("java_script_enabled", True)

    def open(self, path: str) -> Page:
        self.page.goto(self._demo.at("api", path))
        if self.page.locator(".explorer").count() and self._has_scripts:
            self.page.locator("openapi-explorer :is(.expanded-endpoint-body, #overview)").wait_for()
        return self.page


@pytest.fixture
def reader(opened: Opened, demo: Command) -> Reader:
    return Reader(opened, demo)


def test_try_it_sends_a_request_with_the_keys_of_the_demo(reader: Reader) -> None:
    page = reader.open(CONFIGURATION)
    with page.expect_response(lambda answer: "/ciam/appinfo" in answer.url) as sent:
        page.get_by_role("button", name="Try it").first.click()
    assert sent.value.status == 200
    assert sent.value.json()["AppName"] == "acme"
    expect(page.get_by_text("Response Status: OK (200)")).to_be_in_viewport()
    assert reader.said == []


def test_start_page_leads_to_a_request_that_answers(reader: Reader, demo: Command) -> None:
    page = reader.page
    page.goto(f"http://localhost:{demo.port}/")
    page.get_by_role("link", name="Send request").click()
    page.locator("openapi-explorer .expanded-endpoint-body").wait_for()
    with page.expect_response(lambda answer: "/manage/account/" in answer.url) as sent:
        page.get_by_role("button", name="Try it").first.click()
    assert sent.value.status == 200
    assert sent.value.json()["FirstName"] == "Ada"


def test_try_it_reaches_the_host_of_a_tenant(reader: Reader, demo: Command) -> None:
    page = reader.open("/docs/discovery-and-userinfo/oauth_metadata.discovery")
    assert page.url.startswith(demo.at("acme", "/docs/"))
    with page.expect_response(lambda answer: answer.url.endswith("/openid-configuration")) as sent:
        page.get_by_role("button", name="Try it").first.click()
    assert sent.value.json()["issuer"] == demo.at("acme", "")
    assert reader.said == []


def test_form_is_sent_with_its_example(reader: Reader) -> None:
    page = reader.open("/docs/tokens/oauth_tokens.token")
    with page.expect_response(lambda answer: answer.url.endswith("/api/oidc/token")) as sent:
        page.get_by_role("button", name="Try it").first.click()
    assert "grant_type=authorization_code" in (sent.value.request.post_data or "")
    assert sent.value.json()["error"] == "invalid_grant"  # the shop is known, the code of the example isn't


def test_token_of_an_answer_is_filled_in_at_the_next_operation(reader: Reader) -> None:
    page = reader.open("/docs/two-step-sign-in/second_factors.with_password")
    with page.expect_response(lambda answer: "/login/2fa" in answer.url) as sent:
        page.get_by_role("button", name="Try it").first.click()
    assert sent.value.status == 200
    token = sent.value.json()["access_token"]
    page = reader.open("/docs/account/accounts.read_own")
    expect(page.get_by_label("Access token")).to_have_value(token)
    with page.expect_response(lambda answer: "/identity/v2/auth/account" in answer.url) as sent:
        page.get_by_role("button", name="Try it").first.click()
    assert sent.value.json()["FirstName"] == "Ada"


AXE = """rules => axe.run({ resultTypes: ["violations"], ...rules && { runOnly: rules } }).then(({ violations }) => violations)"""


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_accessible_and_fit_a_telephone(reader: Reader, path: str) -> None:
    page = reader.open(path)
    for more in page.locator(":is(main, .main) details > summary").all()[:2]:
        more.click()
    page.evaluate(axe_source())
    found = page.evaluate(AXE)
    page.emulate_media(color_scheme="dark")
    found += page.evaluate(AXE, ["color-contrast"])
    assert [(item["id"], [node["html"][:160] for node in item["nodes"]]) for item in found] == []
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert reader.said == []


def test_fields_open_by_keyboard(reader: Reader) -> None:
    page = reader.open(SIGN_IN)
    nested = page.get_by_role("button", name="Nested fields").first
    before = page.locator("schema-tree").first.inner_text()
    nested.focus()
    page.keyboard.press("Enter")
    expect(page.locator("schema-tree").first).not_to_have_text(before)


def test_rare_fields_wait_behind_a_button(reader: Reader) -> None:
    page = reader.open(SIGN_IN)
    captcha = page.locator("schema-tree").first.get_by_text("g-recaptcha-response")
    expect(page.locator("schema-tree").first.get_by_text("password", exact=True)).to_be_visible()
    expect(captcha).to_be_hidden()
    page.get_by_role("button", name="more fields").first.click()
    expect(captcha).to_be_visible()


@pytest.mark.parametrize(
    ("path", "scheme"),
    [("/docs/oauth-clients/oauth_clients.list", "Machine token"), ("/docs/account/accounts.read_own", "Access token")],
)
def test_try_it_gets_the_token_that_it_needs(reader: Reader, path: str, scheme: str) -> None:
    page = reader.open(path)
    expect(page.get_by_label(scheme)).to_have_value("")
    with page.expect_response(lambda answer: "/docs/" not in answer.url) as sent:
        page.get_by_role("button", name="Try it").last.click()
    assert sent.value.status == 200
    expect(page.get_by_label(scheme)).not_to_have_value("")
    assert reader.said == []


def test_search_answers_to_the_keyboard(reader: Reader) -> None:
    page = reader.open("/docs")
    page.keyboard.press("Control+k")
    search = page.get_by_role("combobox", name="Search")
    expect(search).to_be_focused()
    page.keyboard.type("login password")
    options = page.get_by_role("option")
    expect(options.first).to_contain_text("Sign in with a password")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("status")).to_contain_text("results")
    page.keyboard.press("ArrowDown")
    chosen = options.nth(1)
    expect(chosen).to_have_attribute("aria-selected", "true")
    assert search.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    page.keyboard.press("Escape")
    expect(options).to_have_count(0)
    expect(search).to_have_value("login password")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in with a password")
    assert reader.said == []


def test_search_finds_guides_errors_and_fields(reader: Reader) -> None:
    page = reader.open("/docs/errors")
    page.get_by_role("combobox", name="Search").fill("966")
    page.get_by_role("option", name="966 Invalid user ID").click()
    expect(page).to_have_url(re.compile(r"/docs/errors#966$"))
    page.get_by_role("combobox", name="Search").fill("header signature")
    page.get_by_role("option", name="The header signature Guide").click()
    expect(page.get_by_role("heading", name="The header signature")).to_be_in_viewport()
    page.get_by_role("combobox", name="Search").fill("xyzzy")
    expect(page.get_by_role("status")).to_contain_text("Nothing matches")


def test_open_list_of_results_is_accessible(reader: Reader) -> None:
    page = reader.open("/docs")
    page.get_by_role("combobox", name="Search").fill("token")
    page.get_by_role("option").first.wait_for()
    page.evaluate(axe_source())
    assert [(item["id"], item["nodes"][0]["html"]) for item in page.evaluate(AXE)] == []


@pytest.mark.parametrize("scripts", [True, False])
def test_telephone_has_a_menu(opened: Opened, demo: Command, scripts: bool) -> None:
    reader = Reader(opened, demo, java_script_enabled=scripts, viewport={"width": 390, "height": 800})
    page = reader.open("/docs")
    menu = page.get_by_role("navigation", name="Chapters")
    expect(menu).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(menu).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    menu.get_by_role("link", name="Guides").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Documentation")


def pasted(page: Page, folder: Path) -> list[dict[str, Any]]:
    """Run the commands of a page in a shell, in their order; return what they print."""
    shown = page.locator("figure.code:not(.answer) code").all_inner_texts()
    commands = [text for text in shown if not text.startswith("http")]
    script = "\necho; echo\n".join(commands)
    done = subprocess.run(["bash", "-ec", script], cwd=folder, check=True, capture_output=True, text=True)
    return [json.loads(part) for part in done.stdout.split("\n\n") if part.strip()]


def test_first_sign_in_works_as_it_stands(reader: Reader, demo: Command, tmp_path: Path) -> None:
    page = reader.open("/docs/first-sign-in")
    page.get_by_role("link", name="Sign in at Acme").click()
    page.get_by_label("Email or username").fill("ada@example.com")
    page.get_by_label("Password", exact=True).fill("correct-horse-7")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Not now").click()
    expect(page.get_by_text("You’re back with a code.")).to_be_visible()
    assert page.url.startswith(demo.at("api", "/docs/first-sign-in?code="))
    tokens, person = pasted(page, tmp_path)
    assert tokens["scope"] == "openid profile email"
    assert person["email"] == "ada@example.com"


def test_first_account_works_as_it_stands(reader: Reader, tmp_path: Path) -> None:
    found, created, changed = pasted(reader.open("/docs/first-account"), tmp_path)
    assert found["FullName"] == "Ada Lovelace"
    assert changed == {"Uid": created["Uid"], "FullName": "Mary Somerville", "Company": "Royal Society"}


def test_first_machine_token_works_as_it_stands(reader: Reader, tmp_path: Path) -> None:
    token, accounts, keys = pasted(reader.open("/docs/first-machine-token"), tmp_path)
    assert token["token_type"] == "Bearer"
    assert accounts["Data"][0]["FirstName"] == "Ada"
    assert keys["keys"]


def test_old_address_of_an_operation_leads_to_its_page(reader: Reader) -> None:
    page = reader.page
    page.goto(f"{reader.open('/docs').url}#sign_in.with_password")
    page.reload()
    expect(page).to_have_url(re.compile(f"{SIGN_IN}$"))


def test_commands_of_the_overview_are_whole_and_work(reader: Reader, tmp_path: Path) -> None:
    page = reader.open("/docs")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        cut = page.evaluate("[...document.querySelectorAll('pre')].filter(e => e.scrollWidth > e.clientWidth).length")
        assert (cut, page.evaluate("document.documentElement.scrollWidth")) == (0, width)
        rows = page.locator("pre .key").evaluate_all("keys => keys.map(key => key.getClientRects().length)")
        assert rows == [1, 1], "no line breaks within a key"
    assert pasted(page, tmp_path) == [json.loads(page.locator("figure.answer code").inner_text())]


def test_overview_leads_to_the_request_and_to_the_demo(reader: Reader, demo: Command) -> None:
    page = reader.open("/docs")
    page.get_by_role("link", name="Try it in the browser").click()
    expect(page).to_have_url(re.compile("/docs/accounts/accounts.read_by_identifier$"))
    page.get_by_role("link", name="Demo", exact=True).click()
    expect(page).to_have_url(f"http://localhost:{demo.port}/")


def test_without_scripts_search_is_a_page(opened: Opened, demo: Command) -> None:
    page = Reader(opened, demo, java_script_enabled=False).open("/docs")
    page.get_by_role("searchbox", name="Search").fill("login password")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Sign in with a password").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in with a password")


def test_without_scripts_operations_are_listed_and_described(opened: Opened, demo: Command) -> None:
    reader = Reader(opened, demo, java_script_enabled=False)
    page = reader.open("/docs")
    page.get_by_role("link", name="Sign-in", exact=True).first.click()
    page.get_by_role("link", name="Sign in with a password POST /identity/v2/auth/login", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in with a password")
    expect(page.get_by_role("heading", name="Request body")).to_be_visible()
    expect(page.get_by_text("password", exact=True).first).to_be_visible()
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    expect(page.get_by_role("button", name="Try it")).to_have_count(0)
