"""What contract 1 promises, by names: nothing in `theme_contract_1.txt` may be taken away before contract 2. Adding is fine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from app.contract.themes.theme_contract import document

RELEASED: Final = Path(__file__).with_name("theme_contract_1.txt")
"""A promise a line, sorted: its template and name. Written at a release, by `python -m tools.theme_contract --release`."""


def promises(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a contract promises, a line each. What a template can leave out stays so: `optional` is a promise, too."""
    for name, each in found["classes"].items():
        yield f"css class {name}"
        if each["template"]:
            yield f"template class {name}"
    for name, each in found["properties"].items():
        yield f"css property {name}"
        if each["set"]:
            yield f"css property {name} set"
    for name, template in {**found["layouts"], **found["parts"], **found["pages"], **found["mails"]}.items():
        blocks = template.get("blocks", ())  # those of mails are all alike: a list
        parts = {key: part["required"] for key, part in template.get("parts", {}).items()}
        of_page = blocks if isinstance(blocks, dict) else dict.fromkeys(blocks, True)
        yield from (f"{name} {each}" for each in (*_values(template["values"]), *_parts(parts | of_page)))


def removed() -> list[str]:
    """Return the released promises that the contract of the code does not have."""
    kept = frozenset(promises(document()))
    return [line for line in RELEASED.read_text("utf-8").splitlines() if line not in kept]


def release() -> None:
    """Write what the contract of the code promises."""
    RELEASED.write_text("".join(f"{line}\n" for line in sorted(promises(document()))), encoding="utf-8")


def _values(values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        yield f"{value['kind']} {name}"
        yield from (f"{each['kind']} {name}.{member}" for member, each in value.get("members", {}).items())


def _parts(parts: Mapping[str, bool]) -> Iterator[str]:
    for name, is_required in parts.items():
        yield f"part {name}"
        if not is_required:
            yield f"part {name} optional"
