"""What a theme's texts, templates and style sheet cannot have, for configuration files and requests alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from app.contract.tenants import layout_templates
from app.contract.tenants.branding import Brand
from app.kit.text import tenant_texts


class ThemeProblem(NamedTuple):
    """A problem of one value of a brand."""

    path: tuple[str, ...]
    """`texts` with language and key, `templates` with the name, or `css`."""
    line: int
    """Within the template or the style sheet; 0 for a text."""
    expected: str

    @property
    def sentence(self) -> str:
        """What is expected, for a reader who sees the line."""
        return f"expected {self.expected}"

    @property
    def sentence_with_line(self) -> str:
        return f"line {self.line}: {self.sentence}" if self.line else self.sentence


def problems(brand: Brand) -> Iterator[ThemeProblem]:
    """Yield each problem of the brand's texts, templates and style sheet."""
    from app.kit.design.theme_css.check import checked

    for tag, key, expected in tenant_texts.problems(brand.texts):
        yield ThemeProblem(("texts", *filter(None, (tag, key))), 0, expected)
    sheet = checked(brand.css)
    for name, line, sentence in _of_templates(brand, sheet.hiding):
        yield ThemeProblem(("templates", name), line, sentence.removeprefix("expected "))
    for problem in sheet.problems:
        yield ThemeProblem(("css",), problem.line, problem.sentence.removeprefix("expected "))


def _of_templates(brand: Brand, hiding: frozenset[str]) -> Iterator[tuple[str, int, str]]:
    if brand.templates:
        from app.contract.tenants import mail_templates, page_templates, part_templates

        yield from layout_templates.problems(layout_templates.LAYOUTS, brand, hiding)
        yield from layout_templates.problems(part_templates.PARTS, brand, hiding)
        yield from page_templates.problems(page_templates.page_templates(), brand, hiding)
        yield from mail_templates.problems(brand.templates, brand.texts)
