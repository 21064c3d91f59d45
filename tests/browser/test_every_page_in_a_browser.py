"""What only a browser can say of every page: accessibility, that nothing overflows, that the policy stops nothing of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support import samples
from tests.support.captcha_widgets import provide
from tests.support.checkers import axe_source

AXE = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .map(each => each.id + ": " + each.nodes.map(node => node.target.join(" ")).join(", "))"""
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
SMALL_TARGETS = """() => [...document.querySelectorAll("a, button, input:not([type=hidden]), summary")]
    .filter(each => each.checkVisibility() && !each.closest(".skip, [tabindex='-1']"))
    .map(each => [each.closest("label") || each, each]).map(([box, each]) => [box.getBoundingClientRect(), each])
    .filter(([box, each]) => box.width > 0 && (box.width < 24 || box.height < 24)).map(([box, each]) => each.outerHTML.slice(0, 80))"""


@contextmanager
def opened(browser: Browser, **how: Any) -> Iterator[tuple[Page, list[str]]]:
    """A page, and what the browser complained of on it."""
    context = browser.new_context(**how)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda problem: complaints.append(str(problem)))
    provide(page)
    page.route("https://shop.example.com/**", lambda route: route.fulfill(body="<title>Shop</title>"))
    yield page, complaints
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible(chromium: Browser, gallery_address: str, scheme: Any) -> None:
    found = {}
    with opened(chromium, color_scheme=scheme, bypass_csp=True, java_script_enabled=True) as (page, _):
        for name, state in samples.names():
            if name == "HandOverPage":
                continue  # leaves at once; its look is tested without JavaScript below
            page.goto(gallery_address + samples.address(name, state, "en"))
            page.evaluate(axe_source())
            if violations := page.evaluate(AXE):
                found[f"{name} {state}"] = violations
    assert found == {}


@pytest.mark.parametrize("look", ["sunny", "paper", "mono"])
def test_colours_that_a_page_must_not_trust_can_be_read(chromium: Browser, gallery_address: str, look: str) -> None:
    found = {}
    for scheme in ("light", "dark"):
        with opened(chromium, color_scheme=scheme, bypass_csp=True) as (page, _):
            for name, state in (("LoginPage", "empty"), ("ConsentPage", "usual"), ("SecurityPage", "three")):
                page.goto(gallery_address + samples.address(name, state, "ar", look))
                page.evaluate(axe_source())
                if violations := page.evaluate(AXE):
                    found[f"{scheme} {name} {state}"] = violations
    assert found == {}


def test_no_page_scrolls_sideways(chromium: Browser, gallery_address: str) -> None:
    """320 px is also 1280 px at 400 % (WCAG 2.2, 1.4.10)."""
    wide = []
    with opened(chromium, java_script_enabled=True) as (page, _):
        for name, state in samples.names():
            for language in ("de", "ar"):
                if name == "HandOverPage":
                    continue
                page.goto(gallery_address + samples.address(name, state, language))
                for width in (320, 390, 820, 1280):
                    page.set_viewport_size({"width": width, "height": 800})
                    if page.evaluate(TOO_WIDE):
                        wide.append(f"{name} {state} {language} {width}")
    assert wide == []


def test_every_target_can_be_hit(chromium: Browser, gallery_address: str) -> None:
    small = {}
    with opened(chromium, viewport={"width": 390, "height": 800}) as (page, _):
        for name, state in samples.names():
            if name == "HandOverPage":
                continue
            page.goto(gallery_address + samples.address(name, state, "en"))
            if found := page.evaluate(SMALL_TARGETS):
                small[f"{name} {state}"] = found
    assert small == {}


def test_the_policy_stops_nothing_of_ours(chromium: Browser, gallery_address: str) -> None:
    with opened(chromium) as (page, complaints):
        for name, state in samples.names():
            page.goto(gallery_address + samples.address(name, state, "en"), wait_until="commit")
            page.wait_for_load_state()
    assert [said for said in complaints if "Autofocus" not in said] == []


def test_the_answer_for_the_relying_party_goes_on_by_itself(chromium: Browser, gallery_address: str) -> None:
    with opened(chromium) as (page, _):
        page.goto(gallery_address + samples.address("HandOverPage", "to the shop", "en"))
        page.wait_for_url("https://shop.example.com/callback")


def test_without_javascript_a_button_takes_it_there(chromium: Browser, gallery_address: str) -> None:
    with opened(chromium, java_script_enabled=False) as (page, _):
        page.goto(gallery_address + samples.address("HandOverPage", "to the shop", "en"))
        page.get_by_role("button", name="Continue").click()
        page.wait_for_url("https://shop.example.com/callback")


def test_without_javascript_nothing_stands_there_that_does_nothing(chromium: Browser, gallery_address: str) -> None:
    with opened(chromium, java_script_enabled=False) as (page, _):
        page.goto(gallery_address + samples.address("LoginPage", "fresh", "en"))
        assert page.get_by_role("button").count() == 1
        page.get_by_text("English").click()
        page.get_by_role("link", name="Deutsch").click()
        assert page.get_by_role("heading", level=1).inner_text() == "Willkommen zurück"


def test_the_sign_in_form_is_filled_by_keyboard_alone(chromium: Browser, gallery_address: str) -> None:
    with opened(chromium) as (page, _):
        page.goto(gallery_address + samples.address("LoginPage", "fresh", "en"))
        visited = []
        for _step in range(6):
            page.keyboard.press("Tab")
            visited.append(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
            ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert ring != "none", visited
        assert visited == ["identifier", "password", "Show", "Forgot it?", "remember", "Sign in"]


def test_a_password_is_shown_and_hidden_again_before_it_is_sent(chromium: Browser, gallery_address: str) -> None:
    with opened(chromium) as (page, _):
        page.goto(gallery_address + samples.address("LoginPage", "fresh", "en"))
        field = page.get_by_label("Password", exact=True)
        field.fill("correct horse")
        page.get_by_role("button", name="Show: Password").click()
        assert field.get_attribute("type") == "text"
        page.route("**/login", lambda route: route.fulfill(status=204))
        page.get_by_role("button", name="Sign in").click()
        assert field.get_attribute("type") == "password"


def test_what_went_wrong_has_the_focus_and_leads_to_the_field(chromium: Browser, gallery_address: str) -> None:
    with opened(chromium) as (page, _):
        page.goto(gallery_address + samples.address("LoginPage", "empty", "en"))
        expect(page.locator("#summary")).to_be_focused()
        page.get_by_role("link", name="Enter your password.").click()
        expect(page.locator("#password")).to_be_focused()
        assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "password-problem"


def test_the_page_turns_round_in_arabic(chromium: Browser, gallery_address: str) -> None:
    with opened(chromium, viewport={"width": 1280, "height": 820}) as (page, _):
        for language, form_is_left in (("en", True), ("ar", False)):
            page.goto(gallery_address + samples.address("LoginPage", "fresh", language))
            form, scene = page.locator("form").bounding_box(), page.locator(".scene").bounding_box()
            assert form
            assert scene
            assert (form["x"] < scene["x"]) is form_is_left


def test_the_scene_gives_way_where_there_is_no_room(chromium: Browser, gallery_address: str) -> None:
    with opened(chromium, viewport={"width": 819, "height": 700}) as (page, _):
        page.goto(gallery_address + samples.address("LoginPage", "fresh", "en"))
        assert not page.locator(".scene").is_visible()


def test_nothing_moves_for_those_who_ask(chromium: Browser, gallery_address: str) -> None:
    with opened(chromium, reduced_motion="reduce") as (page, _):
        page.goto(gallery_address + samples.address("LoginPage", "fresh", "en"))
        assert page.evaluate("getComputedStyle(document.querySelector('.button')).transitionDuration") == "0s"
