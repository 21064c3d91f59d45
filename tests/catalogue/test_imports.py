"""Tests that no modules import one another, also not in a function or for type checkers alone, and that an import changes no
other module.
"""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tools import syntax

ROOT = Path(__file__).resolve().parents[2]
CHECKED = ROOT / "app/identity"


def test_no_import_cycles() -> None:
    sources = {module_name(path): path for path in CHECKED.rglob("*.py")}
    graph = {name: imported_by(name, path) & sources.keys() - {name} for name, path in sources.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        raise AssertionError(" -> ".join(found.args[1])) from None


def test_no_module_assigns_into_another_at_import() -> None:
    found = [
        f"{module_name(path)}:{node.lineno}: {ast.unparse(node)}"
        for path in CHECKED.rglob("*.py")
        for tree in [ast.parse(path.read_text(encoding="utf-8"))]
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
        and not imported_names(tree).isdisjoint(owners(node))
    ]
    assert found == [], "app/identity/entry/connections.py connects what a package calls of a higher one"


def imported_names(tree: ast.Module) -> set[str]:
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return {(one.asname or one.name).partition(".")[0] for node in imports for one in node.names}


def owners(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> set[str]:
    """Return the names whose attributes or members the statement sets."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = [part for target in targets for part in syntax.nodes(target)]
    inner = [part.value for part in parts if isinstance(part, ast.Attribute | ast.Subscript)]
    return {one.id for one in inner if isinstance(one, ast.Name)}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported_by(name: str, path: Path) -> set[str]:
    """Return every dotted name that an import of the file may mean: `from a import b` is the module a, or a.b."""
    found: set[str] = set()
    for node in syntax.nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports by a relative path"
            named = [f"{node.module}.{one.name}" for one in node.names]
            found.update(one if is_module(one) else str(node.module) for one in named)
    return found


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()
