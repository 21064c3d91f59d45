"""Docstrings name the parameters and exceptions that exist."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import werkzeug.exceptions
import werkzeug.routing

from tests.support import sources

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

ARGS = re.compile(r"^Args:\n((?:[ \t].*\n|\n)*)", re.MULTILINE)
RAISES = re.compile(r"^Raises:\n((?:[ \t].*\n|\n)*)", re.MULTILINE)
ENTRY = re.compile(r"^    ([\w*][\w*., ]*):", re.MULTILINE)
CAMEL_CASE = re.compile(r"\b[A-Z]\w*[a-z]\w*")
IN_A_SENTENCE = re.compile(rf"\b[Rr]aises? ((?:{CAMEL_CASE.pattern}(?:, | or | and )?)+)")


def test_each_documented_argument_is_a_parameter() -> None:
    unknown = [
        f"{path}:{node.lineno} {node.name}: {name}"
        for path, node, text in documented()
        for name in entries(ARGS, text)
        if name.lstrip("*") not in parameters(node)
    ]
    assert unknown == []


def test_each_documented_exception_exists() -> None:
    """In the product, among Python's own, or among those of a library."""
    libraries = (builtins, psycopg, werkzeug.exceptions, werkzeug.routing)
    known = classes_of_app().union(*map(dir, libraries))
    unknown = [
        f"{path}:{node.lineno} {node.name}: {name}"
        for path, node, text in documented()
        for listed in [*entries(RAISES, text), *IN_A_SENTENCE.findall(text)]
        for name in CAMEL_CASE.findall(listed)
        if name not in known
    ]
    assert unknown == []


def documented() -> Iterator[tuple[Path, Documented, str]]:
    for path in sources.under("app", "tests", "tools"):
        for node in sources.nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and (
                text := ast.get_docstring(node)
            ):
                yield path, node, f"{text}\n"


def entries(section: re.Pattern[str], text: str) -> list[str]:
    """Return the names before the colons of a section; one entry may explain several."""
    found = section.search(text)
    return [name for listed in ENTRY.findall(found[1]) for name in re.split(r",\s*", listed)] if found else []


def parameters(node: Documented) -> set[str]:
    """Return the parameters of a function; of a class those of its `__init__`, and its fields."""
    if isinstance(node, ast.ClassDef):
        fields = {
            item.target.id
            for item in node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        }
        inits = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
        return fields.union(*map(parameters, inits))
    return {item.arg for item in ast.walk(node.args) if isinstance(item, ast.arg)}


def classes_of_app() -> set[str]:
    """Return the classes of the product, and all names that it imports."""
    names: set[str] = set()
    for path in sources.under("app"):
        names.update(node.name for node in sources.nodes(path) if isinstance(node, ast.ClassDef))
        names.update(name.rpartition(".")[2] for name in sources.imports(path))
    return names
