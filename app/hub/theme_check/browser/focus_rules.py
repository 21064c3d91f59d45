"""The rule on the keyboard: Tab reaches every control in the order of the document, and each shows that it has the focus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from app.hub.theme_check.browser.sheet import Faults, Sheet

MAX_PRESSES: Final = 80
"""Of the Tab key, for each page."""
# The ring is an outline or a shadow of the element, or of what is drawn as one field around it. On a picture, any ring counts.
_WATCH: Final = r"""(doc, _, frame) => {
    const win = doc.defaultView, visits = frame.visits = [];
    let last = null;  // a key is noted up to three times, and a date has parts
    const hasRing = each => {
        const style = getComputedStyle(each), box = each.getBoundingClientRect();
        const shadow = style.boxShadow.match(/^(.*?[)]) 0px 0px 0px ([.\d]+)px$/);
        const {outlineStyle, outlineColor, outlineWidth, outlineOffset} = style;
        const rings = outlineStyle === "none" ? [] : [[outlineColor, parseFloat(outlineWidth), parseFloat(outlineOffset)]];
        if (shadow) rings.push([shadow[1], parseFloat(shadow[2]), parseFloat(shadow[2])]);
        return rings.some(([colour, width, offset]) => {
            const [x, y, far] = [box.left + box.width / 2, box.top + box.height / 2, offset + 1];
            const sides = [[box.left - far, y], [box.right + far, y], [x, box.top - far], [x, box.bottom + far]];
            const isSeen = ground => !ground || paint.contrast(paint.over(paint.rgba(colour), ground), ground) >= 3;
            return width >= 2 && sides.filter(([x, y]) => isSeen(paint.under(doc, x, y))).length > 1;
        });
    };
    const note = () => {
        const at = doc.activeElement;
        if (document.activeElement !== frame || at === doc.body || at === last || window.isOver) return;
        const box = (last = at).getBoundingClientRect();
        visits.push({
            place: [...doc.querySelectorAll("*")].indexOf(at),
            shown: at.tagName === "IFRAME" || box.bottom > 0 && box.top < win.innerHeight
                && (hasRing(at) || at.parentElement.closest(":focus-within") && hasRing(at.parentElement)),
            name: named(at),
        });
    };
    doc.adoptedStyleSheets.push(frame.hits = paint.hits(doc));
    for (const event of ["keyup", "focusin", "blur"]) win.addEventListener(event, note);
    doc.activeElement.blur();
    win.getSelection().removeAllRanges();
}"""
_TAB: Final = {"type": "rawKeyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
"""The key held down, which repeats: it comes up once, and nothing waits for that."""
_STOPS: Final = """doc => [...doc.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, iframe")]
    .filter(each => each.checkVisibility({visibilityProperty: true}) && each.tabIndex >= 0 && !each.disabled)
    .filter(each => each.type !== "radio" || each.checked || !each.form.querySelector("[type=radio]:checked")).length"""
_BEGIN: Final = """() => {
    const end = document.querySelector("#end");
    end.addEventListener("focus", () => window.isOver = true);
    document.querySelector("#begin").focus();
}"""
_VISITS: Final = """(doc, _, frame) => {
    doc.adoptedStyleSheets = doc.adoptedStyleSheets.filter(sheet => sheet !== frame.hits);
    return frame.visits;
}"""


def by_keyboard(sheet: Sheet) -> Iterator[Faults]:
    """Tab reaches every control in document order, leaves the page, and focus is visible."""
    sheet.ask(_WATCH)
    stops = sheet.ask(_STOPS)
    sheet.page.evaluate(_BEGIN)
    keyboard = sheet.page.context.new_cdp_session(sheet.page)
    for press in range(MAX_PRESSES * len(stops)):
        keyboard.send("Input.dispatchKeyEvent", _TAB)
        if press >= sum(stops) and sheet.page.evaluate("window.isOver"):
            break
    keyboard.detach()
    orders = zip(sheet.ask(_VISITS), stops, sheet.ask(_STOPS), strict=True)
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
