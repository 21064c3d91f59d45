"""The development inbox in Chromium: the buttons of mails open our pages, and mails still run no scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from threading import Thread

import pytest
from playwright.sync_api import Page, expect
from werkzeug.serving import make_server

from app.demo.inbox import create_inbox
from app.identity.platform.outbox.outbox import Outbox
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import mails_to
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
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


def post(world: World, html: str) -> None:
    """Put a mail of the tenant's own template into the outbox."""
    work = UnitOfWork(world.services.database, world.tenant_id)
    outbox = Outbox(work, world.services.clock, world.services.encryption)
    outbox.post("mail", {"to": ADDRESS, "subject": "Hello", "text": "", "html": html})
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
