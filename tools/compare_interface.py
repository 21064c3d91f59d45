"""Compares the OpenAPI document and the addresses of two trees through the table of renames.

python -m tools.compare_interface          compare what the table starts from with this tree
python -m tools.compare_interface BEFORE   compare another checkout (it prints both by its own `gatehouse`) with this tree
python -m tools.compare_interface --record add the new names of this tree to the table; read what it added before you commit
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from app.commands.catalogue import table as table_of_routes
from app.contract.operations import load_catalogue, openapi_document
from app.settings import ROOT

FOLDER = ROOT / "tests" / "catalogue"
TABLE, BEFORE = FOLDER / "renames.yaml", FOLDER / "before"
SECTIONS = ("operations", "components", "schemes", "tags", "texts")
_REF = "#/components/schemas/"
_ERRORS = re.compile(r"\w+: .*; \w+: ")  # `901: The API key is unauthorized; 908: …`
_NEW = re.compile(
    r"openapi > (?:paths|components > schemas|tags): '(?P<name>[^']+)' is new|routes: '\w+ \w+ (?P<path>\S+) .*' is new"
)
_TEXTS = {"summary", "description"}


@dataclass(frozen=True)
class Interface:
    """What one tree publishes."""

    document: dict[str, Any]
    routes: frozenset[tuple[str, ...]]
    """The words of each line of `gatehouse routes`; the last one is an operation's name, or what tells it apart."""


class Renames:
    """The table of renames. Remembers which of its entries met a name."""

    def __init__(self, table: dict[str, Any]) -> None:
        self._table = table
        self.added: frozenset[str] = frozenset(table.get("added", ()))
        """Addresses, components and tags that are new in this tree, and no rename."""
        self._met: set[tuple[str, str]] = set()

    def of(self, section: str) -> Callable[[str], str]:
        """Return the translation of one section; a name that the table does not have stays."""
        names: dict[str, str] = self._table[section]

        def renamed(name: str) -> str:
            if name in names:
                self._met.add((section, name))
            return names.get(name, name)

        return renamed

    def unused(self) -> list[str]:
        """Return the entries that met no name."""
        every = ((section, name) for section in SECTIONS for name in self._table[section])
        return [
            f"{section}: {name!r} is not a name from before"
            for section, name in every
            if (section, name) not in self._met
        ]


def table() -> Renames:
    """Return the committed table."""
    return Renames(_read_table())


def _read_table() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return {"added": [], **read}


def before() -> Interface:
    """Return what was published before the renaming."""
    texts = [gzip.decompress((BEFORE / name).read_bytes()).decode() for name in ("openapi.json.gz", "routes.txt.gz")]
    return _interface(*texts)


def of_code(old: Interface) -> Interface:
    """Return what this tree publishes, at the addresses of the servers that `old` names."""
    base_url = old.document["servers"][0]["url"]
    tenant_url = base_url.replace("//api.", "//{tenant}.")
    document = json.loads(json.dumps(openapi_document(base_url, tenant_url)))
    return Interface(document, _words(table_of_routes(load_catalogue())))


def of_tree(root: Path) -> Interface:
    """Return what the checkout in this folder publishes."""
    program = "from app.cli import main; main()"

    def printed(command: str) -> str:
        line = [sys.executable, "-c", program, command]
        return subprocess.run(line, cwd=root, check=True, capture_output=True, text=True).stdout

    return _interface(printed("openapi"), printed("routes"))


def _interface(openapi: str, routes: str) -> Interface:
    return Interface(json.loads(openapi), _words(routes.splitlines()))


def _words(lines: Iterable[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(line.split()) for line in lines)


def renamed(old: Interface, renames: Renames) -> Interface:
    """Return an interface under its new names."""
    operation = renames.of("operations")
    routes = frozenset(tuple(map(operation, words)) for words in old.routes)
    return Interface(_document(old.document, renames), routes)


def _document(old: dict[str, Any], renames: Renames) -> dict[str, Any]:
    operation, component, scheme = (renames.of(section) for section in ("operations", "components", "schemes"))
    tag, text = renames.of("tags"), renames.of("texts")

    def of(value: Any, key: str = "") -> Any:
        if isinstance(value, list):
            return [of(one, key) for one in value]
        if isinstance(value, dict):
            names = {"schemas": component, "securitySchemes": scheme, "security": scheme}.get(key, str)
            return {names(name): of(one, name if key != "schemas" else "") for name, one in value.items()}
        if not isinstance(value, str):
            return value
        if value.startswith(_REF):
            return _REF + component(value.removeprefix(_REF))
        if key in _TEXTS:
            return text(value)
        return {"operationId": operation, "title": component, "tags": tag}.get(key, str)(value)

    made: dict[str, Any] = of(old)
    return {**made, "tags": [{**entry, "name": tag(entry["name"])} for entry in made.get("tags", ())]}


def differences(old: Interface, new: Interface) -> list[str]:
    """Return one sentence for each difference. The order of operations, members and errors does not count."""
    found = [f"routes: {' '.join(words)!r} is gone" for words in sorted(old.routes - new.routes)]
    found += [f"routes: {' '.join(words)!r} is new" for words in sorted(new.routes - old.routes)]
    return [*found, *_unlike(_compared(old.document), _compared(new.document), "openapi")]


def _compared(document: dict[str, Any]) -> dict[str, Any]:
    ordered: dict[str, Any] = _ordered(document)
    return {**ordered, "tags": {entry["name"]: entry for entry in document.get("tags", ())}}


def _ordered(value: Any) -> Any:
    """Return the value with its lists, and the errors that a description lists, in one order."""
    if isinstance(value, dict):
        return {name: _ordered(one) for name, one in value.items()}
    if isinstance(value, list):
        return sorted(map(_ordered, value), key=json.dumps)
    return "; ".join(sorted(value.split("; "))) if isinstance(value, str) and _ERRORS.match(value) else value


def _unlike(old: Any, new: Any, place: str) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        yield from (f"{place}: {name!r} is gone" for name in old if name not in new)
        yield from (f"{place}: {name!r} is new" for name in new if name not in old)
        for name in old:
            if name in new:
                yield from _unlike(old[name], new[name], f"{place} > {name}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _unlike(one, other, f"{place}[{number}]")
    elif old != new:
        yield f"{place}: {old!r} is now {new!r}"


def compare(old: Interface, new: Interface, renames: Renames) -> list[str]:
    """Return what differs besides the renames, and the renames that rename nothing."""
    found = differences(renamed(old, renames), new)
    return [one for one in found if _added(one) not in renames.added] + renames.unused()


def _added(sentence: str) -> str:
    """Return what a sentence says is new: a path, the name of a component or tag, the address of a route; empty for others."""
    match = _NEW.fullmatch(sentence)
    return (match["path"] or match["name"]) if match else ""


def record() -> None:
    """Write the new names of this tree into the table, and what is new besides."""
    kept, old = _read_table(), before()
    new = of_code(old)
    pairs: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    addresses = {_address(words): words for words in new.routes}
    for words in old.routes:
        pairs["operations"] |= {
            a: b for a, b in zip(words, addresses.get(_address(words), words), strict=True) if a != b
        }
    pairs["schemes"] = _same_schemes(old.document, new.document)
    _collect(_by_name(old.document), _by_name(new.document), "", pairs)
    names = {**pairs, "texts": {}}  # the texts of what has another name now meet under the new names
    _collect(_by_name(renamed(old, Renames(names)).document), _by_name(new.document), "", pairs)
    found = {section: dict(sorted({**pairs[section]}.items())) for section in SECTIONS}
    left = differences(renamed(old, Renames(found)), new)
    made = {**found, "added": sorted({_added(one) for one in left} - {""})}
    head = "".join(line for line in TABLE.read_text(encoding="utf-8").splitlines(keepends=True) if line.startswith("#"))
    TABLE.write_text(head + yaml.safe_dump(made, sort_keys=False, allow_unicode=True, width=200), encoding="utf-8")
    print(f"{sum(map(len, made.values())) - sum(map(len, kept.values()))} more entries")


def _same_schemes(old: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
    """Return the security schemes that are the same under another name, whatever their descriptions."""
    ours, theirs = (
        {
            name: {**scheme, "description": ""}
            for name, scheme in document["components"].get("securitySchemes", {}).items()
        }
        for document in (old, new)
    )
    return {name: other for name in ours for other in theirs if name not in theirs and ours[name] == theirs[other]}


def _address(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a route without the operation's name, which only a `?when` may follow."""
    place = -2 if words[-1].startswith("?") else -1
    return (*words[:place], *words[place:][1:])


def _collect(old: Any, new: Any, key: str, pairs: dict[str, dict[str, str]]) -> None:
    """Collect the names that differ at one place of both documents."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in old.keys() & new.keys():
            _collect(old[name], new[name], name, pairs)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, other in zip(old, new, strict=True):
            _collect(one, other, key, pairs)
    elif isinstance(old, str) and isinstance(new, str) and old != new:
        section = {"$ref": "components", "operationId": "operations", "tags": "tags"}.get(
            key, "texts" if key in _TEXTS else ""
        )
        if section and not (_ERRORS.match(old) and _ordered(old) == _ordered(new)):
            pairs[section][old.removeprefix(_REF)] = new.removeprefix(_REF)


def _by_name(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document without the list of tags, whose places say nothing."""
    return {name: part for name, part in document.items() if name != "tags"}


def main(arguments: list[str]) -> int:
    """Print the differences; the exit status is 1 if there are any."""
    if arguments == ["--record"]:
        record()
        return 0
    old = of_tree(Path(arguments[0])) if arguments else before()
    found = compare(old, of_code(old), table())
    print("\n".join(found) or "Equal but for the table of renames.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
