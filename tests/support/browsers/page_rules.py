"""Rules for our pages in a browser, beside those that themes keep too (`app/hub/theme_check/browser/`): axe, names, larger text, print."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page

from app.hub.theme_check.browser import colour_rules
from app.hub.theme_check.browser.sheet import DESK, Faults, Sheet
from tests.support.browsers.page_checkers import axe_source

LARGER_IN = 640
ACTING = ("button", "link", "textbox", "checkbox", "combobox")
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
# A countdown only changes its digits, which is information and no motion (WCAG 2.2, 2.2.2 and 2.3.3).
MOVING = """doc => [...doc.querySelectorAll("*:not(.count)")].flatMap(each => [getComputedStyle(each), getComputedStyle(each, "::before")])
    .filter(each => parseFloat(each.transitionDuration) > 0 || each.animationName !== "none")
    .map(each => "moves: " + each.transition)"""
ON_PAPER = """doc => [...doc.querySelectorAll(".scene, .foot, .nav, form .button")]
    .filter(each => each.checkVisibility()).map(each => "on paper: " + each.className)
    .concat(doc.querySelector("h1").checkVisibility() ? [] : ["on paper without its heading"])"""


def sheet(page: Page) -> Sheet:
    """Return a sheet that has axe, too."""

    def prepare(page: Page) -> None:
        page.evaluate(LEARN, axe_source())

    return Sheet(page, prepare=prepare)


def structured(sheet: Sheet) -> Iterator[Faults]:
    """Run the rules of axe that are not on colours."""
    yield sheet.ask(AXE, {rule: {"enabled": False} for rule in COLOURS})


def accessible(sheet: Sheet) -> Iterator[Faults]:
    """Run all rules of axe, those on colours in both schemes."""
    yield from structured(sheet)
    yield from coloured(sheet)


def coloured(sheet: Sheet) -> Iterator[Faults]:
    """Run the rules of axe on colours in both schemes."""
    yield sheet.ask(READABLE, COLOURS)
    sheet.page.emulate_media(color_scheme="dark")
    yield [[f"in the dark, {item}" for item in found] for found in sheet.ask(READABLE, COLOURS)]
    sheet.page.emulate_media(color_scheme="light")


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
    yield from colour_rules.in_forced_colours(sheet)
    sheet.page.emulate_media(media="print")
    yield sheet.ask(ON_PAPER)
    sheet.page.emulate_media(media="screen")


def with_edges(sheet: Sheet) -> Iterator[Faults]:
    """In forced colours, what groups things in our look has an edge, as controls have."""
    sheet.page.emulate_media(forced_colors="active")
    yield sheet.ask(colour_rules.WITHOUT_EDGE, ".card, .notice, .chip")
    sheet.page.emulate_media(forced_colors="none")
