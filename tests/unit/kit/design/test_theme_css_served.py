"""The CSS of a theme: browsers get what was checked, with every declaration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
import tinycss2

from app.kit.design.theme_css.check import checked

SHEET: Final = """\
/* Hazel: warm, round and quiet. */
@font-face {
  font-family: "Inter";
  src: url("/theme/inter.woff2") format("woff2");
  font-weight: 400 700;
  font-display: swap;
}

:root {
  --radius: 6px;
  --radius-card: 1.25rem;
  --button-radius: 999px;
  --control: 52px;
  --column: 420px;
  --font: "Inter", system-ui, sans-serif;
  --t-title: 650 clamp(1.5rem, 3vw, 2rem)/1.2 var(--font);
  --shadow-raised: 0 1px 2px rgb(15 18 30 / .05), 0 16px 40px -16px rgb(15 18 30 / .18);
  --own-leaf: oklch(62% .14 150);
  --own-gap: 24px;
  --own-rise: 12px;
  color-scheme: light dark;
}

body {
  background: var(--canvas) url(/theme/paper.webp) repeat;
  font-feature-settings: "ss01" 1, "cv05" 1;
}

.form { gap: var(--own-gap); margin-block-start: 32px }
.field label, .label { font-weight: 600; letter-spacing: .01em; text-transform: none }
.control {
  border: 1.5px solid color-mix(in oklab, var(--own-leaf) 40%, var(--line));
  border-radius: 8px;
  padding: .75rem 1rem;
  background-color: var(--raised);
}
.control::placeholder { color: var(--muted) }
.control:hover:not(:disabled) { border-color: var(--own-leaf) }
.control:focus-visible { outline-color: var(--own-leaf); outline-offset: 2px }

.button {
  color: #fff;
  background: linear-gradient(180deg, var(--own-leaf), oklch(52% .14 150));
  box-shadow: 0 2px 8px -2px rgb(0 0 0 / .2);
  transition: transform .15s ease-out, box-shadow .15s;
}
.button:hover { transform: translateY(-2px); box-shadow: 0 8px 24px -8px rgb(0 0 0 / .3) }
.button:active { transform: scale(.98) }
.button--plain { color: var(--ink); background: none }

.methods > .method:nth-child(2n+1) { background: var(--surface) }
.methods .method:first-child { border-top-left-radius: 12px; border-start-end-radius: 12px }
.notice { border-inline-start: 4px solid var(--own-leaf); padding-inline-start: 16px }
.foot a { text-decoration: underline; text-underline-offset: 3px; text-decoration-thickness: 1px }
a:hover { text-decoration-color: currentColor }
h1, h2 { text-wrap: balance; line-height: 1.15 }
.lead { font-size: 1.0625rem; max-inline-size: 38ch; color: var(--muted) }
.problem::before { content: "!" / ""; background: var(--danger); border-radius: 50% }
li::marker { color: var(--own-leaf) }
::selection { background: var(--own-leaf); color: #fff }
[dir="rtl"] .notice { border-inline-start-width: 6px }
:is(.form, .methods):has(> .notice) { margin-block-start: 16px }

.own-hero {
  position: absolute;
  inset: 0 auto auto 0;
  z-index: -1;
  inline-size: 40vw;
  block-size: 320px;
  background: url("/theme/leaves.svg") no-repeat 50% / cover;
  opacity: .2;
  pointer-events: none;
  transform: translate(-10%, 12px) rotate(-12deg);
  animation: own-sway 8s ease-in-out infinite alternate;
}
.own-badge {
  display: inline-flex;
  gap: 6px;
  padding: 2px 10px;
  border-radius: 99px;
  background: var(--tint);
  font: 600 .8125rem/1.5 var(--font);
}
.tag { text-transform: uppercase; letter-spacing: .04em; font-weight: 650 }
.mark img { height: 36px; inline-size: auto }
.own-badge::before { content: "✓"; color: var(--ok) }

@keyframes own-sway { from { rotate: 0deg } 50%, to { rotate: 4deg } }
@keyframes own-rise { from { opacity: 0; transform: translateY(var(--own-rise)) } }

@media (prefers-reduced-motion: no-preference) {
  .form { animation: own-rise .3s cubic-bezier(.2, 0, 0, 1) backwards }
}
@media (min-width: 860px) and (prefers-color-scheme: dark) {
  .control { background: var(--surface) }
  .own-hero { opacity: .1 }
}
@media (max-width: 520px) { .own-hero { display: none } }
@supports (display: grid) { .own-badge { backdrop-filter: blur(8px) saturate(1.2) } }
@media print { .own-hero, .scene { display: none } }
"""

FILES: Final = ("/theme/inter.woff2", "/theme/leaves.svg", "/theme/paper.webp")


def test_theme_sheet_keeps_its_declarations() -> None:
    result = checked(SHEET)

    assert result.problems == ()
    assert SHEET.count("\n") >= 100
    expected = list(declarations(SHEET))
    assert list(declarations(result.css)) == expected
    assert len(expected) > 90
    assert result.urls == FILES
    assert len(result.css) < len(SHEET) * 0.9


def declarations(css: str) -> Iterator[tuple[str, str, str]]:
    """Yield (rules, property, value) of a sheet in order, as tinycss2 reads it, without whitespace and comments."""
    return _declarations(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True), "")


def _declarations(nodes: Any, rules: str) -> Iterator[tuple[str, str, str]]:
    for node in nodes:
        if node.type == "declaration":
            yield rules, node.name, plain(node.value)
        else:
            head = getattr(node, "at_keyword", "") + plain(node.prelude)
            nested = tinycss2.parse_blocks_contents(node.content, skip_comments=True, skip_whitespace=True)
            yield from _declarations(nested, f"{rules}{{{head}")


def plain(nodes: Any) -> str:
    kept = [node for node in nodes if node.type != "comment" and getattr(node, "lower_name", "") != "format"]
    text = " ".join(str(tinycss2.serialize(kept)).split())
    for mark in ",>~":
        text = mark.join(part.strip() for part in text.split(mark))
    return text


def _loads(tokens: Any) -> Iterator[str]:
    """Yield the at-keywords and addresses of a sheet."""
    for token in tokens:
        if token.type in ("at-keyword", "url"):
            yield token.value if token.type == "url" else f"@{token.value}"
        elif token.type == "function" and token.lower_name == "url":
            yield token.arguments[0].value
        else:
            assert token.type != "error"
            yield from _loads(getattr(token, "arguments", None) or getattr(token, "content", None) or ())


def test_what_is_served_is_accepted_unchanged() -> None:
    served = checked(SHEET).css

    assert checked(served).css == served


@pytest.mark.parametrize(
    "inserted",
    [
        "}",
        "{",
        ")",
        "(",
        "]",
        "'",
        '"',
        "\\",
        "/*",
        "*/",
        ";",
        ":",
        "</style>",
        "@import 'x';",
        "url(//x)",
        "\n",
        "\\3c",
    ],
)
def test_damaged_sheet_is_refused_or_served_as_checked(inserted: str) -> None:
    for position in range(0, len(SHEET), 97):
        result = checked(SHEET[:position] + inserted + SHEET[position:])

        assert bool(result.problems) != bool(result.css)
        assert "<" not in result.css
        assert set(_loads(tinycss2.parse_component_value_list(result.css))) <= {
            "@media",
            "@supports",
            "@keyframes",
            "@font-face",
            *FILES,
        }
        assert checked(result.css).css == result.css


def test_cut_sheet_is_refused_or_served_as_checked() -> None:
    for position in range(0, len(SHEET), 41):
        result = checked(SHEET[:position])
        assert bool(result.problems) or checked(result.css).css == result.css
