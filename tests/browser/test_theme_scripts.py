"""Scripts of a theme in Chromium: they run on the pages that may have them, and reach nothing else of the host (decision 0421)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask
from playwright.sync_api import Page, Route
from werkzeug.serving import make_server
from werkzeug.test import Client
from werkzeug.wrappers import Request, Response

from tests.support.browsers.chromium import Opened
from tests.support.oauth.world import World

ORIGIN = "https://analytics.example"
FILES = {
    "/count.js": "window.counted = location.href; window.has_nonce = document.currentScript.nonce !== '';",
    "/inserts.js": f"var s = document.createElement('script'); s.src = '{ORIGIN}/inserted.js'; document.head.append(s);",
    "/inserted.js": "window.moved = 'yes'",
}
WATCHES = """({
    counted: window.counted ?? '', moved: window.moved ?? '', origin: self.origin,
    cookie: (() => { try { return document.cookie } catch (error) { return error.name } })(),
    storage: (() => { try { return localStorage.length } catch (error) { return error.name } })(),
})"""


@pytest.fixture
def custom(world: World, hub_app: Flask) -> Iterator[str]:
    """Serve the tenant's verified custom domain at a free port, and return the address for the browser."""
    home = world.services.settings.custom_url(world.add_custom_domain())

    @Request.application
    def proxy_to_hub(request: Request) -> Any:
        if request.host.startswith("evil."):
            return Response("window.moved = 'yes'", mimetype="text/javascript")
        names = ("host", "accept-encoding")
        headers = {name: value for name, value in request.headers.items() if name.lower() not in names}
        client = Client(hub_app, use_cookies=False)
        return client.open(request.full_path.removesuffix("?"), method=request.method, base_url=home, headers=headers)

    server = make_server("127.0.0.1", 0, proxy_to_hub, threaded=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://custom.localhost:{server.server_port}"
    server.shutdown()
    thread.join()


@pytest.fixture
def page(opened: Opened, custom: str) -> Page:
    """A page for which the host of the scripts is there; its `/moved.js` leads to a host that the operator does not allow."""
    page, evil = opened(alone=True), custom.replace("custom.", "evil.")

    def answer(route: Route) -> None:
        path = urlsplit(route.request.url).path
        if path == "/moved.js":
            route.fulfill(status=302, headers={"location": f"{evil}/stolen.js"})
        else:
            headers = {"access-control-allow-origin": "*"}
            route.fulfill(body=FILES.get(path, ""), content_type="text/javascript", headers=headers)

    page.route(lambda url: url.startswith(ORIGIN), answer)
    return page


def allow(world: World, *paths: str) -> None:
    world.change_settings(theme_scripts={"origins": [ORIGIN]}, registration=False)
    world.change_brand(scripts={"js": "\n".join(f"{ORIGIN}{path}" for path in paths)})


def seen(page: Page, address: str) -> dict[str, Any]:
    page.goto(address)
    page.wait_for_load_state("networkidle")
    found: dict[str, Any] = page.evaluate(WATCHES)
    return found


def test_script_runs_on_its_page_of_the_custom_domain_alone(world: World, custom: str, served: str, page: Page) -> None:
    allow(world, "/count.js")
    assert seen(page, f"{custom}/register")["counted"] == f"{custom}/register"
    assert page.evaluate("window.has_nonce")
    assert page.evaluate("getComputedStyle(document.body).margin") == "0px"  # our style sheet and script load, too
    for address in (f"{custom}/login", f"{custom}/nowhere", f"{custom}/logout?state=1", f"{served}/register"):
        assert seen(page, address)["counted"] == "", address


def test_script_reaches_nothing_of_the_host(world: World, custom: str, page: Page) -> None:
    allow(world, "/count.js")
    assert seen(page, f"{custom}/login")["origin"] == custom
    page.evaluate("localStorage.setItem('x', 'y')")
    found = seen(page, f"{custom}/register")
    assert (found["origin"], found["cookie"], found["storage"]) == ("null", "SecurityError", "SecurityError")
    reached: Callable[[str], Any] = page.evaluate
    assert reached("fetch('/login').then(() => 'read', () => 'refused')") == "refused"
    assert reached(f"fetch('{ORIGIN}/collect').then(() => 'sent', () => 'refused')") == "sent"
    assert reached(f"fetch('{custom.replace('custom.', 'evil.')}').then(() => 'sent', () => 'refused')") == "refused"
    with page.context.expect_page() as other:
        page.evaluate("window.other = window.open('/login')")
    other.value.wait_for_load_state()
    assert other.value.get_by_label("Password", exact=True).count() == 1
    assert reached("(() => { try { return window.other.document.title } catch (error) { return error.name } })()") in (
        "SecurityError",
        "TypeError",
    )
    other.value.close()


def test_form_that_a_script_adds_sends_nothing(world: World, custom: str, page: Page) -> None:
    allow(world, "/count.js")
    seen(page, f"{custom}/register")
    with page.expect_console_message(lambda message: "sandboxed" in message.text):
        page.evaluate(
            "document.body.insertAdjacentHTML('beforeend', '<form method=post action=/login><input name=password></form>');"
            "document.forms[0].submit()"
        )
    assert page.url == f"{custom}/register"


@pytest.mark.parametrize("path", ["/moved.js", "/inserts.js"])
def test_script_leads_to_no_other_script(world: World, custom: str, page: Page, path: str) -> None:
    allow(world, path, "/count.js")
    found = seen(page, f"{custom}/register")
    assert (found["counted"], found["moved"]) == (f"{custom}/register", "")


def test_links_of_the_page_lead_on_with_the_browsers_cookies(world: World, custom: str, page: Page) -> None:
    allow(world, "/count.js")
    page.goto(f"{custom}/login?lang=de")
    seen(page, f"{custom}/register")
    page.get_by_role("link", name="Anmelden").first.click()
    page.wait_for_url(f"{custom}/login")
    assert page.locator("html").get_attribute("lang") == "de"
