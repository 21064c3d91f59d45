"""What is asked of a page that a browser shows. Each rule yields what is wrong, in words, and leaves the page open."""

from __future__ import annotations

from collections.abc import Iterator

from playwright.sync_api import Page, ViewportSize

from tests.support.checkers import axe_source

DESK: ViewportSize = {"width": 1280, "height": 820}
NARROWEST = (820, 521, 380, 320)
"""Where each layout begins: what fits there fits in every wider window until the next. 320 px is also 1280 px at 400 %."""
TELEPHONE = 380
AXE = """async only => (await axe.run(document, {resultTypes: ["violations"], iframes: false, preload: false, ...only})).violations
    .map(each => each.id + ": " + each.nodes.map(node => node.target.join(" ")).join(", "))"""
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
SMALL_TARGETS = """() => [...document.querySelectorAll("a, button, input:not([type=hidden]), summary")]
    .filter(each => each.checkVisibility() && !each.closest(".skip, [tabindex='-1']"))
    .map(each => [each.closest("label") || each, each]).map(([box, each]) => [box.getBoundingClientRect(), each])
    .filter(([box, each]) => box.width > 0 && (box.width < 24 || box.height < 24)).map(([box, each]) => each.outerHTML.slice(0, 80))"""
STOPS = """() => [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, iframe")]
    .filter(each => each.checkVisibility() && each.tabIndex >= 0 && !each.disabled).length"""
HERE = """() => {
    const at = document.activeElement, style = getComputedStyle(at), box = at.getBoundingClientRect();
    return {
        gone: at === document.body,
        place: [...document.querySelectorAll("*")].indexOf(at),
        shown: at.tagName === "IFRAME" ||
            style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && box.bottom > 0 && box.top < innerHeight,
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
LARGER = "document.documentElement.style.fontSize = '200%'"
MOST_PRESSES = 80
ACTING = ("button", "link", "textbox", "checkbox", "combobox")


def accessible(page: Page) -> Iterator[str]:
    """As axe sees it. The scheme changes colours and nothing else, so in the dark colours alone are asked."""
    page.evaluate(axe_source())
    yield from page.evaluate(AXE)
    page.emulate_media(color_scheme="dark")
    yield from (f"in the dark, {each}" for each in page.evaluate(AXE, COLOURS))
    page.emulate_media(color_scheme="light")


def in_narrow_windows(page: Page) -> Iterator[str]:
    """No window makes it scroll sideways (WCAG 2.2, 1.4.10), and on a telephone a finger hits what it aims at."""
    if page.evaluate(TOO_WIDE):
        yield "scrolls sideways"
    for width in NARROWEST:
        page.set_viewport_size({"width": width, "height": 800})
        if page.evaluate(TOO_WIDE):
            yield f"scrolls sideways at {width} px"
        if width == TELEPHONE:
            yield from (f"too small for a finger: {each}" for each in page.evaluate(SMALL_TARGETS))
    page.set_viewport_size(DESK)


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
    page.emulate_media(forced_colors="none", media="print")
    yield from (f"on paper: {each}" for each in page.evaluate(ON_PAPER))
    if not page.locator("h1").is_visible():
        yield "on paper without its heading"
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 640, "height": 800})
    page.evaluate(LARGER)
    yield from (f"does not grow: {each}" for each in page.evaluate(STILL_SMALL))
    if page.evaluate(TOO_WIDE):
        yield "too wide with larger text"
