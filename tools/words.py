"""Find words and forms that no reader should see: `python -m tools.words`.

words.toml lists them with their reasons, and the strings that a language may leave in English. The strings are those of the
translation catalogue, its translations, and what the command line prints: help, confirmations, and errors that operators can mend.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tools import syntax, translations

ROOT = translations.ROOT
RULES = Path(__file__).with_suffix(".toml")
_BUTTON = re.compile(r'button\(\s*_\("([^"]+)"')
_NOTICE = re.compile(r'Notice\(\s*_l\(\s*"([^"]+)"')
_TITLE = re.compile(r"set title = ([^%]*)%")
_GETTEXT = re.compile(r'_\("([^"]+)"')
PAGES = "pages"
CLI = "cli"
COMMAND_LINE = (
    "app/cli.py",
    "app/commands",
    "app/demo/start_page.py",
    "app/identity/administration/configuration",
    "app/kit/settings/database_url.py",
    "app/kit/settings/parsers.py",
    "app/settings.py",
)
"""Files whose texts are all printed for operators."""
OPERATOR_ERRORS = {
    "SettingsError",
    "CommandError",
    "BackupRefused",
    "StoreUnavailable",
    "TelemetryMissing",
    "BadAddress",
}
"""Errors whose texts operators read, wherever they are raised; in the contract ValueError too, for configuration files."""
_SENTENCE = re.compile(r"\w \S|\S \w")  # one word alone is the name of something
_LETTER = re.compile(r"[A-Za-z]")
_PLACEHOLDER = re.compile(r"%\(\w+\)[sd]")


@dataclass(frozen=True)
class Rule:
    """A word or form, where it is forbidden, why, and an example."""

    places: frozenset[str]
    find: re.Pattern[str]
    why: str
    bad: str
    but: frozenset[str] = field(default_factory=frozenset)

    def finds(self, text: str) -> str | None:
        """Return the forbidden part of the text."""
        found = None if text in self.but else self.find.search(_PLACEHOLDER.sub("{}", text))
        return found[0] if found else None


@dataclass(frozen=True)
class VisibleText:
    """One string and where it stands."""

    place: str
    where: str
    text: str


def rules(file: Path = RULES) -> list[Rule]:
    """Return the rules of a file."""
    declared = tomllib.loads(file.read_text(encoding="utf-8"))["rule"]
    return [
        Rule(
            frozenset(item["in"]),
            re.compile(item["find"], re.IGNORECASE),
            item["why"],
            item["bad"],
            frozenset(item.get("but", ())),
        )
        for item in declared
    ]


def same_as_english(file: Path = RULES) -> dict[str, frozenset[str]]:
    """Return the strings that a language writes as English does, by language."""
    declared = tomllib.loads(file.read_text(encoding="utf-8"))["same"]
    return {language: frozenset(texts) for language, texts in declared.items()}


def copies() -> Iterator[str]:
    """Yield a line for each translation that is the English string, unless words.toml lists it."""
    allowed = same_as_english()
    for path in translations.locale_files():
        listed = allowed.get(path.parent.parent.name, frozenset())
        for message in translations.read(path):
            forms = _forms(message.id) if message.id else []
            for text in set(forms) & set(_forms(message.string)) - listed:
                if _LETTER.search(_PLACEHOLDER.sub("", text)):
                    yield f"{path.relative_to(ROOT)}: {text!r} is the English string: translate it, or list it in words.toml"


def problems(texts: Iterable[VisibleText], listed: Iterable[Rule]) -> Iterator[str]:
    """Yield a line for each forbidden part of a text."""
    listed = list(listed)
    for text in texts:
        for rule in listed:
            if text.place in rule.places and (found := rule.finds(text.text)) is not None:
                yield f"{text.where}: {text.text!r} has {found!r}: {rule.why}"


def texts() -> Iterator[VisibleText]:
    """Yield every string that a person may read."""
    yield from catalogue()
    yield from titles_and_buttons()
    yield from command_line()


@cache
def catalogue() -> list[VisibleText]:
    """Return the English strings of the sources, and their translations."""
    return list(_catalogue())


def _catalogue() -> Iterator[VisibleText]:
    for message in translations.extracted():
        if message.id:
            yield from (VisibleText(PAGES, message.locations[0][0], text) for text in _forms(message.id))
    for path in translations.locale_files():
        language = path.parent.parent.name
        for message in translations.read(path):
            if message.id:
                yield from (VisibleText(language, str(path.relative_to(ROOT)), text) for text in _forms(message.string))


def _forms(text: str | Iterable[str] | None) -> list[str]:
    return [text] if isinstance(text, str) else list(text or ())


def titles_and_buttons(root: Path = ROOT) -> Iterator[VisibleText]:
    """Yield the titles and buttons of pages, and the headings of notices."""
    for path in sorted((*(root / "templates").rglob("*.html"), *(root / "app" / "hub").rglob("*.py"))):
        source, name = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
        yield from (VisibleText("buttons", name, text) for text in _BUTTON.findall(source))
        yield from (VisibleText("titles", name, text) for text in _NOTICE.findall(source))
        yield from (
            VisibleText("titles", name, text) for found in _TITLE.findall(source) for text in _GETTEXT.findall(found)
        )


def command_line(root: Path = ROOT) -> Iterator[VisibleText]:
    """Yield the texts that the command line prints."""
    for path in sorted((root / "app").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        is_printed = any(name == item or name.startswith(f"{item}/") for item in COMMAND_LINE)
        errors = OPERATOR_ERRORS | ({"ValueError"} if name.startswith("app/contract/") else set())
        found = _printed(tree) if is_printed else _raised(tree, errors)
        yield from (VisibleText(CLI, name, text) for text in found if _SENTENCE.search(text))


def _printed(tree: ast.Module) -> Iterator[str]:
    """Yield all texts except docstrings; those of commands are their help."""
    for node in syntax.nodes(tree):
        if isinstance(node, ast.FunctionDef) and any(
            "command" in ast.unparse(item) or "group" in ast.unparse(item) for item in node.decorator_list
        ):
            yield " ".join((ast.get_docstring(node) or "").split())
    docstrings = {id(node.value) for node in syntax.nodes(tree) if isinstance(node, ast.Expr)}
    yield from _strings(tree, docstrings)


def _raised(tree: ast.Module, errors: set[str]) -> Iterator[str]:
    for node in syntax.nodes(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and ast.unparse(node.exc.func) in errors:
            yield from _strings(node.exc, set())


def _strings(tree: ast.AST, without: set[int]) -> Iterator[str]:
    """Yield each string and f-string, with `{}` where a value stands."""
    inner = {
        id(part)
        for node in syntax.nodes(tree)
        if isinstance(node, ast.JoinedStr)
        for part in syntax.nodes(node)
        if part is not node
    }
    for node in syntax.nodes(tree):
        if id(node) in without or id(node) in inner:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def main() -> int:
    found = sorted({*problems(texts(), rules()), *copies()})
    print("\n".join(found) or "No forbidden words.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
