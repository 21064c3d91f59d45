"""Templates pass every word through gettext and have no inline script or style; style sheets use logical directions."""

import re
from html.parser import HTMLParser
from pathlib import Path

from jinja2 import Environment

from tests.support import sources

# Marks and symbols that are the same in every language.
NO_WORD = re.compile(r"^[\W\d_]*$")
TEXT_ATTRIBUTES = {"alt", "title", "placeholder", "aria-label", "aria-description", "label", "content"}
PLACEHOLDER = "\x00"
# Only developers see these pages.
UNTRANSLATED = {Path("templates/gallery.html"), Path("templates/theme_preview.html")}
# Mail programs drop style elements and have no content security policy, so mails use style attributes.
MAIL = (Path("templates/mails/layout.html"), Path("templates/mails/frame.html"))


def templates() -> list[Path]:
    return sources.under("templates", suffix=".html")


def without_jinja(path: Path) -> str:
    """Return the plain text of a template without `trans` blocks, with a placeholder for each expression."""
    parts: list[str] = []
    is_translated, tag = False, ""
    for _line, kind, value in Environment(extensions=["jinja2.ext.i18n"]).lex(sources.text(path)):
        if kind == "block_begin":
            tag = ""
        elif kind == "name" and not tag:
            tag = value
            is_translated = {"trans": True, "endtrans": False}.get(tag, is_translated)
        elif kind == "variable_begin":
            parts.append(PLACEHOLDER)
        elif kind == "data" and not is_translated:
            parts.append(value)
    # A macro may choose between two tags; any name works here.
    return "".join(parts).replace("<" + PLACEHOLDER, "<b").replace("</" + PLACEHOLDER, "</b")


class Words(HTMLParser):
    """Collects the visible text that does not come from an expression."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.silent += tag in ("script", "style")
        is_machine_read = tag in ("meta", "script", "link")
        for name, value in attrs:
            if name in TEXT_ATTRIBUTES and not is_machine_read and value:
                self.handle_data(value)

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        word = data.replace(PLACEHOLDER, " ").strip()
        if not self.silent and not NO_WORD.match(word):
            self.found.append(word)


def test_every_word_of_a_template_goes_through_gettext() -> None:
    untranslated = []
    for path in (path for path in templates() if path not in UNTRANSLATED):
        words = Words()
        words.feed(without_jinja(path))
        untranslated += [f"{path}: {word!r}" for word in words.found]
    assert untranslated == []


def test_no_template_has_inline_script_or_style() -> None:
    """The content security policy blocks it in the browser."""
    inline = re.compile(r"\sstyle\s*=|\son[a-z]+\s*=\s*[\"']|javascript:|\|\s*safe\b")
    found = [
        f"{path}: {match.group().strip()}"
        for path in templates()
        if path not in MAIL
        for match in inline.finditer(sources.text(path))
    ]
    assert found == []


def test_no_template_imports_macros_with_context() -> None:
    """It would run every definition of the file again for each page; macros name `page`, `frame` and `brand` without."""
    found = [str(path) for path in templates() if re.search(r"\bwith context\b", sources.text(path))]
    assert found == []


def test_style_sheets_use_logical_directions() -> None:
    """`margin-inline-start`, not `margin-left`: Arabic mirrors the page."""
    physical = re.compile(
        r"(?:margin|padding|border)-(?:left|right)\b|text-align:\s*(?:left|right)|(?<![-\w])(?:left|right|float)\s*:"
    )
    found = []
    for path in sources.under("static", suffix=".css"):
        found += [f"{path}: {match.group()}" for match in physical.finditer(sources.text(path))]
    assert found == []
