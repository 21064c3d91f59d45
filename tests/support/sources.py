"""The files of the repository, for the catalogue tests that read them."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tools import syntax

ROOT = Path(__file__).resolve().parents[2]


@cache
def files() -> tuple[Path, ...]:
    """Every file that is, or is about to be, in the repository, as a path relative to its root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return tuple(path for name in sorted(filter(None, listed.split("\0"))) if (ROOT / (path := Path(name))).is_file())


def under(*folders: str, suffix: str = ".py") -> list[Path]:
    return [path for path in files() if path.suffix == suffix and path.parts[0] in folders]


def text(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(text(path), filename=str(path))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Every node of the file: to search the tree takes longer than to parse it, and many rules do."""
    return syntax.nodes(tree(path))


@cache
def functions(path: Path) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
    return tuple(node for node in nodes(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@cache
def imports(path: Path) -> tuple[str, ...]:
    """The dotted names a file imports: `from a.b import c` gives `a.b.c`, which may be a module or a name in one."""
    return tuple(_imports(nodes(path)))


def _imports(found: list[ast.AST]) -> Iterator[str]:
    for node in found:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
