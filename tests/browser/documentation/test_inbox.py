"""The development inbox in Chromium: the buttons of mails open our pages, and mails still run no scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from flask import Flask
from playwright.sync_api import Page, expect
from werkzeug.serving import make_server

from app.demo.inbox import create_inbox
from app.identity.platform.outbox.outbox import Outbox
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import mails_to
from tests.support.browsers import page_samples
from tests.support.browsers.clipboard import copied
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.browsers.page_checkers import axe_source
from tests.support.oauth.world import NewWorld, World

pytestmark = pytest.mark.database_alone  # the inbox lists the whole database
ADDRESS, PASSWORD = "ada@example.com", "Zebra-kettle-91"


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world()


@pytest.fixture
def inbox(world: World) -> Iterator[str]:
    server = make_server(
        "127.0.0.1", 0, create_inbox(world.services.database, world.services.encryption), threaded=True
    )
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://inbox.localhost:{server.server_port}"
    server.shutdown()
    thread.join()


def post(world: World, html: str, text: str = "") -> None:
    """Put a mail of the tenant's own template into the outbox."""
    work = UnitOfWork(world.services.database, world.tenant_id)
    outbox = Outbox(work, world.services.clock, world.services.encryption)
    outbox.post("mail", {"to": ADDRESS, "subject": "Hello", "text": text, "html": html})
    work.commit()


@pytest.mark.parametrize("has_script", [True, False])
def test_button_of_a_mail_opens_the_page(
    world: World, served: str, inbox: str, opened: Callable[..., Page], has_script: bool
) -> None:
    page = opened(java_script_enabled=has_script)
    page.goto(sign_in_address(served, the_shop(world, served)))
    page.get_by_role("button", name="Create account").click()
    page.get_by_label("Email").fill(ADDRESS)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your email")
    (mail,) = mails_to(world.services, world.tenant_id, ADDRESS)
    hub = re.sub(r"/[^/]*$", "", world.services.settings.hub_url(world.name) + "/")
    post(world, mail["html"].replace(hub, served))
    tab = opened(java_script_enabled=has_script)
    tab.goto(inbox)
    with tab.context.expect_page() as popup:
        tab.frame_locator("iframe").first.get_by_role("link", name="Verify").first.click()
    linked = popup.value
    expect(linked.get_by_role("heading", level=1)).to_have_text("Verify your email")
    linked.get_by_role("main").get_by_role("button").first.click()
    expect(linked.get_by_role("heading", level=1)).not_to_have_text("Verify your email")


@pytest.mark.parametrize(
    "html", ["<a href='{}'>Go</a>", "<html><HEAD lang='en'><title>x</title></HEAD><a href='{}'>Go</a>"]
)
def test_link_of_own_template_leaves_the_sandbox(
    world: World, served: str, inbox: str, opened: Callable[..., Page], html: str
) -> None:
    post(world, "<script>parent.document.title = 'taken'</script>" + html.format(f"{served}/login"))
    tab = opened()
    tab.goto(inbox)
    with tab.context.expect_page() as popup:
        tab.frame_locator("iframe").get_by_role("link", name="Go").click()
    expect(popup.value.get_by_label("Password", exact=True)).to_be_visible()
    assert popup.value.evaluate("[window.origin !== 'null', window.opener]") == [True, None]
    assert tab.title() != "taken"


def test_logo_at_the_tenants_host_is_loaded(
    world: World,
    hub_app: Flask,
    served: str,
    inbox: str,
    opened: Callable[..., Page],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in every mail program that runs in a browser."""
    (tmp_path / world.name).mkdir()
    (tmp_path / world.name / "logo.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    shared = hub_app.extensions["gatehouse"]
    settings = replace(shared.settings, theme_files=str(tmp_path))
    monkeypatch.setitem(hub_app.extensions, "gatehouse", replace(shared, settings=settings))
    post(world, f"<img src='{served}/theme/logo.svg' alt='Acme'>")
    tab = opened()
    with tab.expect_response(f"{served}/theme/logo.svg") as answer:
        tab.goto(inbox)
    assert answer.value.ok


def test_phone_shows_the_list_or_one_message(world: World, inbox: str, opened: Callable[..., Page]) -> None:
    post(world, "<p>Your code is 482913</p>")
    page = opened(viewport={"width": 320, "height": 640})
    page.goto(inbox)
    expect(page.get_by_role("heading")).to_have_text(["Inbox"])
    expect(page.locator(".unread")).to_have_count(1)
    assert barriers(page) == []
    page.get_by_role("link", name="Hello").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Hello")
    expect(page.get_by_role("searchbox")).to_be_hidden()
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    page.get_by_role("main").get_by_role("link", name="Inbox").click()
    expect(page.get_by_role("searchbox")).to_be_visible()
    expect(page.locator(".unread")).to_have_count(0)


def test_new_messages_arrive_while_the_page_is_open(world: World, inbox: str, opened: Callable[..., Page]) -> None:
    page = opened()
    page.goto(inbox)
    expect(page.get_by_role("heading", name="No messages yet")).to_be_visible()
    post(world, "<p>The first</p>")
    listed = page.get_by_role("navigation", name="Messages").get_by_role("listitem")
    expect(listed).to_have_count(1, timeout=20_000)
    expect(page.frame_locator("iframe").get_by_text("The first")).to_be_visible()
    listed.get_by_role("link").focus()
    post(world, "<p>The second</p>")
    expect(listed).to_have_count(2, timeout=20_000)
    expect(listed.nth(1).get_by_role("link")).to_be_focused()
    expect(listed.nth(1).get_by_role("link")).to_have_attribute("aria-current", "true")
    expect(page.get_by_text("2 messages", exact=True)).to_be_visible()
    expect(page.locator("[aria-current=true]")).to_have_count(1)
    expect(page.locator(".unread")).to_have_count(1)
    expect(listed.first.get_by_role("link")).to_have_accessible_description("Unread")
    expect(page.frame_locator("iframe").get_by_text("The first")).to_be_visible()


def test_list_is_cleared_without_scripts(world: World, inbox: str, opened: Callable[..., Page]) -> None:
    post(world, "<p>Hello</p>")
    page = opened(java_script_enabled=False)
    page.goto(inbox)
    page.get_by_role("button", name="Delete all").click()
    expect(page.get_by_role("heading", name="No messages yet")).to_be_visible()


@pytest.mark.parametrize("address", ["", "?q=absent", "gallery"])
def test_inbox_has_no_barrier(world: World, inbox: str, opened: Callable[..., Page], address: str) -> None:
    post(world, "<p>Hello</p>")
    page = opened()
    page.goto(f"{inbox}/{address}")
    assert barriers(page) == []


def barriers(page: Page) -> list[tuple[str, list[str]]]:
    """Return what axe finds on the page, without its frames."""
    page.evaluate(axe_source())
    found = page.evaluate("axe.run(document, {iframes: false})")["violations"]
    return [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found]


@pytest.mark.parametrize("width", [320, 1280])
def test_gallery_of_pages_shows_them_without_barriers(opened: Callable[..., Page], width: int) -> None:
    server = make_server("127.0.0.1", 0, page_samples.hub(), threaded=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    page = opened(viewport={"width": width, "height": 640})
    page.goto(f"http://127.0.0.1:{server.server_port}/_gallery?group=device")
    expect(page.frame_locator("iframe").first.get_by_role("heading", level=1)).to_have_text("Connect a device")
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    server.shutdown()
    thread.join()


def test_code_of_a_message_is_copied(world: World, inbox: str, opened: Callable[..., Page]) -> None:
    post(world, "<p>482913</p>", text="Your code is 482913")
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    page.goto(inbox)
    assert "482913" not in page.inner_text("main")  # the message alone shows it
    page.get_by_role("button", name="Copy code").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert copied(page) == "482913"
