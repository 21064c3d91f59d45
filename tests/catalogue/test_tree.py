"""The shape of the tree: modules import one way, also in a function or for type checkers alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support import sources

pytestmark = pytest.mark.usefixtures("sources_last")


def test_no_modules_import_one_another() -> None:
    try:
        TopologicalSorter({name: {*imported(name)} - {name} for name in modules()}).prepare()
    except CycleError as found:
        pytest.fail(" imports ".join(reversed(found.args[1])))


@cache
def modules() -> dict[str, Path]:
    """Return the modules of the product, the tests and the tools, by dotted name."""
    paths = sources.under("app", "tests", "tools")
    return {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def imported(name: str) -> Iterator[str]:
    """Yield the modules that a module imports: `from a import b` means the module a.b, or else a."""
    for imported_name in sources.imports(modules()[name]):
        parent = imported_name.rpartition(".")[0]
        yield from [one for one in (imported_name, parent) if one in modules()][:1]
