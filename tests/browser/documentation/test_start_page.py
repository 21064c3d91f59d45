"""What the demo's start page promises, as its reader does it in Chromium: a passkey's offer, an organization's domains, a request."""

import os
import re
import signal
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.page_checkers import axe_source
from tests.support.processes.command_process import Command, HostsBrowser, forked
from tests.support.sources import ROOT


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    folder = tmp_path_factory.mktemp("demo")
    running = forked(["demo", "--bind", "127.0.0.1:0", "--data", str(folder)], ROOT, os.environ)
    yield running
    assert running.end(signal.SIGTERM) == 0


@pytest.fixture
def start(demo: Command, opened: Opened) -> Page:
    tab = opened()
    tab.goto(f"http://localhost:{demo.port}/")
    return tab


def sign_in_as_ada(tab: Page) -> None:
    """Sign in, and pass over the offer of a passkey."""
    tab.locator("main input[name=identifier]").fill("ada@example.com")
    tab.locator("main input[name=password]").fill("correct-horse-7")
    tab.locator("main input[name=password]").press("Enter")
    expect(tab.get_by_role("heading", name="Sign in faster next time")).to_be_visible()
    tab.get_by_role("button", name="Not now").click()


def test_organization_has_members_settings_and_domains(start: Page) -> None:
    start.get_by_role("link", name="Open organization").click()
    sign_in_as_ada(start)
    start.get_by_role("main").get_by_role("link", name=re.compile("Members|Hazel Labs")).first.click()
    for page in ("Domains", "Settings"):
        start.get_by_role("link", name=page).click()
        expect(start.get_by_role("heading", level=1)).to_be_visible()
        expect(start.get_by_text("Hazel Labs").first).to_be_visible()


def test_request_of_the_reference_answers_200(start: Page) -> None:
    start.get_by_role("link", name="Send request").click()
    with start.expect_response(lambda answer: "/manage/account" in answer.url) as answered:
        start.get_by_role("button", name="Try it").last.click()
    assert answered.value.status == 200
    assert answered.value.json()["Email"][0]["Value"] == "ada@example.com"


def test_every_link_answers_200(start: Page) -> None:
    links = start.locator("a").evaluate_all("links => links.map(link => link.href)")
    assert len(links) > 12
    reader = HostsBrowser()  # Chromium would load each page of the gallery's frames
    assert [link for link in links if reader.open(link)[0].status_code != 200] == []
    reader.forget()


def test_choice_in_the_gallery_shows_at_once(start: Page, demo: Command) -> None:
    start.goto(demo.at("acme", "/_gallery?group=device"))
    expect(start.get_by_role("button", name="Show")).to_be_hidden()
    start.get_by_label("Language").select_option("de")
    expect(start).to_have_url(re.compile("lang=de"))
    start.go_back()
    expect(start.get_by_label("Language")).to_have_value("en")


@pytest.mark.parametrize(("size", "width", "of_row"), [("phone", 1280, 4), ("desktop", 1280, 3)])
def test_thumbnails_have_one_scale_in_even_rows(start: Page, demo: Command, size: str, width: int, of_row: int) -> None:
    start.set_viewport_size({"width": width, "height": 844})
    start.goto(demo.at("acme", f"/_gallery?q=denied&look=acme&size={size}"))
    expect(start.frame_locator(".shot iframe").first.get_by_role("heading", level=1)).to_be_visible()
    drawn = start.locator(".shot").evaluate_all(
        """shots => shots.map(({firstChild: frame}) => [frame.getBoundingClientRect().width / frame.offsetWidth,
           frame.offsetWidth, frame.offsetHeight].map(each => each.toFixed(3)).join(" "))"""
    )
    assert len(drawn) > of_row
    assert len(set(drawn)) == 1
    columns = start.locator(".thumbs").first.evaluate("list => getComputedStyle(list).gridTemplateColumns")
    assert len(columns.split()) == of_row


@pytest.mark.parametrize(("size", "least"), [("phone", 3), ("desktop", 3), ("both", 1)])
def test_thumbnails_are_a_strip_to_swipe_on_phones(start: Page, demo: Command, size: str, least: int) -> None:
    start.set_viewport_size({"width": 390, "height": 844})
    start.goto(demo.at("acme", f"/_gallery?group=sign_in&size={size}"))
    tops, first = start.locator(".thumbs").first.evaluate(
        "list => [[...list.children].map(tile => tile.offsetTop), list.children[0].getBoundingClientRect().right]"
    )
    assert len(tops) >= least
    assert len(set(tops)) == 1
    assert first < 390
    assert start.evaluate("document.documentElement.scrollWidth") == 390


def test_view_options_are_folded_on_phones(start: Page, demo: Command) -> None:
    start.set_viewport_size({"width": 390, "height": 844})
    start.goto(demo.at("acme", "/_gallery?group=device&mode=dark"))
    expect(start.get_by_label("Language")).to_be_hidden()
    start.get_by_text("View options Acme (live) · English · Dark").click()
    start.get_by_label("Language").select_option("de")
    expect(start).to_have_url(re.compile("lang=de"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["", "gallery"])
def test_page_has_no_barrier_and_fits_a_phone(
    start: Page, demo: Command, path: str, scheme: Literal["light", "dark"]
) -> None:
    start.emulate_media(color_scheme=scheme)
    if path:
        start.goto(demo.at("acme", "/_gallery?group=device"))
    start.evaluate(axe_source())
    found = start.evaluate("axe.run(document, {iframes: false})")["violations"]
    assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found] == []
    start.set_viewport_size({"width": 320, "height": 700})
    assert start.evaluate("document.documentElement.scrollWidth") == 320
