"""The rules that `gatehouse theme check --browser` asks of pages: each finds its fault, and none on a page without it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from werkzeug.wrappers import Request, Response

from app.hub.theme_check.browser.colour_rules import in_forced_colours, readable
from app.hub.theme_check.browser.focus_rules import by_keyboard
from app.hub.theme_check.browser.layout_rules import in_narrow_windows, uncovered
from app.hub.theme_check.browser.sheet import SHEET, Sheet
from app.hub.theme_check.browser.sheet_server import served

RULES = (in_narrow_windows, uncovered, by_keyboard, readable, in_forced_colours)
EMAIL, LABEL, BUTTON = (
    '<input id="email" class="control">',
    '<label for="email"> “Email”',
    '<button class="button"> “Go”',
)
PAGE = """<!doctype html><html lang="en"><title>Page</title><style>
body {{ margin: 0; background: #fff; color: #111 }} :focus-visible {{ outline: 2px solid #00f; outline-offset: 2px }}
.control, .button {{ display: block; inline-size: 90%; block-size: 40px; border: 1px solid #555; background: #fff; color: #111 }}
{style}</style><body>{own}<main><h1>Sign in</h1><form><p><label for="email">Email</label></p>
<p><input id="email" class="control"></p><p><button class="button">Go</button></p></form></main>"""
PICTURE = (
    "url(\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'%3E"
    "%3Crect width='2000' height='2000' fill='{}'/%3E%3C/svg%3E\")"
)
WHITE, BLACK = PICTURE.format("white"), PICTURE.format("black")

CODES = (
    ".own-code { box-sizing: border-box; inline-size: 90px; padding: 0; border: 0; font: 20px monospace }"
    " .own-pad { padding-inline: 40px 0 } .own-wide { letter-spacing: 10px } .own-part { inline-size: 20vw }"
)


def pale(contrast: str, name: str, needed: str = "4.5") -> list[str]:
    return [f"in {mode}, text has a contrast of {contrast}:1, needs {needed}:1: {name}" for mode in ("light", "dark")]


CASES: dict[str, tuple[str, str, list[str]]] = {
    "plain": ("", "", []),
    "a wide element": (
        ".own-wide { inline-size: 400px }",
        '<p class="own-wide">Wide</p>',
        [f'scrolls sideways at {width} px: <p class="own-wide"> “Wide”' for width in (380, 320)],
    ),
    "a wide element that is cut off": (
        ".own-cut { overflow: hidden } .own-cut p { inline-size: 900px }",
        '<div class="own-cut"><p>Wide</p></div>',
        [],
    ),
    "a code in a narrow field": (
        CODES,
        "".join(
            f'<p><input class="own-code {name}" aria-label="Code" data-digits="6"></p>'
            for name in ("", "own-pad", "own-wide", "own-part")
        ),
        [
            *(
                f'cuts off digits: <input class="own-code {name}" aria-label="Code" data-digits="6">'
                for name in ("own-pad", "own-wide")
            ),
            'cuts off digits at 320 px: <input class="own-code own-part" aria-label="Code" data-digits="6">',
        ],
    ),
    "a small link": (
        ".own-small { display: inline-block; inline-size: 20px; block-size: 20px }",
        '<a class="own-small" href="/x">x</a>',
        ['smaller than 24 px at 380 px, too small for a finger: <a class="own-small" href="/x"> “x”'],
    ),
    "a veil": (
        ".own-veil { position: absolute; inset: 0 }",
        '<div class="own-veil"></div>',
        [
            f'covered by <div class="own-veil"> at {width} px: {name}'
            for width in (1280, 380)
            for name in (LABEL, EMAIL, BUTTON)
        ],
    ),
    "a pale ring": (
        ".control:focus-visible { outline-color: #ddd }",
        "",
        [f"nothing shows that the focus is at {EMAIL}"],
    ),
    "a ring that is a shadow": (
        ".control:focus-visible { outline: 0; box-shadow: 0 0 0 3px #00f }",
        "",
        [],
    ),
    "a pale shadow": (
        ".control:focus-visible { outline: 0; box-shadow: 0 0 0 3px #ddd }",
        "",
        [f"nothing shows that the focus is at {EMAIL}"],
    ),
    "no ring": (".control:focus-visible { outline: 0 }", "", [f"nothing shows that the focus is at {EMAIL}"]),
    "grey on white": ("label { color: #aaa }", "", pale("2.32", LABEL)),
    "grey on white in the dark alone": (
        "@media (prefers-color-scheme: dark) { label { color: #aaa } }",
        "",
        pale("2.32", LABEL)[1:],
    ),
    "large grey on white": ("h1 { color: #888; font-size: 24px }", "", []),
    "white on a white picture": (
        f"h1 {{ color: #fff; background: {WHITE} #000 }}",
        "",
        pale("1.00", "<h1> “Sign in”", "3"),
    ),
    "white on a black picture": (f"h1 {{ color: #fff; background: {BLACK} #fff }}", "", []),
    "white on a black picture under the page": (
        f".own-sky {{ position: absolute; inset: 0; z-index: -1; background: {BLACK} }} h1, label {{ color: #fff }}",
        '<div class="own-sky"></div>',
        [],
    ),
    "white on a black picture far down the page": (
        f".own-far {{ position: absolute; top: 1850px; padding: 20px; color: #fff; background: {BLACK} #fff }}",
        '<p class="own-far">Far</p>',
        [],
    ),
    "no edge": (".button { border: 0; background: #ddd }", "", [f"in forced colors without an edge: {BUTTON}"]),
}


@Request.application
def pages(request: Request) -> Response:
    if request.path == "/":
        return Response(SHEET, mimetype="text/html")
    style, own, _ = CASES[request.args["case"]]
    return Response(PAGE.format(style=style, own=own), mimetype="text/html")


@pytest.fixture(scope="module")
def sheet(chromium: Browser) -> Iterator[tuple[Sheet, str]]:
    context = chromium.new_context()
    with served(pages) as port:
        yield Sheet(context.new_page()), f"http://127.0.0.1:{port}"
    context.close()


@pytest.mark.parametrize("case", CASES)
def test_rules_find_this_fault_and_no_other(sheet: tuple[Sheet, str], case: str) -> None:
    shown, home = sheet
    shown.lay(home, {"page": f"/page?case={case}"})
    assert [fault for _, fault in shown.found(*RULES)] == CASES[case][2]
