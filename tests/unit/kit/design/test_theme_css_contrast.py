"""Contrast of a theme's CSS: what is hard to see is named with the nearest color that passes; what is not decided is left out."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from app.hub.tenants.branding import PageBranding
from app.hub.theme_check.style import style_problems
from app.kit.design.colour import Colour
from app.kit.design.theme_css.check import checked
from app.kit.design.theme_css.contrast import StyleProblem

BRAND = PageBranding("Hazel", "#0a7d55")
DARK = "@media (prefers-color-scheme: dark)"


@cache
def problems(css: str) -> list[StyleProblem]:
    assert checked(css).problems == ()
    return style_problems(css, BRAND)


@pytest.mark.parametrize(
    "css",
    [
        ".own-a { color: #666; background: #fff }",
        ".own-a { color: var(--muted) }",
        ".own-a { background: var(--tint); color: var(--ink) }",
        ".own-hero { background: #101010; color: #fff }\n.own-title { color: #fff }",
        ".own-hero { background: #101010 }\n.own-hero p { color: #fff }",
        f".own-a {{ background: #fffbe6 }}\n{DARK} {{ .own-a {{ background: #222 }} }}",
        ".own-a { color: #949494; background: #fff; font-size: 28px }",
        ".own-a { background: linear-gradient(red, blue); color: #eee }",
        ".own-a { color: currentcolor; background: #777 }",
        ".own-a { color: #eee; background: #fff }\n.own-a { color: #111 }".replace("#eee", "#222"),
        ".card { background: var(--surface) }",
        ".button:not(.button--plain) { background: #900 }",
        "@media print { .own-a { color: #eee } }",
        "@media (forced-colors: active) { .own-a { color: #eee } }",
        "@media only print and (min-width: 500px), (forced-colors) { .own-a { color: #eee } }",
        "@media not (not (max-width: 0)) { .own-a { color: #eee } }",
        ":focus-visible { outline-color: var(--ink) }",
        ".own-a { border-color: #eee }",
    ],
)
def test_readable_or_undecided_colors_pass(css: str) -> None:
    assert problems(css) == []


@pytest.mark.parametrize(
    "query",
    [
        "@media (max-width: 0), (min-width: 1px)",
        "@media not (max-width: 0)",
        "@media not ((max-width: 0) or (forced-colors: active))",
        "@media ((max-width: 0) or (min-width: 1px))",
        "@media (forced-colors: none)",
        "@media screen, print",
        "@media not print",
        "@media not print and (max-width: 0)",
        "@media not (prefers-color-scheme: dark)",
        "@media (prefers-color-scheme: dark), (min-width: 1px)",
        "@supports not (forced-colors: active)",
        "@supports not (print: none)",
        "@media (min-width: 1px) { @media not (max-width: 0)",
    ],
)
def test_colors_that_a_condition_lets_show_are_named(query: str) -> None:
    css = f"{query} {{ .lead {{ color: #eee }} }}" + " }" * query.count("{")
    assert [problem for problem in problems(css) if "light mode" in problem.sentence]


@pytest.mark.parametrize(
    ("query", "modes"),
    [
        ("(prefers-color-scheme: dark) and (min-width: 1px)", {"dark"}),
        ("not (prefers-color-scheme: dark)", {"light"}),
        ("(prefers-color-scheme: dark), (prefers-color-scheme: light)", {"light", "dark"}),
    ],
)
def test_colors_are_measured_in_modes_of_a_condition(query: str, modes: set[str]) -> None:
    found = problems(f"@media {query} {{ .own-a {{ color: #777; background: #777 }} }}")
    assert {mode for mode in ("light", "dark") for one in found if f"{mode} mode" in one.sentence} == modes


@pytest.mark.parametrize(
    ("css", "line", "words"),
    [
        (
            ".own-b { margin: 0 }\n.own-a { color: #999 }",
            2,
            "in light mode; found 2.85:1 for .own-a, #999999 on #ffffff",
        ),
        (".own-a {\n  background: #fffbe6 }", 2, "in dark mode; found 1.06:1 for var(--ink) in it"),
        (f".own-a {{ color: #111; background: #fff }}\n{DARK} {{ .own-a {{ background: #222 }} }}", 2, "in dark mode"),
        (":root { --own-x: #bbb }\n.own-a { color: var(--own-x) }", 2, "#bbbbbb on #ffffff"),
        (".lead { color: #aaa }", 1, "for .lead"),
        (".own-hero { background: #000; color: #fff }\n.own-hero p { color: #333 }", 2, "#333333 on #000000"),
        (".button { background: #ff9 }", 1, "in light mode; found 1.05:1 for .button, #ffffff on #ffff99"),
        (".button { color: #fff }", 1, "for .button.button--quiet"),
        (".button:hover { background: #fff }", 1, "for .button:hover"),
        (".card { background: #777 }", 1, "for var(--link) in it"),
        (".control { background: #222 }", 1, "for var(--ink) in it"),
        (":is(.own-a, .own-b) { color: #ccc }", 1, "in light mode; found 1.61:1 for .own-"),
        (".own-a { background: rgb(0 0 0 / .6) }", 1, "in light mode; found"),
        (".own-a { color: hsl(0 0% 80%) }", 1, "#cccccc on #ffffff"),
        (".own-a { color: oklch(0.85 0 0) }", 1, "in light mode"),
        (
            ":focus-visible { outline-color: #eee }",
            1,
            "expected a focus ring with a contrast of at least 3:1 in light mode",
        ),
        (".own-a { color: #333 }\n.own-a { background: #222 }", 2, "#333333 on #222222"),
    ],
)
def test_unreadable_colors_are_named_with_their_line(css: str, line: int, words: str) -> None:
    found = problems(css)
    assert any(one.line == line and words in one.sentence for one in found), found
    assert {one.line for one in found} == {line}


@pytest.mark.parametrize(
    ("css", "around"),
    [
        (".own-a .own-b { color: #999 }\n.own-a .own-b { color: #333 }", {}),
        (".own-a .own-b { color: #999 }\n.own-a p.own-b { color: #333 }\n.own-a .own-b { color: #333 }", {}),
        (".method { background: #777 }\n.main .method { background: #fff; color: #111 }", {"method": {"main"}}),
        (".own-a .own-b { color: #333 }\n.own-b { color: #999 }", {"own-b": {"own-a"}}),
        ("body.console .lead { color: #333 }\n.lead { color: #aaa }", {"lead": {"console", "main"}}),
    ],
)
def test_color_that_another_rule_replaces_passes(css: str, around: dict[str, set[str]]) -> None:
    light = [one for one in style_problems(css, BRAND, around) if "light mode" in one.sentence]
    assert light == []


@pytest.mark.parametrize(
    ("css", "line", "words"),
    [
        (".own-a .own-b { color: #333 }\n.own-b { color: #999 }", 2, "#999999 on #ffffff"),
        (".own-a { color: #fff; background: #000 }\n.own-a .own-b { background: #fff }", 2, "#ffffff on #ffffff"),
        (".own-a .own-b { color: #333 }\n.own-a .own-b { color: #999 }", 2, "#999999 on #ffffff"),
        (".own-a p.own-b { color: #999 }\n.own-a .own-b { color: #333 }", 1, "#999999 on #ffffff"),
    ],
)
def test_color_that_wins_is_named(css: str, line: int, words: str) -> None:
    light = [one for one in style_problems(css, BRAND) if "light mode" in one.sentence]
    assert [(one.line, words in one.sentence) for one in light] == [(line, True)]


WIDE, NARROW = "@media (min-width: 600px)", "@media (max-width: 400px)"


@pytest.mark.parametrize(
    ("css", "line", "words"),
    [
        (f".own-a {{ color: #999; background: #fff }}\n{WIDE} {{ .own-a {{ color: #333 }} }}", 1, "#999999 on #ffffff"),
        (f".own-a {{ color: #fff }}\n{WIDE} {{ .own-a {{ background: #000 }} }}", 1, "#ffffff on #ffffff"),
        (f".own-a {{ color: #333; background: #fff }}\n{WIDE} {{ .own-a {{ color: #999 }} }}", 2, "#999999 on #ffffff"),
        (f":root {{ --own-x: #bbb }}\n.own-a {{ color: var(--own-x); background: #fff }}\n{WIDE} {{ :root {{ --own-x: #333 }} }}",
         2, "#bbbbbb on #ffffff"),
        (f".own-a {{ color: #333; background: #fff }}\n{WIDE} {{ .own-a {{ color: #888 }} }}\n{NARROW} {{ .own-a {{ color: #333 }} }}",
         2, "#888888 on #ffffff"),
        (("@supports (display: grid) { .own-a { background: #fff } }\n.own-a.own-b { background: #222 }"
         "\n@supports (display: grid) { .own-a.own-b { background: #fff } }"), 2, "in light mode; found"),
    ],
)  # fmt: skip
def test_condition_is_checked_with_and_without(css: str, line: int, words: str) -> None:
    found = [one for one in problems(css) if "light mode" in one.sentence]
    assert [(one.line, words in one.sentence) for one in found] == [(line, True)], found


def test_line_is_reported_once_with_its_worst_contrast() -> None:
    css = f":root {{ --own-x: #bbb }}\n.own-a {{ color: var(--own-x); background: #fff }}\n{WIDE} {{ :root {{ --own-x: #ccc }} }}"
    (found,) = [one for one in problems(css) if "light mode" in one.sentence]
    assert (found.line, "#cccccc on #ffffff" in found.sentence) == (2, True)


def test_readable_colors_in_a_condition_pass() -> None:
    css = f".own-a {{ color: #333; background: #fff }}\n{WIDE} {{ .own-a {{ color: #fff; background: #222 }} }}"
    nested = f"{WIDE} {{ .own-a {{ background: #222; color: #fff }} {NARROW} {{ .own-a {{ color: #eee }} }} }}"
    assert problems(css) == []
    assert problems(nested) == []


def test_theme_of_one_mode_is_measured_in_it() -> None:
    css, dark = ".own-a { color: #ddd }\n.lead { color: #bbb }", replace(BRAND, color_scheme="dark")
    assert style_problems(css, dark) == []
    assert {one.line for one in style_problems(css, replace(BRAND, color_scheme="light"))} == {1, 2}


PAIR = re.compile(r"(#[0-9a-f]{6}) on (#[0-9a-f]{6}): write (?:color|background|outline-color): (#[0-9a-f]{6})")


@pytest.mark.parametrize("ground", ["#ffffff", "#000000", "#0a7d55", "#ffd400", "#888888"])
@pytest.mark.parametrize("text", ["#ffffff", "#000000", "#777777", "#ff0000", "#ffe000"])
def test_written_color_is_the_nearest_that_passes(text: str, ground: str) -> None:
    found = problems(f".own-a {{ color: {text}; background: {ground} }}")
    if Colour.parse(text).contrast(Colour.parse(ground)) >= 4.5:
        assert found == []
        return
    match = PAIR.search(found[0].sentence)
    assert match
    assert Colour.parse(match[3]).contrast(Colour.parse(match[2])) >= 4.5
    nearer = Colour.parse(match[3]).mixed(Colour.parse(match[1]), 0.2)
    assert nearer.contrast(Colour.parse(match[2])) < 4.9
