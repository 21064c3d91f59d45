"""Sizes of type in pixels have their line, and the same in rem."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from app.kit.design.theme_css.check import checked
from app.kit.design.theme_css.fixed_type import fixed_type
from tests.support.sources import text

FIXED: Final = {
    ".a { font-size: 14px }": "font-size: .875rem",
    ".a { font-size: 11px }": "font-size: .75rem",
    ".own-a { font-size: 9px }": "font-size: .75rem",
    ".a { font: italic 16px/20px Inter }": "font: italic 1rem/1.25rem Inter",
    ".a { font: 1rem/28px Inter }": "font: 1rem/1.75rem Inter",
    ".a { line-height: 32px }": "line-height: 2rem",
    ".a { font-size: clamp(16px, 4vw, 40px) }": "font-size: clamp(1rem, 4vw, 2.5rem)",
    ".own-a { font-size: max(15px, 2vw) }": "font-size: max(.9375rem, 2vw)",
    ":root { --t-small: 400 13px/1.5 var(--font) }": "--t-small: 400 .8125rem/1.5 var(--font)",
    "@media (max-width: 480px) { .a { font-size: 14px } }": "font-size: .875rem",
    ":root { --own-b: 15px; --own-a: var(--own-b) } .a { font-size: var(--own-a) }": "--own-b: .9375rem",
}
"""By a style sheet: what it is to write."""


@pytest.mark.parametrize("css", FIXED)
def test_fixed_type_is_named_with_what_grows(css: str) -> None:
    assert checked(css).problems == ()
    (problem,) = fixed_type(css)
    assert problem.sentence.endswith(f": write {FIXED[css]}")
    name, _, value = FIXED[css].partition(": ")
    written = css.replace(problem.sentence.partition("found ")[2].partition(": write ")[0], f"{name}: {value}")
    assert checked(written).problems == ()
    assert fixed_type(written) == []


@pytest.mark.parametrize(
    "css",
    [
        ".a { font-size: 1rem; line-height: 1.5; padding: 14px }",
        ".a { font-size: 24px } .b { font: 32px/40px Inter }",
        ".a { font-size: clamp(14px, 1rem + 1vw, 20px) }",
        ":root { --own-a: 15px; --own-a: var(--own-a) } .a { padding: var(--own-a) }",
        "@media print { .a { font-size: 11px } }",
    ],
)
def test_type_that_grows_or_is_large_passes(css: str) -> None:
    assert fixed_type(css) == []


def test_fixed_type_has_its_line_as_in_the_guide() -> None:
    (problem,) = fixed_type(".a { margin: 0 }\n.b { color: red }\n.c { font-size: 14px }\n")
    assert f"hazel/static/css/theme.css:{problem.line}: {problem.sentence}" in text(Path("docs/theming.md"))
