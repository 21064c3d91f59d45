"""Rules on colors as a browser paints them: texts stand out in light and dark mode, and controls have an edge in forced colors.

A text on plain colors is computed from the elements that lie under it, top to bottom as a hit test finds them. A text on pictures,
gradients and what pseudo-elements draw is measured: its pixels are read from a screenshot in which texts are transparent.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from app.hub.theme_check.browser.pixels import PaintedText, contrasts
from app.hub.theme_check.browser.sheet import DESK, MAX_PICTURE_HEIGHT, Faults, Sheet

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

# A kind is a text's style with the colours under it, or with its place where more than colours are drawn: it is judged once.
_TEXTS: Final = """(doc, [mode, highest], frame) => {
    const root = doc.documentElement, {judged} = paint, faults = [], measured = [];
    frame.height = Math.min(Math.max(root.scrollHeight, doc.body.scrollHeight), highest);
    const hits = paint.hits(doc);
    doc.adoptedStyleSheets.push(hits);
    const isShown = each => each.checkVisibility({visibilityProperty: true})
        && !each.closest("[aria-hidden=true], .skip, .unseen, noscript, script, style, option, [inert]")
        && !(each.closest("label")?.control || each).disabled;
    const boxesOf = node => {
        if (node.nodeType !== 3) return [node.getBoundingClientRect()];
        const range = doc.createRange();
        range.selectNodeContents(node);
        return [...range.getClientRects()].slice(0, 2);
    };
    const fields = [...doc.querySelectorAll("input:not([type=hidden], [type=checkbox], [type=radio], [type=file], [type=color]), textarea")]
        .filter(each => each.value || each.placeholder).map(each => [each, each]);
    const walk = doc.createTreeWalker(doc.body, 4), texts = [];
    for (let node; (node = walk.nextNode());) if (node.data.trim()) texts.push([node.parentElement, node]);
    for (const [each, node] of [...texts, ...fields]) {
        if (!isShown(each)) continue;
        const style = getComputedStyle(each), pixels = parseFloat(style.fontSize);
        const of = node === each && !each.value ? getComputedStyle(each, "::placeholder") : style;
        const colour = paint.rgba(of.webkitTextFillColor || of.color), opacity = paint.opacity(each);
        const needed = pixels >= 24 || pixels >= 18.66 && parseInt(style.fontWeight) >= 700 ? 3 : 4.5;
        for (const box of boxesOf(node)) {
            if (box.width < 3 || box.height < 3 || box.left < 0 || box.top < 0 || box.right > frame.clientWidth + 1) continue;
            const x = Math.min(box.left + box.width / 2, box.right - 2), y = box.top + box.height / 2;
            if (y >= frame.clientHeight) continue;
            const stack = doc.elementsFromPoint(x, y), at = stack.findIndex(hit => hit === each);
            if (at < 0) continue;  // scrolled away, or covered: another rule looks for that
            const ground = opacity < 1 ? null : paint.flat(stack.slice(at), doc);
            const place = ground ? ground.map(Math.round) : [box.left, box.top].map(side => Math.round(side / 64));
            const drawn = ground ? 0 : stack.slice(at).map(hit => [hit.className.baseVal ?? hit.className, paint.grounds(hit)]);
            const kind = JSON.stringify([mode, colour, needed, opacity, place, drawn]);
            if (!judged.has(kind)) {
                judged.set(kind, ground ? paint.contrast(paint.over(colour, ground), ground) : null);
                if (!ground) measured.push({kind, name: named(each), needed, painted: {
                    colour: [...colour.slice(0, 3), colour[3] * opacity], box: [box.left, box.top, box.right, box.bottom]}});
            }
            const found = judged.get(kind);
            if (found !== null && found < needed) faults.push([found, needed, named(each)]);
        }
    }
    doc.adoptedStyleSheets = doc.adoptedStyleSheets.filter(sheet => sheet !== hits);
    return {faults, measured, top: frame.offsetTop, height: frame.clientHeight};
}"""
_BARE: Final = """isBare => {
    for (const frame of document.querySelectorAll("main > iframe")) {
        const {defaultView: win} = frame.contentDocument;
        if (isBare) {
            frame.bare = new win.CSSStyleSheet();
            frame.bare.replaceSync(`*, ::placeholder { color: transparent !important; -webkit-text-fill-color: transparent !important;
                text-decoration-color: transparent !important; caret-color: transparent !important }`);
            frame.contentDocument.adoptedStyleSheets.push(frame.bare);
        } else frame.contentDocument.adoptedStyleSheets = frame.contentDocument.adoptedStyleSheets.filter(sheet => sheet !== frame.bare);
    }
    document.querySelector("main").style.opacity = isBare ? 1 : "";
}"""
_JUDGE: Final = "found => found.forEach(([kind, contrast]) => paint.judged.set(kind, contrast))"
_RESTORE: Final = "(doc, height, frame) => { frame.height = height }"
WITHOUT_EDGE: Final = """(doc, kinds) => [...doc.querySelectorAll(kinds)]
    .filter(each => each.checkVisibility() && parseFloat(getComputedStyle(each).borderTopWidth) < 1)
    .map(each => "in forced colors without an edge: " + named(each))"""


def readable(sheet: Sheet) -> Iterator[Faults]:
    """Text has a contrast of at least 4.5:1, large text 3:1 (WCAG 2.2, 1.4.3), in light and dark mode."""
    yield _unreadable(sheet, "light")
    sheet.page.emulate_media(color_scheme="dark")
    yield _unreadable(sheet, "dark")
    sheet.page.emulate_media(color_scheme="light")


def in_forced_colours(sheet: Sheet) -> Iterator[Faults]:
    """With the colors of the device, controls keep an edge. Browsers themselves put a plate behind texts on pictures."""
    sheet.page.emulate_media(forced_colors="active")
    yield sheet.ask(WITHOUT_EDGE, ".button, .control, .method")
    sheet.page.emulate_media(forced_colors="none")


def _unreadable(sheet: Sheet, mode: str) -> Faults:
    answers = sheet.ask(_TEXTS, [mode, MAX_PICTURE_HEIGHT])
    faults = [[(found, needed, name) for found, needed, name in each["faults"]] for each in answers]
    if any(each["measured"] for each in answers):
        faults = [each + more for each, more in zip(faults, _measured(sheet, answers), strict=True)]
    sheet.ask(_RESTORE, DESK[1])
    return [
        [f"in {mode}, text has a contrast of {found:.2f}:1, needs {needed}:1: {name}" for found, needed, name in page]
        for page in faults
    ]


def _measured(sheet: Sheet, answers: list[dict[str, Any]]) -> Iterator[list[tuple[float, float, str]]]:
    """Yield, for each page, the texts on pictures that are hard to read, each with its contrast and what it needs."""
    camera = sheet.page.context.new_cdp_session(sheet.page)
    sheet.page.evaluate(_BARE, True)
    for each in answers:
        texts: list[dict[str, Any]] = each["measured"]
        found = (
            [
                *zip(
                    texts,
                    contrasts(_picture(camera, sheet.page, each), [PaintedText(**text["painted"]) for text in texts]),
                    strict=True,
                )
            ]
            if texts
            else []
        )
        sheet.page.evaluate(_JUDGE, [[text["kind"], contrast] for text, contrast in found])
        yield [(contrast, text["needed"], text["name"]) for text, contrast in found if contrast < text["needed"]]
    sheet.page.evaluate(_BARE, False)
    camera.detach()


def _picture(camera: CDPSession, page: Page, answer: dict[str, Any]) -> bytes:
    """Return a PNG of the first part of a page, at most as high as the window: larger pictures would paint all pages of the sheet."""
    page.evaluate("top => scrollTo(0, top)", answer["top"])
    clip = {"x": 0, "y": answer["top"], "width": DESK[0], "height": answer["height"], "scale": 1}
    how = {"format": "png", "clip": clip, "optimizeForSpeed": True}
    return base64.b64decode(camera.send("Page.captureScreenshot", how)["data"])
