"""The CSS of a theme: elements that are not its own stay visible and in their place."""

from __future__ import annotations

from typing import Final

import pytest

from app.kit.design.theme_css.allowed import PROPERTIES, TOKENS
from app.kit.design.theme_css.bounds import COLOURS
from app.kit.design.theme_css.check import checked


def sentences(css: str) -> list[str]:
    return [problem.sentence for problem in checked(css).problems]


# Ways to make a field vanish, each on an element of ours.
HIDING: Final = """\
display: none|display: contents|display: table-column|display: var(--own-x)|visibility: hidden|opacity: 0|opacity: .5
filter: opacity(0)|clip-path: inset(50%)|mask: none|font-size: 0|font-size: 0px|font-size: .5em|font-size: 1%|font-size: smaller
font-size: calc(1rem - 1rem)|font-size: calc(1rem * 0)|font-size: min(1rem, 0px)|font-size: clamp(0px, 2rem, 1px)
font-size: var(--own-x)|font-size: var(--lines)|font-size: var(--own-none, 0)|font: 0/0 a|font: xx-small a|font: var(--own-x) a
line-height: 0|line-height: .2|line-height: 8px|font: 1rem/900 a|font: 1rem/8px a|font: 2rem/20px a|font: 1rem / .2 a|font: var(--own-f)
text-indent: -9999px|text-indent: 9999px|letter-spacing: -9px|color: transparent|color: #0000
color: #00000000|color: rgb(0 0 0 / 0)|color: rgb(0, 0, 0, 0)|color: color-mix(in srgb, red 0%, blue 1%)|color: var(--own-clear)
width: 0|width: 1px|width: 5%|width: var(--radius)|max-width: 0|height: 0|max-height: 1px|max-height: 9000px|min-height: 9000px
margin: -99px|margin-left: 9999px|margin: calc(1px - 99px)|margin: var(--own-off)|margin-top: var(--frame)|padding: 400px
padding: 5em 5em 50em|gap: 9999px|border: 200px solid|border: var(--frame) solid|border-width: 99px|position: absolute|position: fixed
position: sticky|inset: 0|top: 0|left: -999px|z-index: 1|order: 1|flex-direction: row-reverse|flex-direction: column-reverse
flex-wrap: wrap-reverse|grid-row: 1|grid-area: 1 / 1|grid-auto-rows: 0|grid-template-rows: 0|grid-template-columns: 0 0
grid-template-columns: .001fr 1fr|flex: 0 0 0|overflow: hidden|overflow: auto|float: left|pointer-events: none|user-select: none
transform: translateX(-9px)|transform: scale(0)|transform: scale(.9) scale(.9) scale(.9)|transform: rotate(90deg)|scale: 0
translate: 0 -99px|rotate: 90deg|box-shadow: 0 -300px 0 300px red|box-shadow: 0 0 0 99px red|box-shadow: 0 var(--own-off) red
box-shadow: var(--own-x) 0 0 64px red|box-shadow: 0 0 0 calc(99px) red|text-shadow: 0 -99px red|text-shadow: 0 2em red
animation: own-gone 1s forwards|animation: leave 1s both|animation: own-gone 9s|animation: own-gone 1s infinite
animation-duration: 99s|animation-iteration-count: 99|animation-play-state: paused|transition: all 99s|transition-delay: 1200ms
text-decoration-thickness: 300px|text-decoration: line-through 300px|vertical-align: -900px|outline-offset: 90px
isolation: isolate
will-change: transform|aspect-ratio: 1000|mix-blend-mode: multiply|backdrop-filter: none|appearance: none|zoom: .1|all: unset
content-visibility: hidden|cursor: none
cursor: var(--own-x)|width: 900px|height: 44px|max-height: 44px|justify-content: end
justify-items: flex-end|text-decoration: line-through 8px|padding: 80px
contain: strict|direction: rtl|writing-mode: vertical-rl|offset-path: none|shape-outside: none""".replace("\n", "|")
VARIABLES: Final = (
    ":root { --own-x: var(--own-y); --own-y: 0; --own-off: -99px; --own-clear: #0000; --own-f: 1rem/900 a }"
)


@pytest.mark.parametrize("declaration", HIDING.split("|"))
def test_elements_of_ours_cannot_be_hidden(declaration: str) -> None:
    assert len(sentences(f"{VARIABLES} .button {{ {declaration} }}")) == 1
    assert len(sentences(f"{VARIABLES} .own-a .field, .own-a {{ {declaration} }}")) >= 1, (
        "one subject is not the theme's"
    )
    assert len(sentences(f"{VARIABLES} .field:not(.own-a) {{ {declaration} }}")) >= 1, (
        "an own class that it does not have"
    )


def test_every_bounded_property_refuses_something() -> None:
    bounded = [name for name, bound in PROPERTIES.items() if bound is not None]

    assert len(bounded) > 100
    assert [
        name for name in bounded if not sentences(f".field {{ {name}: -9999px 9999px 9999px 9999px 9999px #0000 }}")
    ] == []


@pytest.mark.parametrize("token", sorted(TOKENS))
def test_theme_tokens_keep_their_bounds_on_own_elements(token: str) -> None:
    assert sentences(f".own-a {{ {token}: -999px 9s attr(value) }}")
    assert sentences(f".own-a {{ {token}: calc(1rem - 99rem) }}")


@pytest.mark.parametrize("token", sorted(COLOURS))
def test_color_tokens_belong_to_theme_yaml(token: str) -> None:
    assert sentences(f":root {{ {token}: #fff }}") == [
        f"expected color or background in theme.yaml, which keep texts readable; found {token}: set --own-{token[2:]}"
    ]


@pytest.mark.parametrize(
    ("css", "hiding"),
    [
        (".own-a { display: none }", {"own-a"}),
        (".own-a.own-b::before { opacity: .5 }", {"own-a", "own-b"}),
        (".field .own-a, .own-b { filter: blur(2px) }", {"own-a", "own-b"}),
        (".own-a { font-size: var(--own-s); --own-s: 0 }", {"own-a"}),
        (".own-a { animation: own-x 9s infinite }", {"own-a"}),
        (".own-a { transform: translateY(2px) }", {"own-a"}),
        (".own-a { padding: 12px; color: red; display: grid; gap: 8px }", set()),
        ("@media print { .field { display: none } }", set()),
        ("@keyframes own-x { from { opacity: 0 } }", set()),
    ],
)
def test_classes_that_hide_are_named(css: str, hiding: set[str]) -> None:
    result = checked(css)

    assert result.problems == ()
    assert bool(result.css)
    assert set(result.hiding) == hiding


@pytest.mark.parametrize(
    "selector",
    [".section > *", ".section *", "body > *", "h1 + *", ".a ~ [dir]", ":is(.section > *)", ".a > :not(.b)", "* > *"],
)
def test_elements_within_others_are_not_the_root(selector: str) -> None:
    assert sentences(f"{selector} {{ padding: 4px }}") == []


SHORTHANDS: Final = {
    "font: italic 700 1rem/1.5rem Inter": "font-style: italic|font-weight: 700|font-size: 1rem|line-height: 1.5rem",
    "font: 16px/20px Inter": "font-size: 16px|line-height: 20px",
    "font: 1rem/150% Inter": "line-height: 150%",
    "font: oblique 10deg 1rem/1.2em Inter": "font-style: oblique 10deg|line-height: 1.2em",
    "font: 1rem/4 Inter": "line-height: 4",
    "font: 1rem/10px Inter": "line-height: 10px",
    "font: .5rem/1 Inter": "font-size: .5rem",
    "flex: 0 1 auto": "flex-grow: 0|flex-shrink: 1",
    "place-items: end center": "align-items: end|justify-items: center",
    "place-items: center end": "align-items: center|justify-items: end",
    "place-content: end": "align-content: end|justify-content: end",
    "border: .0625rem dashed red": "border-width: .0625rem|border-style: dashed|border-color: red",
    "border-inline: 20px solid red": "border-inline-width: 20px",
    "text-decoration: underline .1em": "text-decoration-line: underline|text-decoration-thickness: .1em",
    "text-decoration: underline 4px": "text-decoration-thickness: 4px",
    "gap: 4px 2rem": "row-gap: 4px|column-gap: 2rem",
    "gap: 4px 90px": "row-gap: 4px|column-gap: 90px",
    "padding: 1px 5vw": "padding-top: 1px|padding-inline: 5vw",
    "margin: 0 auto": "margin-block: 0|margin-inline-end: auto",
    "border-radius: 4px 50%": "border-top-left-radius: 4px|border-start-end-radius: 50%",
    "transition: color .2s ease 2s": "transition-property: color|transition-duration: .2s|transition-delay: 2s",
    "animation: own-a .2s ease both": "animation-name: own-a|animation-duration: .2s|animation-fill-mode: both",
}
"""By the declaration of a shorthand: the same in longhands."""


@pytest.mark.parametrize("shorthand", SHORTHANDS)
def test_shorthand_takes_what_its_longhands_take(shorthand: str) -> None:
    longhands = [not sentences(f".field {{ {each} }}") for each in SHORTHANDS[shorthand].split("|")]
    assert (not sentences(f".field {{ {shorthand} }}")) is all(longhands)


ICONS: Final = (
    ".tabs svg|.tabs a > svg|.tabs > a svg|.row > svg|li > .row > svg:not(.go)|.method > svg|.tabs svg, .row > svg"
)


@pytest.mark.parametrize("selector", ICONS.split("|"))
def test_icon_beside_a_text_can_be_left_out(selector: str) -> None:
    assert sentences(f"{selector} {{ display: none }}") == []
    assert sentences(f"{selector} {{ display: contents }}") != []


HOLDERS: Final = (
    "svg|.row svg|.row + svg|.tabs + svg|.tabs ~ a > svg|.tabs a|.row > svg, svg|.row > span > svg|.row > svg::before"
)


@pytest.mark.parametrize(
    "selector", [*HOLDERS.split("|"), ".secret > svg", ".menu svg", ".row:has(> svg)", ".tabs :not(svg)"]
)
def test_drawing_with_a_meaning_stays(selector: str) -> None:
    (sentence,) = sentences(f"{selector} {{ display: none }}")
    assert "none for icons: .tabs svg, .row > svg" in sentence
