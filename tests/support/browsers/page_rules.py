"""Rules for pages in a browser. Each rule returns faults as text and leaves the pages unchanged.

All pages are shown on one sheet, each in a frame with its own width, focus and styles,
so that one evaluation checks all of them and a narrow window costs only a layout. Each rule asks all pages that are on the sheet:
first the states that differ in their texts, then those that differ in their elements (`tests/support/browsers/page_cover.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page

from tests.support.browsers.page_checkers import axe_source

DESK = (1280, 820)
NARROWEST = (860, 521, 380, 320)
"""The narrowest width of each layout; 320 px is also 1280 px at 400 % zoom."""
TELEPHONE = 380
LARGER_IN = 640
MAX_PRESSES = 80  # of a page
ACTING = ("button", "link", "textbox", "checkbox", "combobox")
# Opacity spares the painting of what no person watches; layout, focus, colours and hit tests inside the frames do not depend on it.
SHEET = """<!doctype html><html lang="en"><title>Sheet</title><link rel="icon" href="data:,">
<style>:root, iframe { color-scheme: light dark } iframe { display: block; border: 0 } main { opacity: 0 }</style>
<a id="begin" href="#">Begin</a><main></main><a id="end" href="#">End</a>"""
LAY = """([addresses, width, height, how]) => {
    const main = document.querySelector("main");
    main.replaceChildren();
    document.activeElement.blur();
    window.isOver = false;
    return Promise.all(addresses.map(address => new Promise(done =>
        main.append(Object.assign(document.createElement("iframe"), {onload: done, width, height, ...how, src: address})))));
}"""
KEEP = "indexes => document.querySelectorAll('main > iframe').forEach((frame, index) => indexes.includes(index) || frame.remove())"
ASK = """async with_what => {
    const said = [];
    for (const frame of document.querySelectorAll("main > iframe"))
        said.push(await (%s)(frame.contentDocument, with_what, frame));
    return said;
}"""
# One axe of the sheet, set up once for each frame's window, is sent, parsed and compiled once; frames with an axe of their own do all.
LEARN = """source => {
    window.axeOf = new Function('window', source + '; return window.axe');
    window.judged = new Set();
}"""
COLOURS = ["color-contrast", "link-in-text-block"]
AXE = """async (doc, rules, frame) => (await (frame.axe ||= axeOf(doc.defaultView))
    .run(doc, {resultTypes: ["violations"], iframes: false, preload: false, rules}))
    .violations.map(each => each.id + ": " + each.nodes.map(node => node.target.join(" ")).join(", "))"""
# A text's style and what lies behind it decide whether it is readable: axe is asked of each combination until it has judged a text.
READABLE = """async (doc, runOnly, frame) => {
    const styles = new Map(), kinds = new Map();
    const style = each => styles.get(each) || styles.set(each, getComputedStyle(each)).get(each);
    const letters = each => ["color", "fontSize", "fontWeight", "textDecorationLine", "textShadow"].map(name => style(each)[name]);
    const around = each => each ? [each, ...around(each.parentElement)] : [];
    const behind = each => around(each).map(style)
        .map(of => [of.backgroundColor, of.backgroundImage, of.opacity, ["static", "relative"].includes(of.position) || of.position])
        .filter(layer => layer.join() !== "rgba(0, 0, 0, 0),none,1,true");
    const value = each => each.matches("input:not([type=checkbox], [type=radio]), select, textarea") && (each.value || each.placeholder);
    const text = each => (value(each) || [...each.childNodes].map(node => node.data).join("")).trim();
    const beside = each => each.localName === "a" && text(each.parentElement) && letters(each.parentElement);
    const kind = each => kinds.get(each) || kinds.set(each, JSON.stringify(
        [letters(each), behind(each), beside(each), each.localName, (each.control || each).disabled, text(each).length > 1])).get(each);
    const isOnScreen = box => box.width > 1 && box.height > 1 && box.right > 0 && box.bottom > 0;
    const isShown = each => each.checkVisibility() && isOnScreen(each.getBoundingClientRect());
    const include = [...doc.body.querySelectorAll("*")].filter(each => text(each) && isShown(each) && !judged.has(kind(each)));
    if (!include.length) return [];
    const found = await (frame.axe ||= axeOf(doc.defaultView))
        .run({include}, {runOnly, resultTypes: ["violations", "passes", "incomplete"], elementRef: true, iframes: false, preload: false});
    [...found.passes, ...found.incomplete].flatMap(rule => rule.nodes).forEach(node => judged.add(kind(node.element)));
    return found.violations.map(each => each.id + ": " + each.nodes.map(node => node.target.join(" ")).join(", "));
}"""
NARROW = """(doc, [desk, widths, telephone], frame) => {
    const root = doc.documentElement, isTooWide = () => root.scrollWidth > root.clientWidth;
    const faults = isTooWide() ? ["scrolls sideways"] : [];
    for (const width of widths) {
        frame.width = width;
        if (isTooWide()) faults.push("scrolls sideways at " + width + " px");
        if (width === telephone) [...doc.querySelectorAll("a, button, input:not([type=hidden]), summary")]
            .filter(each => each.checkVisibility() && !each.closest(".skip, [tabindex='-1']"))
            .map(each => [(each.closest("label") || each).getBoundingClientRect(), each])
            .filter(([box]) => box.width > 0 && (box.width < 24 || box.height < 24))
            .forEach(([, each]) => faults.push("too small for a finger: " + each.outerHTML.slice(0, 80)));
    }
    frame.width = desk;
    return faults;
}"""
LARGER = """(doc, [desk, width], frame) => {
    const root = doc.documentElement;
    frame.width = width;
    root.style.fontSize = "200%";
    const faults = [...doc.querySelectorAll("h1, p, label, a, button, input, li, dt, dd, small, span")]
        .filter(each => each.checkVisibility() && !each.closest("[aria-hidden=true]") && each.textContent.trim())
        .filter(each => parseFloat(getComputedStyle(each).fontSize) < 24)
        .map(each => "does not grow: " + each.outerHTML.slice(0, 80));
    if (root.scrollWidth > root.clientWidth) faults.push("too wide with larger text");
    root.style.fontSize = "";
    frame.width = desk;
    return faults;
}"""
WATCH = """(doc, _, frame) => {
    const win = doc.defaultView, visits = frame.visits = [];
    let last = null;  // a key is noted up to three times, and a date has parts
    const note = () => {
        const at = doc.activeElement;
        if (document.activeElement !== frame || at === doc.body || at === last || window.isOver) return;
        const style = getComputedStyle(last = at), box = at.getBoundingClientRect();
        visits.push({
            place: [...doc.querySelectorAll("*")].indexOf(at),
            shown: at.tagName === "IFRAME" ||
                style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && box.bottom > 0 && box.top < win.innerHeight,
            name: at.outerHTML.slice(0, 90),
        });
    };
    for (const event of ["keyup", "focusin", "blur"]) win.addEventListener(event, note);
    doc.activeElement.blur();
    win.getSelection().removeAllRanges();
}"""
TAB = {"type": "rawKeyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
"""The key held down, which repeats: it comes up once, and nothing waits for that."""
STOPS = """doc => [...doc.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, iframe")]
    .filter(each => each.checkVisibility({visibilityProperty: true}) && each.tabIndex >= 0 && !each.disabled)
    .filter(each => each.type !== "radio" || each.checked || !each.form.querySelector("[type=radio]:checked")).length"""
BEGIN = """() => {
    const end = document.querySelector("#end");
    end.addEventListener("focus", () => window.isOver = true);
    document.querySelector("#begin").focus();
}"""
VISITS = "(doc, _, frame) => frame.visits"
WITHOUT_EDGE = """doc => [...doc.querySelectorAll(".button, .control, .card, .notice, .chip")]
    .filter(each => each.checkVisibility() && parseFloat(getComputedStyle(each).borderTopWidth) < 1)
    .map(each => "in forced colours without an edge: " + each.outerHTML.slice(0, 80))"""
# A countdown only changes its digits, which is information and no motion (WCAG 2.2, 2.2.2 and 2.3.3).
MOVING = """doc => [...doc.querySelectorAll("*:not(.count)")].flatMap(each => [getComputedStyle(each), getComputedStyle(each, "::before")])
    .filter(each => parseFloat(each.transitionDuration) > 0 || each.animationName !== "none")
    .map(each => "moves: " + each.transition)"""
ON_PAPER = """doc => [...doc.querySelectorAll(".scene, .foot, .nav, form .button")]
    .filter(each => each.checkVisibility()).map(each => "on paper: " + each.className)
    .concat(doc.querySelector("h1").checkVisibility() ? [] : ["on paper without its heading"])"""
Faults = list[list[str]]
"""The faults of each page that a rule looks at."""


@dataclass
class Sheet:
    """Pages side by side; the window's own address serves `SHEET`."""

    page: Page
    names: list[str] = field(default_factory=list)
    """Of the pages on the sheet, in order."""

    def lay(self, home: str, addresses: Mapping[str, str], **how: str) -> None:
        """Show the pages at these addresses, by name, in place of those before; axe stays, so its code stays compiled.

        `how` are properties of their frames.
        """
        self.names = [*addresses]
        self.page.emulate_media(media="screen", color_scheme="light", forced_colors="none", reduced_motion="reduce")
        if self.page.url != f"{home}/":
            self.page.goto(home)
            self.page.evaluate(LEARN, axe_source())
        self.page.evaluate(LAY, [[*addresses.values()], *DESK, how])

    def keep(self, names: Collection[str]) -> None:
        """Remove the pages that are not named."""
        self.page.evaluate(KEEP, [index for index, name in enumerate(self.names) if name in names])
        self.names = [name for name in self.names if name in names]

    def ask(self, rule: str, with_what: Any = None) -> list[Any]:
        """Evaluate a rule on each page."""
        answers: list[Any] = self.page.evaluate(ASK % rule, with_what)
        return answers

    def faults(self, *rules: Rule) -> list[str]:
        """Return the faults that rules find on the pages."""
        found = [
            (name, faults)
            for rule in rules
            for item in rule(self)
            for name, faults in zip(self.names, item, strict=True)
        ]
        return [f"{name}: {fault}" for name, faults in found for fault in faults]


Rule = Callable[[Sheet], Iterator[Faults]]


def accessible(sheet: Sheet) -> Iterator[Faults]:
    """Run all rules of axe, those on colours in both schemes."""
    yield sheet.ask(AXE, {rule: {"enabled": False} for rule in COLOURS})
    yield sheet.ask(READABLE, COLOURS)
    sheet.page.emulate_media(color_scheme="dark")
    yield [[f"in the dark, {item}" for item in found] for found in sheet.ask(READABLE, COLOURS)]
    sheet.page.emulate_media(color_scheme="light")


def in_narrow_windows(sheet: Sheet) -> Iterator[Faults]:
    """No horizontal scrolling at any width (WCAG 2.2, 1.4.10), and targets of 24 px on a phone."""
    yield sheet.ask(NARROW, [DESK[0], NARROWEST, TELEPHONE])


def by_keyboard(sheet: Sheet) -> Iterator[Faults]:
    """Tab reaches every control in document order, leaves the page, and focus is visible."""
    sheet.ask(WATCH)
    stops = sheet.ask(STOPS)
    sheet.page.evaluate(BEGIN)
    keyboard = sheet.page.context.new_cdp_session(sheet.page)
    for press in range(MAX_PRESSES * len(stops)):
        keyboard.send("Input.dispatchKeyEvent", TAB)
        if press >= sum(stops) and sheet.page.evaluate("window.isOver"):
            break
    keyboard.detach()
    orders = zip(sheet.ask(VISITS), stops, sheet.ask(STOPS), strict=True)
    yield [[*_faults_of_tab_order(visits, {before, after})] for visits, before, after in orders]


def _faults_of_tab_order(visits: list[dict[str, Any]], stops: set[int]) -> Iterator[str]:
    """Yield the faults of a tab sequence; the number of stops may change while a page enables a button."""
    places: list[int] = []
    for here in visits:
        places.append(here["place"])
        if not here["shown"]:
            yield f"nothing shows that the focus is at {here['name']}"
    if places != sorted(set(places)):
        yield f"the keyboard jumps: {places}"
    if not min(stops) <= len(places) <= max(stops):
        yield f"the keyboard reaches {len(places)} places of {max(stops)}"


def by_ear(sheet: Sheet) -> Iterator[Faults]:
    """Every control has an accessible name, and button names are unique."""
    reader = sheet.page.context.new_cdp_session(sheet.page)
    tree = reader.send("Page.getFrameTree")["frameTree"]
    frames = [item["frame"]["id"] for item in tree["childFrames"]]
    yield [[*_unheard(reader.send("Accessibility.getFullAXTree", {"frameId": frame})["nodes"])] for frame in frames]
    reader.detach()


def _unheard(nodes: list[dict[str, Any]]) -> Iterator[str]:
    buttons: list[str] = []
    for node in nodes:
        role = node.get("role", {}).get("value", "")
        if node.get("ignored") or role not in ACTING:
            continue
        said = node.get("name", {}).get("value", "").strip()
        if not said:
            yield f"a {role} without a name"
        if role == "button":
            buttons.append(said)
    yield from (f"more than one button says {said}" for said in {said for said in buttons if buttons.count(said) > 1})


def with_larger_text(sheet: Sheet) -> Iterator[Faults]:
    """Text at 200 % grows and fits (WCAG 2.2, 1.4.4)."""
    yield sheet.ask(LARGER, [DESK[0], LARGER_IN])


def otherwise(sheet: Sheet) -> Iterator[Faults]:
    """Forced colours, reduced motion and print."""
    yield sheet.ask(MOVING)
    sheet.page.emulate_media(forced_colors="active")
    yield sheet.ask(WITHOUT_EDGE)
    sheet.page.emulate_media(forced_colors="none", media="print")
    yield sheet.ask(ON_PAPER)
    sheet.page.emulate_media(media="screen")
