"""Change one line of the code at random, run tests that execute it, and list the changes that no test noticed.

    python -m tools.mutations --number 100 --seed 1 tests/unit tests/api tests/pages

What follows the options goes to pytest. The tests run once; `tools/mutations/trials.py` repeats each test that executes a changed
line, with the change, in a forked process. A change that no test noticed is either equivalent to the original or a test is
missing: a person decides which.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = ("authentication", "protocols", "credentials")
FOLDER = ROOT / "build" / "mutations"
CHOSEN = FOLDER / "chosen.json"
_OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"), ast.In: (" in ", " not in "), ast.NotIn: (" not in ", " in "), ast.Is: (" is ", " is not "),
    ast.IsNot: (" is not ", " is "), ast.And: (" and ", " or "), ast.Or: (" or ", " and "), ast.Add: (" + ", " - "),
    ast.Sub: (" - ", " + "), ast.Mult: (" * ", " + "), ast.BitOr: (" | ", " & "), ast.BitAnd: (" & ", " | "),
}  # fmt: skip


@dataclass(frozen=True)
class Mutation:
    """Other text for the bytes `start` to `end` of a line (from 1) of a file below the root."""

    path: str
    line: int
    start: int
    end: int
    text: str

    def applied(self, source: str) -> str:
        lines = source.splitlines(keepends=True)
        stored = lines[self.line - 1].encode()
        lines[self.line - 1] = (stored[: self.start] + self.text.encode() + stored[self.end :]).decode()
        return "".join(lines)

    def shown(self) -> tuple[str, str]:
        """Return the line as it is and as it becomes."""
        source = (ROOT / self.path).read_text()
        before, after = (text.splitlines()[self.line - 1].strip() for text in (source, self.applied(source)))
        return before, after


def chosen() -> list[Mutation]:
    """Return the changes that the running command tries."""
    return [Mutation(**item) for item in json.loads(CHOSEN.read_text())]


def mutations_of(path: Path) -> list[Mutation]:
    """Return each change of one line within the file's functions."""
    source, name = path.read_text(), str(path.relative_to(ROOT))
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    nodes = {node for function in functions for body in function.body for node in ast.walk(body)}
    found = {Mutation(name, *change) for node in nodes for change in _changes(source, node)}
    return sorted(
        (item for item in found if _compiles(item.applied(source))), key=lambda item: (item.line, item.start, item.text)
    )


Change = tuple[int, int, int, str]


def _changes(source: str, node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Constant(value=bool(value)):
            yield from _put(node, str(not value))
        case ast.Constant(value=int(value)):
            yield from _put(node, str(value + 1))
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            yield from _between(source, left, right, operator)
        case ast.BoolOp(op=operator, values=[left, right, *_]) | ast.BinOp(left=left, op=operator, right=right):
            yield from _between(source, left, right, operator)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _put(node, ast.get_source_segment(source, operand) or "")
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield from _put(test, f"(not ({ast.get_source_segment(source, test)}))")
        case ast.Return(value=ast.Constant(value=None)):
            return
        case ast.Return(value=ast.expr()):
            yield from _put(node, "return None")
        case ast.Expr(value=ast.Call()) | ast.Raise():
            yield from _put(node, "pass")


def _put(at: ast.expr | ast.stmt, text: str) -> Iterator[Change]:
    if at.lineno == at.end_lineno:
        yield at.lineno, at.col_offset, at.end_col_offset or 0, text


def _between(source: str, left: ast.expr, right: ast.expr, operator: ast.AST) -> Iterator[Change]:
    if type(operator) not in _OPERATORS or left.end_lineno != right.lineno:
        return
    was, becomes = _OPERATORS[type(operator)]
    between = source.splitlines()[right.lineno - 1].encode()[left.end_col_offset : right.col_offset].decode()
    if was in between:
        yield right.lineno, left.end_col_offset or 0, right.col_offset, between.replace(was, becomes, 1)


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutated", "exec")
    except SyntaxError:
        return False
    return True


def lines(name: str) -> list[str]:
    """Return what the trials noted about a change."""
    path = FOLDER / name
    return path.read_text().splitlines() if path.exists() else []


def report() -> int:
    """Print a line for each change, and return how many no test noticed."""
    survivors = 0
    for index, item in enumerate(chosen()):
        killers, tried = lines(f"{index}.killed"), lines(f"{index}.tried")
        state = f"killed by {killers[0]}" if killers else f"SURVIVED {len(tried)} tests: {' '.join(tried[:3])}"
        survivors += not killers
        print(index, f"{item.path}:{item.line}", *item.shown(), state, sep="\t")
    print(f"{survivors} survived")
    return survivors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--continue", action="store_true", dest="goes_on", help="keep what earlier trials found")
    stated, for_pytest = parser.parse_known_args()
    if not stated.goes_on:
        files = sorted(path for part in PARTS for path in (ROOT / "app" / "identity" / part).rglob("*.py"))
        found = random.Random(stated.seed).sample([new for path in files for new in mutations_of(path)], stated.number)  # noqa: S311 - no secret
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        CHOSEN.write_text(json.dumps([asdict(new) for new in found]))
    command = [sys.executable, "-m", "pytest", "-p", "tools.mutations.trials", "-q", "-k", "not postgres", *for_pytest]
    subprocess.run(command, cwd=ROOT, check=False)
    sys.exit(report() > stated.number // 20)
