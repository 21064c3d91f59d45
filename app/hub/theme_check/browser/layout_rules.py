"""Rules on the layout of pages: they fit narrow windows, and nothing covers what people press or fill in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from app.hub.theme_check.browser.sheet import DESK, Faults, Sheet

NARROWEST: Final = (860, 521, 380, 320)
"""The narrowest width of each layout; 320 px is also 1280 px at 400 % zoom."""
TELEPHONE: Final = 380
_NARROW: Final = """(doc, [desk, widths, telephone], frame) => {
    const root = doc.documentElement, isTooWide = () => root.scrollWidth > root.clientWidth;
    const clips = each => each && each !== root && (getComputedStyle(each).overflowX !== "visible" || clips(each.parentElement));
    const reaches = box => box.width > 0 && (box.right > root.clientWidth + .5 || box.left < -.5);
    const widest = () => {
        const found = [...doc.body.querySelectorAll("*")]
            .filter(each => reaches(each.getBoundingClientRect()) && !clips(each.parentElement));
        const inner = found.find(each => !found.some(other => other !== each && each.contains(other)));
        return inner ? ": " + named(inner) : "";
    };
    const pen = new OffscreenCanvas(1, 1).getContext("2d"), cut = new Set();
    const cuts = each => {
        const style = getComputedStyle(each), spacing = parseFloat(style.letterSpacing) || 0, count = each.dataset.digits || 2;
        pen.font = style.font;
        const room = each.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
        return each.checkVisibility() && room < count * (pen.measureText("0").width + spacing) - spacing - 1;
    };
    const cutOff = at => [...doc.querySelectorAll("input:is([data-digits], [data-number])")]
        .filter(each => !cut.has(each) && cuts(each) && cut.add(each))
        .map(each => "cuts off digits" + at + ": " + named(each));
    const faults = [...(isTooWide() ? ["scrolls sideways" + widest()] : []), ...cutOff("")];
    for (const width of widths) {
        frame.width = width;
        faults.push(...cutOff(" at " + width + " px"));
        if (isTooWide()) faults.push("scrolls sideways at " + width + " px" + widest());
        if (width === telephone) [...doc.querySelectorAll("a, button, input:not([type=hidden]), summary")]
            .filter(each => each.checkVisibility() && !each.closest(".skip, [tabindex='-1']"))
            .map(each => [(each.closest("label") || each).getBoundingClientRect(), each])
            .filter(([box]) => box.width > 0 && (box.width < 24 || box.height < 24))
            .forEach(([, each]) => faults.push("smaller than 24 px at " + telephone + " px, too small for a finger: " + named(each)));
    }
    frame.width = desk;
    return faults;
}"""
# Five points of each: a button within a field covers its end, and that is meant.
_COVERED: Final = """(doc, [desk, widths], frame) => {
    const faults = [], win = doc.defaultView;
    const points = [[.5, .5], [.2, .3], [.8, .3], [.2, .7], [.8, .7]];
    const isFree = (each, hit) => hit && (each.contains(hit) || hit.contains(each) && !hit.matches("html, body")
        || [...(each.labels || [])].some(label => label.contains(hit)) || hit.closest("label")?.control === each);
    for (const width of widths) {
        frame.width = width;
        const parts = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=alert]";
        for (const each of doc.querySelectorAll(`main :is(${parts}), label`)) {
            const isShown = each.checkVisibility({opacityProperty: true, visibilityProperty: true});
            if (!isShown || each.closest(".unseen, [inert]") || getComputedStyle(each).clipPath !== "none") continue;
            each.scrollIntoView({block: "center", inline: "nearest", behavior: "instant"});
            const box = each.getClientRects()[0];
            if (!box || box.width < 4 || box.height < 4) continue;
            const hits = points.map(([x, y]) => doc.elementFromPoint(box.left + box.width * x, box.top + box.height * y));
            const over = hits.filter(hit => !isFree(each, hit));
            if (over.length < 3 && isFree(each, hits[0])) continue;
            const cover = over.find(hit => hit);
            faults.push((cover ? "covered by " + named(cover) : "out of the window") + " at " + width + " px: " + named(each));
        }
        win.scrollTo(0, 0);
    }
    frame.width = desk;
    return [...new Set(faults)].slice(0, 6);
}"""


def in_narrow_windows(sheet: Sheet) -> Iterator[Faults]:
    """No horizontal scrolling at any width (WCAG 2.2, 1.4.10), codes fit their field, and targets of 24 px on a phone (2.5.8)."""
    yield sheet.ask(_NARROW, [DESK[0], NARROWEST, TELEPHONE])


def uncovered(sheet: Sheet) -> Iterator[Faults]:
    """Links, buttons, fields, labels and errors can be seen and pressed, on a desktop and a phone."""
    yield sheet.ask(_COVERED, [DESK[0], (DESK[0], TELEPHONE)])
