"""Every page in every state, without a mouse, without sight, without scripts, in other colours, larger, and on paper."""

from __future__ import annotations

from collections.abc import Iterator

from playwright.sync_api import Browser, Page, Request, Route

from tests.support import samples

LONGEST_WORDS = "de"
STOPS = """() => [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")]
    .filter(each => each.checkVisibility() && each.tabIndex >= 0 && !each.disabled).length"""
HERE = """() => {
    const at = document.activeElement, style = getComputedStyle(at), box = at.getBoundingClientRect();
    return {
        gone: at === document.body,
        place: [...document.querySelectorAll("*")].indexOf(at),
        shown: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && box.bottom > 0 && box.top < innerHeight,
        name: at.outerHTML.slice(0, 90),
    };
}"""
WITHOUT_EDGE = """() => [...document.querySelectorAll(".button, .control, .card, .notice, .chip")]
    .filter(each => each.checkVisibility() && parseFloat(getComputedStyle(each).borderTopWidth) < 1)
    .map(each => each.outerHTML.slice(0, 80))"""
MOVING = """() => [...document.querySelectorAll("*")].flatMap(each => [getComputedStyle(each), getComputedStyle(each, "::before")])
    .filter(each => parseFloat(each.transitionDuration) > 0 || each.animationName !== "none").map(each => each.transition)"""
ON_PAPER = """() => [...document.querySelectorAll(".scene, .foot, .nav, form .button")]
    .filter(each => each.checkVisibility()).map(each => each.className)"""
STILL_SMALL = """() => [...document.querySelectorAll("h1, p, label, a, button, input, li, dt, dd, small, span")]
    .filter(each => each.checkVisibility() && each.textContent.trim() && parseFloat(getComputedStyle(each).fontSize) < 24)
    .map(each => each.outerHTML.slice(0, 80))"""
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
LARGER = "document.documentElement.style.fontSize = '200%'"
MOST_PRESSES = 80
ACTING = ("button", "link", "textbox", "checkbox", "combobox")


def visited(page: Page, address: str, language: str) -> Iterator[str]:
    """Open one page after the other, and say which it is."""
    for name, state in samples.names():
        if name != "HandOverPage":  # leaves at once
            page.goto(address + samples.address(name, state, language))
            yield f"{name} {state}"


def by_keyboard(page: Page) -> Iterator[str]:
    """The tabulator reaches everything in the order of the page, and one sees where it is."""
    page.evaluate("document.activeElement.blur(); getSelection().removeAllRanges()")
    places: list[int] = []
    for _press in range(MOST_PRESSES):
        page.keyboard.press("Tab")
        here = page.evaluate(HERE)
        if here["gone"] or here["place"] in places[-1:]:
            continue  # round the browser's own bar, or within one field: a day has parts
        if here["place"] in places:
            break
        places.append(here["place"])
        if not here["shown"]:
            yield f"nothing shows that the focus is at {here['name']}"
    first = places.index(min(places)) if places else 0
    if (order := places[first:] + places[:first]) != sorted(order):
        yield f"the keyboard jumps: {order}"
    if len(places) != page.evaluate(STOPS):
        yield f"the keyboard reaches {len(places)} places of {page.evaluate(STOPS)}"


def by_ear(page: Page) -> Iterator[str]:
    """As a screen reader lists the page: nothing without a name, and no two buttons that say the same."""
    reader = page.context.new_cdp_session(page)
    buttons: list[str] = []
    for node in reader.send("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value", "")
        if node.get("ignored") or role not in ACTING:
            continue
        said = node.get("name", {}).get("value", "").strip()
        if not said:
            yield f"a {role} without a name"
        if role == "button":
            buttons.append(said)
    reader.detach()
    yield from (f"more than one button says {said}" for said in {said for said in buttons if buttons.count(said) > 1})


def otherwise(page: Page) -> Iterator[str]:
    """In forced colours, without motion, on paper, and with text at 200 % (WCAG 2.2, 1.4.4)."""
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    yield from (f"in forced colours without an edge: {each}" for each in page.evaluate(WITHOUT_EDGE))
    yield from (f"moves: {each}" for each in page.evaluate(MOVING))
    page.emulate_media(forced_colors="none", reduced_motion="no-preference", media="print")
    yield from (f"on paper: {each}" for each in page.evaluate(ON_PAPER))
    if not page.locator("h1").is_visible():
        yield "on paper without its heading"
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 640, "height": 800})
    page.evaluate(LARGER)
    yield from (f"does not grow: {each}" for each in page.evaluate(STILL_SMALL))
    if page.evaluate(TOO_WIDE):
        yield "too wide with larger text"
    page.set_viewport_size({"width": 1280, "height": 820})


def test_every_page_serves_those_who_use_it_otherwise(chromium: Browser, gallery_address: str) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 820}, bypass_csp=True)
    page, found = context.new_page(), {}
    for name in visited(page, gallery_address, LONGEST_WORDS):
        if faults := [*by_keyboard(page), *by_ear(page), *otherwise(page)]:
            found[name] = faults
    context.close()
    assert found == {}


def test_without_scripts_every_button_does_something_and_enter_the_first(
    chromium: Browser, gallery_address: str
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page, faults = context.new_page(), []
    sent: list[Request] = []

    def caught(route: Route) -> None:
        if route.request.method != "POST":
            return route.continue_()
        sent.append(route.request)
        return route.fulfill(status=204)

    page.route("**/*", caught)
    for name in visited(page, gallery_address, "en"):
        if page.locator("button:not([type=submit]):visible").count():
            faults.append(f"{name}: a button that sends nothing")
        for form in page.locator("main form:has(input.control)").all():
            first = form.locator("button[type=submit]").first
            sent.clear()
            with page.expect_request(lambda request: request.method == "POST"):
                form.locator("input.control").first.press("Enter")
            pressed = f"{first.get_attribute('name')}={first.get_attribute('value')}"
            if first.get_attribute("name") and pressed not in (sent[0].post_data or ""):
                faults.append(f"{name}: Enter is not {pressed}")
    context.close()
    assert faults == []
