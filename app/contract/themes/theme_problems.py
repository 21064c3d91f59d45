"""What a theme's texts, templates and style sheet cannot have, for configuration files and requests alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from app.contract.tenants.branding import MAX_DISPLAY_NAME, Brand, own_colours
from app.contract.themes import layout_templates
from app.kit.design import theme_file_names
from app.kit.templating.contract import ClassEffects
from app.kit.text import tenant_texts

_ADDRESSES: Final = ("logo", "logo_dark", "favicon", "picture", "font_file")
"""Keys of the brand that may name a file of the theme."""


class ThemeProblem(NamedTuple):
    """A problem of one value of a brand."""

    path: tuple[str, ...]
    """`texts` with language and key, `templates` with the name, `css`, or the name of another member."""
    line: int
    """Within the template or the style sheet; 0 for others."""
    expected: str

    @property
    def sentence(self) -> str:
        """What is expected, for a reader who sees the line."""
        return f"expected {self.expected}"

    @property
    def sentence_with_line(self) -> str:
        return f"line {self.line}: {self.sentence}" if self.line else self.sentence


def problems(brand: Brand) -> Iterator[ThemeProblem]:
    """Yield each problem of the brand's texts, templates and style sheet, and each file that they name and the brand does not have."""
    from app.kit.design.theme_css.check import checked

    yield from _of_lines(brand)
    for tag, key, expected in tenant_texts.problems(brand.texts):
        yield ThemeProblem(("texts", *filter(None, (tag, key))), 0, expected)
    yield from _of_colors(brand)
    yield from _of_files(brand)
    if brand.scripts:
        from app.contract.themes import theme_scripts  # noqa: PLC0415 - few tenants have scripts

        for place, line, expected in theme_scripts.problems(brand.scripts):
            yield ThemeProblem(("scripts", place), line, expected)
    sheet = checked(brand.css, theme_file_names.addresses(brand.files))
    for name, line, sentence in _of_templates(brand, ClassEffects(sheet.hiding, sheet.placing, sheet.causes)):
        yield ThemeProblem(("templates", name), line, sentence.removeprefix("expected "))
    for problem in sheet.problems:
        yield ThemeProblem(("css",), problem.line, problem.sentence.removeprefix("expected "))


def _of_colors(brand: Brand) -> Iterator[ThemeProblem]:
    if brand.colors:
        from app.kit.design.own_palette import colour_problems

        grounds = brand.background or "", brand.background_dark or ""
        for mode, name, expected in colour_problems(brand.color, *grounds, own_colours(brand.colors)):
            yield ThemeProblem(("colors", mode, name), 0, expected)


def _of_files(brand: Brand) -> Iterator[ThemeProblem]:
    if sentence := theme_file_names.total_problem(dict.fromkeys(brand.files, 0)):
        yield ThemeProblem(("files",), 0, sentence.removeprefix("expected "))
    for name, other in theme_file_names.twins(brand.files):
        yield ThemeProblem(("files",), 0, f"names that differ in more than letter case; found {name} and {other}")
    for key in _ADDRESSES:
        if (reference := getattr(brand, key) or "") not in brand.files and theme_file_names.is_name(reference):
            yield ThemeProblem((key,), 0, _missing(reference))
    for template, source in brand.templates.items():
        for line, reference in theme_file_names.references_of(source):
            if reference not in brand.files:
                yield ThemeProblem(("templates", template), line, _missing(reference))


def _of_templates(brand: Brand, effects: ClassEffects) -> Iterator[tuple[str, int, str]]:
    if brand.templates:
        from app.contract.themes import mail_templates, page_templates, part_templates

        is_text, of_mails = layout_templates.is_shown(brand.texts), mail_templates.mail_contracts()
        yield from layout_templates.problems(layout_templates.LAYOUTS, brand, is_text, effects)
        yield from layout_templates.problems(part_templates.PARTS, brand, is_text, effects)
        yield from page_templates.problems(page_templates.page_templates(), brand, is_text, effects)
        yield from mail_templates.problems(mail_templates.LAYOUT_CONTRACT, of_mails, brand.templates, is_text)


def unused_files(brand: Brand) -> list[str]:
    """Return the names of files that nothing in the brand names."""
    from app.kit.design.theme_css.check import checked

    used = {getattr(brand, key) for key in _ADDRESSES}
    used.update(checked(brand.css, theme_file_names.addresses(brand.files)).urls)
    for source in brand.templates.values():
        used.update(name for _, name in theme_file_names.references_of(source))
    return sorted(set(brand.files) - used)


def unused_sentence(path: str) -> str:
    """Return the warning of a file that nothing in the theme names, by its path in the folder."""
    return f"{path} isn’t used: no file of the theme names it."


def _missing(reference: str) -> str:
    return f"a file of the theme; there’s no static/{reference}"


def _of_lines(brand: Brand) -> Iterator[ThemeProblem]:
    """Yield the problems of name, sentence and signature, which every page and mail may show."""
    lines = {**_lines("display_name", brand.display_name), **_lines("signature", brand.signature or "")}
    lines |= {("sentence", tag): sentence.replace("\n", " ") for tag, sentence in brand.sentence.items()}
    for path, text in lines.items():
        if len(text) > (most := MAX_DISPLAY_NAME if path[0] == "display_name" else tenant_texts.MAX_TEXT_LENGTH):
            yield ThemeProblem(path, 0, f"at most {most} characters; found {len(text)}")
        elif text and not (tenant_texts.is_line(text) and tenant_texts.has_visible_text(text)):
            yield ThemeProblem(path, 0, "one line without control characters")


def _lines(name: str, line: str | Mapping[str, str]) -> dict[tuple[str, ...], str]:
    """Return the texts of a line by path."""
    return {(name,): line} if isinstance(line, str) else {(name, tag): text for tag, text in line.items()}
