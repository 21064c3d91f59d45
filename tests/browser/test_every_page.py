"""Browser checks of every page sample: layout, accessibility, keyboard; and behaviour of single pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from app.hub.theme_check.browser.focus_rules import by_keyboard
from app.hub.theme_check.browser.layout_rules import NARROWEST, in_narrow_windows, uncovered
from app.hub.theme_check.browser.sheet import Rule, Sheet
from app.kit.package_files import STATIC
from tests.support.browsers import page_rules, page_samples, theme_samples
from tests.support.browsers.chromium import UNPAINTED, Opened
from tests.support.browsers.page_cover import MAX_LANGUAGE_LENGTH, covers
from tests.support.fakes.captcha_widgets import provide

RTL_LANGUAGE = "ar"
PAGES = [name for name in page_samples.states() if name != "FormPostPage"]  # submits itself: tested below


@contextmanager
def open_page(browser: Browser, **how: Any) -> Iterator[tuple[Page, list[str]]]:
    """Open a page; yield it with the list of its console errors and warnings."""
    context = browser.new_context(**how)
    page = context.new_page()
    yield page, messages_of(page)
    context.close()


def messages_of(page: Page) -> list[str]:
    """Return the list that the page's console errors and warnings will join."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda problem: said.append(str(problem)))
    return said


def faults(sheet: Sheet, *rules: Rule) -> list[str]:
    """Return the faults that rules find on the pages of a sheet."""
    return [f"{name}: {fault}" for name, fault in sheet.found(*rules)]


LOOKED_AT = (page_rules.by_ear, by_keyboard, page_rules.otherwise)


@dataclass
class PageReader:
    """A sheet of pages and the console messages of its browser."""

    sheet: Sheet
    console_messages: list[str]
    gallery: str

    def faults_of(self, name: str, language: str) -> list[str]:
        """Return the faults of a page.

        Texts and their width are checked where words are longest, in the states that show each of them; single elements, and what
        follows from the style sheet alone, as the other direction, in the states that show each element.
        """
        cover = covers()[name]
        states = cover.of_texts if language == MAX_LANGUAGE_LENGTH else cover.of_elements
        self.console_messages.clear()
        self.sheet.lay(self.gallery, {state: page_samples.address(name, state, language) for state in states})
        found = faults(self.sheet, in_narrow_windows)
        if language == MAX_LANGUAGE_LENGTH:
            found += faults(self.sheet, page_rules.with_larger_text)
            self.sheet.keep(cover.of_elements)
            found += faults(self.sheet, page_rules.accessible, *LOOKED_AT, page_rules.with_edges)
        return found + self.complaints()

    def faults_of_themed(self, places: Sequence[theme_samples.Place], *rules: Rule) -> list[str]:
        """Return the faults of pages of a theme by the rules on its look, and by these."""
        self.console_messages.clear()
        self.sheet.lay(self.gallery, {" ".join(place): theme_samples.address(*place) for place in places})
        found = faults(
            self.sheet,
            in_narrow_windows,
            page_rules.with_larger_text,
            uncovered,
            page_rules.coloured,
            *LOOKED_AT,
            *rules,
        )
        return found + self.complaints()

    def complaints(self) -> list[str]:
        return [f"the browser says: {message}" for message in self.console_messages if "Autofocus" not in message]


@pytest.fixture(scope="session")
def page_readers(chromium: Browser, gallery_address: str) -> Iterator[dict[bool, PageReader]]:
    """Yield two readers: one for pages without a captcha widget, one with fake providers (which disables the cache)."""
    with open_page(chromium) as (page, console_messages), open_page(chromium) as (other, other_messages):
        provide(other)
        yield {
            False: PageReader(page_rules.sheet(page), console_messages, gallery_address),
            True: PageReader(page_rules.sheet(other), other_messages, gallery_address),
        }


def has_widget(name: str) -> bool:
    return any(
        "data-widget" in page_samples.rendered(name, state, MAX_LANGUAGE_LENGTH).html
        for state in page_samples.states()[name]
    )


@pytest.mark.parametrize("language", [MAX_LANGUAGE_LENGTH, RTL_LANGUAGE])
@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_accessible_and_fits(page_readers: dict[bool, PageReader], name: str, language: str) -> None:
    assert not (found := page_readers[has_widget(name)].faults_of(name, language)), "\n".join(found)


@pytest.fixture(scope="session")
def theme_readers(chromium: Browser, theme_address: Callable[[str], str]) -> Iterator[Callable[[str], PageReader]]:
    """Yield the function that returns a theme's reader."""
    with ExitStack() as opened_pages:

        @cache
        def reader(theme: str) -> PageReader:
            page, console_messages = opened_pages.enter_context(open_page(chromium))
            return PageReader(page_rules.sheet(page), console_messages, theme_address(theme))

        yield reader


PARTS = 8
"""Of the pages of a theme: each is laid on one sheet."""


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("theme", theme_samples.THEMES)
def test_every_page_is_accessible_and_fits_in_themes(
    theme_readers: Callable[[str], PageReader], theme: str, part: int
) -> None:
    """What is within a page is ours, so axe looks at the elements of each page in one theme, and at its colours in all."""
    places = theme_samples.one_of_each(theme)[part::PARTS]
    is_in_turn = part % len(theme_samples.THEMES) == theme_samples.THEMES.index(theme)
    rules = (page_rules.structured,) if is_in_turn else ()
    assert not (found := theme_readers(theme).faults_of_themed(places, *rules)), "\n".join(found)


def test_every_breakpoint_is_checked() -> None:
    style = "".join(path.read_text() for path in (STATIC / "css").glob("*.css"))
    breakpoints = {int(width) for width in re.findall(r"min-width: (\d+)px", style)}
    breakpoints |= {int(width) + 1 for width in re.findall(r"max-width: (\d+)px", style)}
    assert breakpoints | {320} == set(NARROWEST)


@pytest.fixture(scope="session")
def any_window(chromium: Browser) -> Iterator[Page]:
    """Yield a page whose window the tests size: to open another browser context takes longer than to show a page."""
    with open_page(chromium) as (page, _):
        page.add_init_script(UNPAINTED)
        yield page


def forms_of(html: str) -> str:
    """Return the fields and buttons of a page, normalised: equal ones behave alike."""
    main = html.partition("<main")[2].partition("</main>")[0]
    tags = re.findall(r"</?form|<(?:input|select|textarea|button)[^>]*>", main)
    return re.sub(r' (?:value|aria-[a-z]+|id)="[^"]*"| autofocus', "", "".join(tags))


PRESSED = re.compile(r'<input[^>]* class="[^"]*\bcontrol\b|<button(?![^>]* type="submit")')
"""What the test below presses: a page without it has nothing that could be wrong."""


def with_different_forms() -> dict[str, tuple[str, str]]:
    """Return a page and state for each combination of fields and buttons of all pages."""
    rendered = {name: page_samples.rendered(*name, "en").html for name in page_samples.names() if name[0] in PAGES}
    return {forms_of(html): item for item, html in rendered.items() if PRESSED.search(html)}


def test_without_scripts_enter_presses_the_first_button(
    page_readers: dict[bool, PageReader], subtests: pytest.Subtests
) -> None:
    pages = {" ".join(item): page_samples.address(*item, language="en") for item in with_different_forms().values()}
    enter_presses_first_button(page_readers[False], pages, subtests)


@pytest.mark.parametrize("theme", theme_samples.THEMES)
def test_without_scripts_enter_presses_it_in_themes(
    theme_readers: Callable[[str], PageReader], theme: str, subtests: pytest.Subtests
) -> None:
    """A theme keeps our forms, so a few of each layout tell."""
    shown = [place for place in theme_samples.one_of_each(theme) if place[0] in WITHOUT_SCRIPTS]
    pages = {" ".join(place): theme_samples.address(*place) for place in shown}
    enter_presses_first_button(theme_readers(theme), pages, subtests)


WITHOUT_SCRIPTS = ("LoginPage", "RegisterPage", "SecondFactorPage", "ChangePasswordPage", "AddEmailPage")


def enter_presses_first_button(reader: PageReader, pages: dict[str, str], subtests: pytest.Subtests) -> None:
    sheet = reader.sheet
    sheet.lay(reader.gallery, pages, sandbox="allow-same-origin allow-forms")  # so without scripts
    for frame, (name, (buttons, has_inert)) in enumerate(zip(pages, sheet.ask(DEFAULT_BUTTONS), strict=True)):
        with subtests.test(name):
            assert not has_inert, "a button sends nothing"
            for index, (button, value) in enumerate(buttons):
                sheet.page.evaluate(FOCUS, [frame, index])
                with sheet.page.expect_request(lambda request: request.method == "POST") as sent:
                    sheet.page.keyboard.press("Enter")
                assert not button or has_field(sent.value.post_data or "", button, value)


def has_field(body: str, name: str, value: str) -> bool:
    """Return whether a form sent a field, urlencoded or as multipart."""
    return f"{name}={value}" in body or f'name="{name}"\r\n\r\n{value}\r\n' in body


FORMS = """[...doc.querySelectorAll("main form[method=post]")].filter(form => form.querySelector("input.control:not([type=file])"))"""
DEFAULT_BUTTONS = f"""doc => {{
    for (const more of doc.querySelectorAll("main details > summary")) more.click();
    return [
        // in the order of the page, also from outside the form
        {FORMS}.map(form => [...form.elements].find(each => each.type === "submit"))
            .map(button => [button.name, button.value]),
        [...doc.querySelectorAll("button:not([type=submit])")].some(each => each.checkVisibility()),
    ];
}}"""
FOCUS = f"""([frame, index]) => {{
    const doc = document.querySelectorAll("main > iframe")[frame].contentDocument;
    {FORMS}[index].querySelector("input.control:not([type=file])").focus();
}}"""


LOOKS = ("sunny", "member", "paper", "mono", "harbor", "vista", "quiet")


def test_extreme_brand_colours_stay_readable(page_readers: dict[bool, PageReader], gallery_address: str) -> None:
    samples_shown = (("LoginPage", "empty"), ("ConsentPage", "default"), ("SecurityPage", "full"))
    shown = [(look, *sample) for look in LOOKS for sample in samples_shown]
    sheet = page_readers[False].sheet
    sheet.lay(
        gallery_address,
        {" ".join(item): page_samples.address(*item[1:], language="ar", look=item[0]) for item in shown},
    )
    assert not (found := faults(sheet, page_rules.accessible)), "\n".join(found)


def shop(route: Route) -> None:
    route.fulfill(body="<title>Shop</title>")


def test_form_post_page_submits_itself(opened: Opened, gallery_address: str) -> None:
    page = opened()
    console_messages = messages_of(page)
    page.route("https://shop.example.com/**", shop)
    page.goto(gallery_address + page_samples.address("FormPostPage", "to the shop", "en"), wait_until="commit")
    page.wait_for_url("https://shop.example.com/callback")
    assert console_messages == []


def test_form_post_page_has_a_button_without_javascript(opened: Opened, gallery_address: str) -> None:
    page = opened(java_script_enabled=False)
    page.route("https://shop.example.com/**", shop)
    page.goto(gallery_address + page_samples.address("FormPostPage", "to the shop", "en"))
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("https://shop.example.com/callback")


def test_without_javascript_no_inert_control_is_shown(opened: Opened, gallery_address: str) -> None:
    page = opened(java_script_enabled=False)
    page.goto(gallery_address + page_samples.address("LoginPage", "fresh", "en"))
    assert page.get_by_role("button").all_inner_texts() == ["Forgot password?", "Sign in", "Create account"]
    page.get_by_text("English").click()
    page.get_by_role("link", name="Deutsch").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Bei Acme anmelden"


def test_login_form_is_usable_by_keyboard(opened: Opened, gallery_address: str) -> None:
    page = opened()
    page.goto(gallery_address + page_samples.address("LoginPage", "fresh", "en"))
    expect(page.get_by_label("Email")).to_be_focused()
    visited = []
    for _step in range(5):
        page.keyboard.press("Tab")
        visited.append(page.evaluate(NAME_OF_FOCUSED))
        ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert ring != "none", visited
    assert visited == ["password", "Show: Password", "Forgot password?", "remember", "Sign in"]


NAME_OF_FOCUSED = """(focused => focused.id || focused.getAttribute("aria-label") || focused.textContent.trim())(document.activeElement)"""


def test_revealed_password_is_hidden_before_submit(opened: Opened, gallery_address: str) -> None:
    page = opened()
    page.goto(gallery_address + page_samples.address("LoginPage", "fresh", "en"))
    field = page.get_by_label("Password", exact=True)
    field.fill("correct horse")
    page.get_by_role("button", name="Show: Password").click()
    assert field.get_attribute("type") == "text"
    page.get_by_role("button", name="Sign in").click()
    assert field.get_attribute("type") == "password"


def test_error_summary_has_focus_and_links_to_the_field(opened: Opened, gallery_address: str) -> None:
    page = opened()
    page.goto(gallery_address + page_samples.address("RegisterPage", "every kind of field refused", "en"))
    expect(page.locator("#summary")).to_be_focused()
    page.get_by_role("link", name="Date of birth", exact=True).click()
    expect(page.locator("#birth_date")).to_be_focused()
    expect(page.locator("#birth_date")).to_have_attribute("aria-describedby", re.compile("birth_date-problem"))


def test_single_wrong_field_has_the_focus(opened: Opened, gallery_address: str) -> None:
    page = opened()
    page.goto(gallery_address + page_samples.address("SecondFactorPage", "totp, enrolled, wrong", "en"))
    expect(page.locator("#code")).to_be_focused()
    expect(page.locator("#code")).to_have_accessible_description(re.compile("code"))
    expect(page.locator("#summary")).to_have_count(0)


def test_first_of_two_wrong_fields_has_the_focus(opened: Opened, gallery_address: str) -> None:
    page = opened()
    page.goto(gallery_address + page_samples.address("LoginPage", "empty", "en"))
    expect(page.locator("#identifier")).to_be_focused()
    expect(page.locator("#identifier")).to_have_accessible_description(re.compile("Enter"))
    expect(page.locator("#summary")).to_have_count(0)


def test_layout_is_mirrored_in_arabic(opened: Opened, gallery_address: str) -> None:
    page = opened(viewport={"width": 1280, "height": 820})
    for language, form_is_left in (("en", True), ("ar", False)):
        page.goto(gallery_address + page_samples.address("LoginPage", "fresh", language))
        form, scene = page.locator("form").bounding_box(), page.locator(".scene").bounding_box()
        assert form
        assert scene
        assert (form["x"] < scene["x"]) is form_is_left


@pytest.mark.parametrize("language", ["en", "de", "ar"])
@pytest.mark.parametrize("state", ["every way", "every way, one used last", "every way, the passkey used last"])
def test_sign_in_and_sign_up_are_above_the_fold(
    any_window: Page, gallery_address: str, state: str, language: str
) -> None:
    any_window.goto(gallery_address + page_samples.address("PasskeyLoginPage", state, language))
    for width, height in ((1280, 800), (1440, 900), (390, 844)):
        any_window.set_viewport_size({"width": width, "height": height})
        passkey = "main form:has([name=credential]) .method"
        for control in ("form[action='/login'] .button", passkey, "main button[value=register]"):
            box = any_window.locator(control).bounding_box()
            assert box
            assert box["y"] + box["height"] <= height, (width, control)
        assert any_window.evaluate("scrollY") == 0, width


def test_scene_is_hidden_in_narrow_windows(opened: Opened, gallery_address: str) -> None:
    page = opened(viewport={"width": 859, "height": 700})
    page.goto(gallery_address + page_samples.address("LoginPage", "fresh", "en"))
    assert not page.locator(".scene").is_visible()


def test_reduced_motion_disables_transitions(opened: Opened, gallery_address: str) -> None:
    page = opened(reduced_motion="reduce")
    page.goto(gallery_address + page_samples.address("LoginPage", "fresh", "en"))
    assert page.evaluate("getComputedStyle(document.querySelector('.button')).transitionDuration") == "0s"
