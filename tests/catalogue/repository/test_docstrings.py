"""Docstrings name the parameters and exceptions that exist."""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import psycopg
import werkzeug.exceptions
import werkzeug.routing

from tests.support import sources

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

LIBRARIES = builtins, psycopg, werkzeug.exceptions, werkzeug.routing
ARGS = re.compile(r"^Args:\n((?:[ \t].*\n|\n)*)", re.MULTILINE)
RAISES = re.compile(r"^Raises:\n((?:[ \t].*\n|\n)*)", re.MULTILINE)
ENTRY = re.compile(r"^    ([\w*][\w*., ]*):", re.MULTILINE)
CAMEL_CASE = re.compile(r"\b[A-Z]\w*[a-z]\w*")
DOTTED = re.compile(r"`([a-z]\w*)\.([a-z]\w*)(?:\([^`]*\))?`")
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
    known = classes_of_app().union(*map(dir, LIBRARIES))
    unknown = [
        f"{path}:{node.lineno} {node.name}: {name}"
        for path, node, text in documented()
        for listed in [*entries(RAISES, text), *IN_A_SENTENCE.findall(text)]
        for name in CAMEL_CASE.findall(listed)
        if name not in known
    ]
    assert unknown == []


def test_each_documented_exception_can_reach_the_function() -> None:
    """The module of the function, or a module of the product that it imports, directly or not, names the exception."""
    named = {module: set(CAMEL_CASE.findall(code(path))) for module, path in modules().items()}
    unknown = [
        f"{path}:{node.lineno} {node.name}: {name}"
        for path, node, text in documented()
        if path.parts[0] == "app"
        for listed in [*entries(RAISES, text), *IN_A_SENTENCE.findall(text)]
        for name in CAMEL_CASE.findall(listed)
        if not any(hasattr(library, name) for library in LIBRARIES)
        and name not in named[module_of(path)]
        and not any(name in named[module] for module in reachable(module_of(path)))
    ]
    assert unknown == []


def test_each_documented_function_of_a_module_exists() -> None:
    """`module.name` in backticks, where a module has the first name and the file uses it for nothing else.

    Docstrings of the contract are published, and name keys of files and members of bodies.
    """
    defined: defaultdict[str, set[str]] = defaultdict(set)
    for path in sources.under("app"):
        defined[path.stem] |= {name for node in sources.tree(path).body for name in names_of(node)}
    unknown = [
        f"{path}:{node.lineno} {node.name}: {module}.{name}"
        for path, node, text in documented()
        for module, name in DOTTED.findall(text)
        if path.parts[:2] != ("app", "contract") and name != "py"
        if module in defined and name not in defined[module] and module not in own_names(path)
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


def module_of(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


@cache
def reachable(module: str) -> set[str]:
    """Return the modules of the product that a module imports, directly or not, and itself."""
    seen, waiting = {module}, [module]
    while waiting:
        found = imported(waiting.pop()) - seen
        seen |= found
        waiting += found
    return seen


@cache
def imported(module: str) -> set[str]:
    return {
        part
        for name in sources.imports(modules()[module])
        for part in (name, name.rpartition(".")[0])
        if part in modules()
    }


@cache
def modules() -> dict[str, Path]:
    return {module_of(path): path for path in sources.under("app")}


def code(path: Path) -> str:
    """Return the source of a file without docstrings and comments."""
    return " ".join(
        node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else node.name
        for node in sources.nodes(path)
        if isinstance(node, ast.Name | ast.Attribute | ast.ClassDef | ast.alias)
    )


def names_of(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    for item in ast.walk(node):
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
            yield item.id


@cache
def own_names(path: Path) -> set[str]:
    """Return the parameters, variables and members of a file."""
    return {
        node.arg if isinstance(node, ast.arg) else node.id if isinstance(node, ast.Name) else node.attr
        for node in sources.nodes(path)
        if isinstance(node, ast.arg | ast.Attribute) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    }
