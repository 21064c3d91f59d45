"""Style sheets that read, send, load, hide or cover something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.hostile_themes.hostile_theme import CSS, HostileTheme, in_css

# fmt: off
MORE_SHEETS: Final[Mapping[str, HostileTheme]] = {
    "errors indented away": HostileTheme(
        in_css(".notice { text-indent: -9999px }"),
        problem="static/css/theme.css:2: expected 0 to 80px, 5rem or 10vh, without - and *",
    ),
    "errors scaled away": HostileTheme(
        in_css(".notice { transform: scale(0) }"),
        problem="static/css/theme.css:2: expected at most two of translateY(-8px), scale(0.9 to 1.1) and rotate(10deg), on",
    ),
    "errors clipped": HostileTheme(
        in_css(".notice { clip-path: circle(0) }"),
        problem="static/css/theme.css:2: expected this property only where each selector ends with a class of your own,",
    ),
    "errors masked": HostileTheme(
        in_css(".notice { mask: url(/theme/a.png) }"),
        problem="static/css/theme.css:2: expected this property only where each selector ends with a class of your own,",
    ),
    "errors behind": HostileTheme(
        in_css(".notice { z-index: -1 }"),
        problem="static/css/theme.css:2: expected this property only where each selector ends with a class of your own,",
    ),
    "errors filtered": HostileTheme(
        in_css(".notice { filter: opacity(0) }"),
        problem="static/css/theme.css:2: expected this property only where each selector ends with a class of your own,",
    ),
    "errors not rendered": HostileTheme(
        in_css(".notice { content-visibility: hidden }"),
        problem="static/css/theme.css:2: expected a property that themes may set",
    ),
    "everything hidden": HostileTheme(
        in_css("* { visibility: hidden }"),
        problem="static/css/theme.css:2: expected an element or a class for visibility",
    ),
    "everything reset": HostileTheme(
        in_css("* { all: unset }"),
        problem="static/css/theme.css:2: expected a property that themes may set",
    ),
    "form hidden by not": HostileTheme(
        in_css(":not(.own-a) { display: none }"),
        problem="static/css/theme.css:2: expected an element or a class for display",
    ),
    "form hidden by is": HostileTheme(
        in_css(":is(.own-a, form) { display: none }"),
        problem="static/css/theme.css:2: expected one of block, inline, inline-block, flex, inline-flex, grid,",
    ),
    "form hidden below an own class": HostileTheme(
        in_css(".own-a form { display: none }"),
        problem="static/css/theme.css:2: expected one of block, inline, inline-block, flex, inline-flex, grid,",
    ),
    "form hidden in print": HostileTheme(in_css("@media print { form { display: none } }")),
    "form hidden in a false print": HostileTheme(
        in_css("@media print, screen { form { display: none } }"),
        problem="static/css/theme.css:2: expected one of block, inline, inline-block, flex, inline-flex, grid,",
    ),
    "form hidden in not print": HostileTheme(
        in_css("@media not print { form { display: none } }"),
        problem="static/css/theme.css:2: expected one of block, inline, inline-block, flex, inline-flex, grid,",
    ),
    "form hidden by supports": HostileTheme(
        in_css("@supports (color: red) { form { display: none } }"),
        problem="static/css/theme.css:2: expected one of block, inline, inline-block, flex, inline-flex, grid,",
    ),
    "form hidden by a variable": HostileTheme(
        in_css(":root { --own-d: none } form { display: var(--own-d) }"),
        problem="static/css/theme.css:2: expected one of block, inline, inline-block, flex, inline-flex, grid,",
    ),
    "form hidden by a fallback": HostileTheme(
        in_css("form { display: var(--own-nothing, none) }"),
        problem="static/css/theme.css:2: expected one of block, inline, inline-block, flex, inline-flex, grid,",
    ),
    "form hidden by calc": HostileTheme(
        in_css("form { max-width: calc(1px * 0) }"),
        problem="static/css/theme.css:2: expected 16px to 2000px or 50% to 100%, without - and *",
    ),
    "form hidden by clamp": HostileTheme(
        in_css("form { max-width: clamp(0px, 100%, 0px) }"),
        problem="static/css/theme.css:2: expected 16px to 2000px or 50% to 100%, without - and *",
    ),
    "form hidden by env": HostileTheme(
        in_css("form { max-width: env(nothing, 0px) }"),
        problem="static/css/theme.css:2: expected 16px to 2000px or 50% to 100%, without - and *",
    ),
    "form hidden by an animation": HostileTheme(
        in_css("@keyframes own-a { to { opacity: 0 } } form { animation: own-a 1s forwards }"),
        problem="static/css/theme.css:2: expected times of at most 1s, and an animation that ends: without infinite,",
    ),
    "form hidden for long": HostileTheme(
        in_css("@keyframes own-a { from { opacity: 0 } } form { animation: own-a 9999s }"),
        problem="static/css/theme.css:2: expected times of at most 1s, and an animation that ends: without infinite,",
    ),
    "form hidden by a delay": HostileTheme(
        in_css("@keyframes own-a { from { opacity: 0 } } form { animation: own-a 1s 9999s both }"),
        problem="static/css/theme.css:2: expected times of at most 1s, and an animation that ends: without infinite,",
    ),
    "form hidden by endless turns": HostileTheme(
        in_css("@keyframes own-a { from { opacity: 0 } } form { animation: own-a 1s infinite }"),
        problem="static/css/theme.css:2: expected times of at most 1s, and an animation that ends: without infinite,",
    ),
    "our animation renamed": HostileTheme(
        in_css("@keyframes spin { to { opacity: 0 } }"),
        problem="static/css/theme.css:2: expected a name that begins with own-, such as @keyframes own-rise",
    ),
    "form under its parent": HostileTheme(
        in_css(".own-a { position: fixed; inset: 0 }"),
        problem="static/css/theme.css:2: expected static, relative, absolute or sticky",
    ),
    "cover above the form": HostileTheme(
        in_css(".own-a { position: absolute; inset: 0; z-index: 9999 }"),
        problem="static/css/theme.css:2: expected auto, 0 or a negative number",
    ),
    "cover by a pseudo-element": HostileTheme(
        in_css("body::after { content: ''; position: fixed; inset: 0 }"),
        problem="static/css/theme.css:2: expected this property only where each selector ends with a class of your own,",
    ),
    "cover by a shadow": HostileTheme(
        in_css(".button { box-shadow: 0 0 0 9999px #ffffff }"),
        problem="static/css/theme.css:2: expected shadows with offsets of at most 24px, a blur of at most 64px and a",
    ),
    "cover by a border": HostileTheme(
        in_css(".button { border: 9999px solid #ffffff }"),
        problem="static/css/theme.css:2: expected a border of at most 16px",
    ),
    "cover by an outline": HostileTheme(
        in_css(".own-a { outline: 9999px solid #ffffff }"),
        problem="static/css/theme.css:2: expected a property that themes may set",
    ),
    "negative margin": HostileTheme(
        in_css("form { margin-left: -9999px }"),
        problem="static/css/theme.css:2: expected 0 to 80px, 5rem or 10vh, without - and *",
    ),
    "negative margin of an own element": HostileTheme(
        in_css(".own-a { margin-bottom: -9999px }"),
        problem="static/css/theme.css:2: expected margins of at least 0, without - and *",
    ),
    "words over the form": HostileTheme(
        in_css('.button::before { content: "Your account is locked. Call +1 555 0100 now and tell us." }'),
        problem="static/css/theme.css:2: expected a text of at most 40 characters in quotes, none or counter()",
    ),
    "focus hidden": HostileTheme(
        in_css(":focus-visible { outline: none }"),
        problem="static/css/theme.css:2: expected a property that themes may set",
    ),
    "focus in no color": HostileTheme(
        in_css(":focus-visible { outline-color: transparent }"),
        problem="static/css/theme.css:2: expected a color without transparency, such as #1d2433, rgb(29 36 51) or",
    ),
    "clicks off": HostileTheme(
        in_css(".button { pointer-events: none }"),
        problem="static/css/theme.css:2: expected this property only where each selector ends with a class of your own,",
    ),
    "pointer hidden": HostileTheme(
        in_css("body { cursor: none }"),
        problem="static/css/theme.css:2: expected the name of a visible cursor, such as pointer",
    ),
    "direction turned": HostileTheme(
        in_css("form { direction: rtl; unicode-bidi: bidi-override }"),
        problem="static/css/theme.css:2: expected a property that themes may set",
    ),
    "writing turned": HostileTheme(
        in_css("form { writing-mode: vertical-rl }"),
        problem="static/css/theme.css:2: expected a property that themes may set",
    ),
    "order turned": HostileTheme(
        in_css("form { flex-direction: column-reverse }"),
        problem="static/css/theme.css:2: expected one of row, column",
    ),
    "order of buttons": HostileTheme(
        in_css(".button { order: -1 }"),
        problem="static/css/theme.css:2: expected this property only where each selector ends with a class of your own,",
    ),
    "password shown": HostileTheme(
        in_css("input { -webkit-text-security: none }"),
        problem="static/css/theme.css:2: expected a property that themes may set",
    ),
    "letters of a password": HostileTheme(in_css("input { font-family: 'own-letters' }")),
    "ground of errors": HostileTheme(
        in_css(":root { --danger: #ffffff }"),
        problem="static/css/theme.css:2: expected color or background in theme.yaml, which keep texts readable",
    ),
    "token of ours": HostileTheme(
        in_css(":root { --control: 0px }"),
        problem="static/css/theme.css:2: expected 40px to 72px or 2.5rem to 4.5rem",
    ),
    "important": HostileTheme(
        in_css(".notice { color: #111111 !important }"),
        problem="static/css/theme.css:2: expected a value without !important",
    ),
    "root size": HostileTheme(
        in_css("html { font-size: 1px }"),
        problem="static/css/theme.css:2: expected an element or a class for font-size",
    ),
    "root size by star": HostileTheme(
        in_css("* { font-size: 96px }"),
        problem="static/css/theme.css:2: expected an element or a class for font-size",
    ),
    "root size by where": HostileTheme(
        in_css(":where(*) { font-size: 11px }"),
        problem="static/css/theme.css:2: expected an element or a class for font-size",
    ),
    # What costs time or memory
    "huge style sheet": HostileTheme(
        {CSS: "a { color: #111111 }\n" * 2_000},
        problem="static/css/theme.css:1: expected at most 16 kB",
    ),
    "style sheet of 5 MB": HostileTheme(
        {CSS: "x" * 5_000_000},
        problem="static/css/theme.css:1: expected at most 16 kB",
    ),
    "2,000 rules": HostileTheme(
        {CSS: "a{color:red}" * 1_300},
        problem="static/css/theme.css:1: expected at most 400 rules",
    ),
    "huge selector": HostileTheme(
        in_css("a" + " a" * 4_000 + " { color: #111111 }"),
        problem="static/css/theme.css:2: expected selectors of at most 300 characters",
    ),
    "list of 3,000 selectors": HostileTheme(
        in_css("a," * 3_000 + "a { color: #111111 }"),
        problem="static/css/theme.css:2: expected selectors of at most 300 characters",
    ),
    "selectors in selectors": HostileTheme(
        in_css(":is(" * 1_500 + "a" + ")" * 1_500 + " { color: #111111 }"),
        problem="static/css/theme.css:2: expected at most 12 brackets within one another",
    ),
    "has in has": HostileTheme(
        in_css(":has(:has(:has(:has(a)))) { color: #111111 }"),
        problem="static/css/theme.css:2: expected an element or a class for color",
    ),
    "brackets in brackets": HostileTheme(
        in_css(".own-a { width: " + "calc(" * 1_500 + "1px" + ")" * 1_500 + " }"),
        problem="static/css/theme.css:2: expected at most 12 brackets within one another",
    ),
    "blocks in blocks": HostileTheme(
        in_css("{" * 8_000 + "}" * 8_000),
        problem="static/css/theme.css:2: expected at most 12 brackets within one another",
    ),
    "at-rules in at-rules": HostileTheme(
        in_css("@media (min-width: 1px) {" * 200 + "}" * 200),
        problem="static/css/theme.css:2: expected at most 12 brackets within one another",
    ),
    "number of 10,000 digits": HostileTheme(
        in_css(".own-a { width: " + "9" * 10_000 + "px }"),
        problem="static/css/theme.css:1: expected numbers of at most 20 digits",
    ),
    "number with exponent": HostileTheme(in_css(".own-a { width: 1e999px }")),
    "variables that double": HostileTheme(
        in_css(":root {" + "".join(f"--own-a{n}: var(--own-a{n + 1}) var(--own-a{n + 1});" for n in range(60)) + " --own-a60: 1px } .own-a { padding: var(--own-a0) }"),  # noqa: E501
    ),
    "variables in a circle": HostileTheme(
        in_css(":root { --own-a: var(--own-b); --own-b: var(--own-a) } form { padding: var(--own-a) }"),
    ),
    "900 variables in 900 values": HostileTheme(
        in_css(":root {" + "".join(f"--own-a:{n}px;" for n in range(500)) + "}" + "a{padding:var(--own-a)}" * 300),
        problem="static/css/theme.css:2: expected 0 to 48px, 3rem or 5vw, without - and *",
    ),
    "1,000 shadows": HostileTheme(in_css(".own-a { box-shadow: " + ", ".join(["0 0 64px red"] * 700) + " }")),
    "600 gradients": HostileTheme(
        in_css(".own-a { background: " + ", ".join(["linear-gradient(red, blue)"] * 500) + " }"),
    ),
    "blur of a screen": HostileTheme(in_css(".own-a { filter: blur(9999px); width: 100vw; height: 100vh }")),
    "3,000 tracks": HostileTheme(in_css(".own-a { display: grid; grid-template-columns: repeat(99999999, 1px) }")),
    "tracks of ours": HostileTheme(
        in_css("form { grid-template-columns: repeat(99999999, 1px) }"),
        problem="static/css/theme.css:2: expected at most six of 16px to 320px, 50% to 100%, 0.25fr to 4fr and minmax(0,",
    ),
}
# fmt: on
