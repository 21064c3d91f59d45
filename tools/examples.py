"""Records the examples of the API reference from the tests that call the operations.

python -m tools.examples                    say which public operations have no example
python -m tools.examples --update [TEST …]  run these tests (all that call the interface), record missing and stale examples
python -m tools.examples --replace TEST …   the same, and replace whatever these tests can show
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from app.contract.catalogue import load_catalogue
from app.contract.published.examples import FOLDER, load_examples
from tests.support.plugins.examples import merged, shape
from tools.pins.strings import ROOT

_TESTS = ("tests/api", "tests/catalogue/interface/test_every_resource.py")

Examples = dict[str, dict[str, Any]]


def missing(examples: Examples) -> list[str]:
    """Return the public operations without an example."""
    return [
        operation.name
        for operation in load_catalogue()
        if operation.documentation.is_public and operation.name not in examples
    ]


def record(tests: list[str]) -> Examples:
    """Run tests and return the best example that they show of each operation."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["-q", "-n", "2", "-p", "no:randomly", "-k", "not postgres", "--record-examples", folder]
        subprocess.run([sys.executable, "-m", "pytest", *options, *tests], cwd=ROOT, check=False)
        return merged(json.loads(path.read_text()) for path in sorted(Path(folder).glob("*.json")))


def updated(before: Examples, found: Examples, *, replaces: bool) -> Examples:
    """Return the examples after a recording: those stay whose shape is as it was, so that only changes show up."""
    known = {operation.name for operation in load_catalogue() if operation.documentation.is_public}
    made = {name: example for name, example in before.items() if name in known}
    for name, example in found.items():
        old = made.get(name)
        if name not in known:  # a test's own operation
            continue
        if old is None or replaces or (old["made_by"] == example["made_by"] and shape(old) != shape(example)):
            made[name] = example
    return made


def text_of(examples: Examples) -> str:
    """Return JSON with a line for each part of an example, so that a recording changes as many lines as calls."""
    texts = []
    for name, example in sorted(examples.items()):
        parts = [f"{json.dumps(part)}: {json.dumps(item, ensure_ascii=False)}" for part, item in example.items()]
        texts.append(f"{json.dumps(name)}: {{" + ",\n  ".join(parts) + "}")
    return "{\n" + ",\n".join(texts) + "\n}\n"


def write(examples: Examples) -> None:
    """Write one file per area."""
    areas: dict[str, Examples] = {}
    for name, example in examples.items():
        areas.setdefault(name.partition(".")[0], {})[name] = example
    for path in FOLDER.glob("*.json"):
        path.unlink()
    for area, item in areas.items():
        (FOLDER / f"{area}.json").write_text(text_of(item), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Run the command; the exit status is 1 if an operation has no example."""
    if arguments[:1] in (["--update"], ["--replace"]):
        found = record(arguments[1:] or list(_TESTS))
        write(updated(load_examples(), found, replaces=arguments[0] == "--replace"))
        load_examples.cache_clear()
    without = missing(load_examples())
    print(*(f"no example: {name}" for name in without), f"{len(load_examples())} operations have an example.", sep="\n")
    return 1 if without else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
