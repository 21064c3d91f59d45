"""What only a browser can say of every page, and what it does on single ones. Each page is opened once to be asked everything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from app.settings import ROOT
from tests.support import looks, samples
from tests.support.captcha_widgets import provide

LONGEST_WORDS, OTHER_WAY_ROUND = "de", "ar"
PAGES = [name for name in samples.states() if name != "FormPostPage"]  # it leaves at once: see below


@contextmanager
def opened(browser: Browser, **how: Any) -> Iterator[tuple[Page, list[str]]]:
    """A page, and what the browser complained of on it."""
    context = browser.new_context(**how)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda problem: complaints.append(str(problem)))
    yield page, complaints
    context.close()


@dataclass
class Reader:
    """Somebody at one browser, who looks at pages side by side."""

    sheet: looks.Sheet
    complaints: list[str]
    gallery: str

    def asks(self, name: str, language: str) -> list[str]:
        """Say what is wrong with a page in any of its states; what words cannot change is asked in one language."""
        states = samples.states()[name]
        self.complaints.clear()
        self.sheet.lay(self.gallery, [samples.address(name, state, language) for state in states])
        rules = [looks.in_narrow_windows]
        if language == LONGEST_WORDS:
            rules = [looks.accessible, looks.by_keyboard, looks.by_ear, looks.in_narrow_windows, looks.otherwise]
        answers = [faults for rule in rules for faults in rule(self.sheet)]
        found = [
            f"{state}: {fault}" for faults in answers for state, of in zip(states, faults, strict=True) for fault in of
        ]
        return found + [f"the browser says: {said}" for said in self.complaints if "Autofocus" not in said]


@pytest.fixture(scope="session")
def readers(chromium: Browser, gallery_address: str) -> Iterator[dict[bool, Reader]]:
    """Who looks at pages of ours alone, and who at those where a captcha provider has its widget too (nothing is kept there)."""
    with opened(chromium) as (page, complaints), opened(chromium) as (other, complaints_there):
        provide(other)
        yield {
            False: Reader(looks.Sheet(page), complaints, gallery_address),
            True: Reader(looks.Sheet(other), complaints_there, gallery_address),
        }


def has_widget(name: str) -> bool:
    return any("data-widget" in samples.drawn(name, state, LONGEST_WORDS).html for state in samples.states()[name])


@pytest.mark.parametrize("language", [LONGEST_WORDS, OTHER_WAY_ROUND])
@pytest.mark.parametrize("name", PAGES)
def test_every_page_serves_everybody(readers: dict[bool, Reader], name: str, language: str) -> None:
    assert not (found := readers[has_widget(name)].asks(name, language)), "\n".join(found)


def test_every_layout_is_asked_at_its_narrowest() -> None:
    style = "".join(path.read_text() for path in (ROOT / "static" / "css").glob("*.css"))
    begins = {int(width) for width in re.findall(r"min-width: (\d+)px", style)}
    begins |= {int(width) + 1 for width in re.findall(r"max-width: (\d+)px", style)}
    assert begins | {320} == set(looks.NARROWEST)


@pytest.fixture(scope="session")
def without_scripts(chromium: Browser) -> Iterator[Page]:
    with opened(chromium, java_script_enabled=False) as (page, _):
        yield page


def forms_of(html: str) -> str:
    """The fields and buttons of a page: where they are the same, Enter does the same."""
    main = html.partition("<main")[2].partition("</main>")[0]
    kept = re.findall(r"</?form|<(?:input|select|textarea|button)[^>]*>", main)
    return re.sub(r' (?:value|aria-[a-z]+|id)="[^"]*"| autofocus', "", "".join(kept))


@pytest.mark.parametrize("name", PAGES)
def test_without_scripts_every_button_does_something_and_enter_the_first(
    without_scripts: Page, gallery_address: str, name: str
) -> None:
    page, faults = without_scripts, []
    different = {forms_of(samples.drawn(name, state, "en").html): state for state in samples.states()[name]}
    for state in different.values():
        page.goto(gallery_address + samples.address(name, state, "en"))
        for more in page.locator("main details > summary").all():
            more.click()
        if page.locator("button:not([type=submit]):visible").count():
            faults.append(f"{name} {state}: a button that sends nothing")
        for form in page.locator("main form:has(input.control)").all():
            first = form.locator("button[type=submit]").first
            with page.expect_request(lambda request: request.method == "POST") as sent:
                form.locator("input.control").first.press("Enter")
            pressed = f"{first.get_attribute('name')}={first.get_attribute('value')}"
            if first.get_attribute("name") and pressed not in (sent.value.post_data or ""):
                faults.append(f"{name} {state}: Enter is not {pressed}")
    assert not faults, "\n".join(faults)


def test_colours_that_a_page_must_not_trust_can_be_read(chromium: Browser, gallery_address: str) -> None:
    shown = (("LoginPage", "empty"), ("ConsentPage", "usual"), ("SecurityPage", "three"))
    every = [samples.address(name, state, "ar", look) for look in ("sunny", "paper", "mono") for name, state in shown]
    with opened(chromium) as (page, _):
        sheet = looks.Sheet(page)
        sheet.lay(gallery_address, every)
        found = [
            (address, fault) for faults in looks.accessible(sheet) for address, fault in zip(every, faults, strict=True)
        ]
    assert [each for each in found if each[1]] == []


def shop(route: Route) -> None:
    route.fulfill(body="<title>Shop</title>")


def test_the_answer_for_the_relying_party_goes_on_by_itself(chromium: Browser, gallery_address: str) -> None:
    with opened(chromium) as (page, complaints):
        page.route("https://shop.example.com/**", shop)
        page.goto(gallery_address + samples.address("FormPostPage", "to the shop", "en"), wait_until="commit")
        page.wait_for_url("https://shop.example.com/callback")
        assert complaints == []


def test_without_javascript_a_button_takes_it_there(chromium: Browser, gallery_address: str) -> None:
    with opened(chromium, java_script_enabled=False) as (page, _):
        page.route("https://shop.example.com/**", shop)
        page.goto(gallery_address + samples.address("FormPostPage", "to the shop", "en"))
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
