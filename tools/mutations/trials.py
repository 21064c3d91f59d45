"""Repeats tests with one line of the code changed: the pytest plugin of `tools/mutations/changes.py`.

A call before each chosen line notes that a test executes it. After such a test the process forks; the child puts the changed
function in place and repeats the test. A test counts as a witness only if it passes when it is repeated without a change.
"""

from __future__ import annotations

import ast
import gc
import importlib.abc
import importlib.machinery
import inspect
import os
import signal
import sys
from collections.abc import Generator, Sequence
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest
from _pytest.runner import runtestprotocol
from sqlalchemy import event, exc
from sqlalchemy.pool import ConnectionPoolEntry, Pool, PoolProxiedConnection

from tools.mutations.changes import FOLDER, ROOT, Mutation, chosen, lines

SECONDS = 60
_EXECUTED = "_executed_by_a_test"
MUTATIONS = chosen()
executed: set[int] = set()
undecided = set(range(len(MUTATIONS)))
repeats: dict[str, bool] = {}
"""Whether a test passes when it is repeated in a forked process."""
reported: list[pytest.TestReport] = []
"""Reports that a repeated test made itself: those of its subtests, which do not make its own report a failure."""


class Marked(importlib.machinery.SourceFileLoader):
    """Loads a module with a call before each line that is to change."""

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - the loader has one module
        return marked(Path(self.path), Path(self.path).read_text())

    def exec_module(self, module: ModuleType) -> None:
        setattr(module, _EXECUTED, executed.add)
        super().exec_module(module)


class Finder(importlib.abc.MetaPathFinder):
    """Finds the modules that have lines to change."""

    paths = frozenset(mutation.path for mutation in MUTATIONS)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        found = (
            importlib.machinery.PathFinder.find_spec(fullname, path, target) if fullname.startswith("app.") else None
        )
        if found is None or found.origin is None or os.path.relpath(found.origin, ROOT) not in self.paths:
            return None
        found.loader = Marked(fullname, found.origin)
        return found


sys.meta_path.insert(0, Finder())


def marked(path: Path, source: str) -> CodeType:
    """Compile a module with the calls that note what was executed."""
    tree = ast.parse(source)
    for number, mutation in enumerate(MUTATIONS):
        if ROOT / mutation.path == path:
            _mark(tree, mutation.line, number)
    return compile(ast.fix_missing_locations(tree), str(path), "exec")


def _mark(tree: ast.Module, line: int, number: int) -> None:
    """Put a call before the innermost statement that holds the line; never before the docstring of a function."""
    bodies = [
        body
        for node in ast.walk(tree)
        for name in ("body", "orelse", "finalbody")
        if isinstance(body := getattr(node, name, None), list)
    ]
    stored = [
        (body, at) for body in bodies for at, item in enumerate(body) if item.lineno <= line <= (item.end_lineno or 0)
    ]
    body, at = max(
        stored, key=lambda element: (element[0][element[1]].lineno, -(element[0][element[1]].end_lineno or 0))
    )
    call = ast.parse(f"{_EXECUTED}({number})").body[0]
    for node in ast.walk(call):
        ast.copy_location(node, body[at])
    body.insert(at, call)


@cache
def replacement(number: int) -> tuple[list[FunctionType], CodeType]:
    """Return the functions that execute the line, and the code that they get."""
    item = MUTATIONS[number]
    path = ROOT / item.path
    source = path.read_text()
    was, becomes = (outermost(marked(path, text), item) for text in (source, item.applied(source)))
    gc.unfreeze()
    found = [element for element in gc.get_objects() if isinstance(element, FunctionType) and element.__code__ == was]
    return found, becomes


def outermost(code: CodeType, item: Mutation) -> CodeType:
    """Return the function of a module or class that holds the line."""
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    stored = max(
        (const for const in inner if const.co_firstlineno <= item.line), key=lambda const: const.co_firstlineno
    )
    return stored if stored.co_flags & inspect.CO_OPTIMIZED else outermost(stored, item)  # a class is not optimized


@event.listens_for(Pool, "connect")
def _note_process(_: object, record: ConnectionPoolEntry) -> None:
    record.info["process"] = os.getpid()


@event.listens_for(Pool, "checkout")
def _leave_to_its_process(_: object, record: ConnectionPoolEntry, proxy: PoolProxiedConnection) -> None:
    if record.info["process"] != os.getpid():
        record.dbapi_connection = proxy.dbapi_connection = None  # type: ignore[misc] # as SQLAlchemy documents for forks
        raise exc.DisconnectionError("the connection belongs to the parent process")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--most-trials", type=int, default=40, help="tests that are repeated with one change")
    parser.addoption("--most-of-a-file", type=int, default=4, help="the same, of one file")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    reported.append(report)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    executed.clear()
    result = yield
    for number in sorted(executed & undecided):
        if lines(f"{number}.killed"):
            undecided.discard(number)
        else:
            _try(item, nextitem, number)
    if not undecided:
        item.session.shouldstop = "every change is decided"
    return result


def _try(item: pytest.Item, nextitem: pytest.Item | None, number: int) -> None:
    """Repeat the test with the change, unless enough tests of its kind did."""
    tried = lines(f"{number}.tried")
    file = item.nodeid.partition("::")[0]
    of_file = sum(line.startswith(f"{file}::") for line in tried)
    if len(tried) >= item.config.getoption("--most-trials") or of_file >= item.config.getoption("--most-of-a-file"):
        return
    if _passes(item, nextitem, number):
        _note(f"{number}.tried", item.nodeid)
        return
    if item.nodeid not in repeats:
        repeats[item.nodeid] = _passes(item, nextitem, None)
    if repeats[item.nodeid]:
        _note(f"{number}.killed", item.nodeid)
        undecided.discard(number)


def _note(name: str, line: str) -> None:
    with (FOLDER / name).open("a") as file:
        file.write(f"{line}\n")


def _passes(item: pytest.Item, nextitem: pytest.Item | None, number: int | None) -> bool:
    """Repeat the test in a child, with the change of that number; a test that does not end counts as failed."""
    functions, code = replacement(number) if number is not None else ([], None)
    if number is not None and not functions:
        raise LookupError(f"no function holds {MUTATIONS[number]}")
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    signal.signal(signal.SIGALRM, lambda *_: os._exit(3))
    signal.alarm(SECONDS)
    status = 2
    try:
        for function in functions:
            function.__code__ = code  # type: ignore[assignment] # never None with functions
        if "tests.support.plugins.examples" in sys.modules:  # compares what the first run recorded
            sys.modules["tests.support.plugins.examples"]._recorder = None  # type: ignore[attr-defined] # a plugin of the tests
        item._initrequest()  # type: ignore[attr-defined] # as reruns do
        _keep_reports(item)
        reports = [*runtestprotocol(item, log=False, nextitem=nextitem), *reported]
        status = int(any(report.failed for report in reports))
    finally:
        os._exit(status)


def _keep_reports(item: pytest.Item) -> None:
    """Leave what subtests report to this module: the run's own report is about the code as it is."""
    reported.clear()
    for element in item.config.hook.pytest_runtest_logreport.get_hookimpls():
        if element.plugin is not sys.modules[__name__] and not (element.wrapper or element.hookwrapper):
            element.function = lambda *_: None  # type: ignore[misc] # only in this child, whose manager ends with it
