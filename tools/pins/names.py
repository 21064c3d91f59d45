"""Pins the names that others rely on: addresses, members, codes, tables, stored strings, commands, metrics.

python -m tools.pins           say which pinned names the code lost or gained
python -m tools.pins --update  write tests/catalogue/pinned_names.txt from the code, once a change is meant
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from tools.pins import interface, strings
from tools.pins.strings import ROOT, Lines

PINS = ROOT / "tests" / "catalogue" / "pinned_names.txt"
SHAPES = "members of nested objects"
_HEAD = """# The names that others rely on: callers, stored rows, signed values, operators. Renaming one breaks them.
# Written by `python -m tools.pins --update`; tests/catalogue/interface/test_pinned_names.py compares it with the code.
# `!` required, `(other)` further spelling, `=#1a2b` an object whose members stand in the last section.
"""
_HINT = "If the change is meant (a new name, or a migration moves the stored rows): python -m tools.pins --update"

Pins = dict[str, Lines]


def current() -> Pins:
    """Return what the code has."""
    return {**strings.read(), **interface.read()}


def written(pins: Pins) -> str:
    """Return the text of the file."""
    parts = [_HEAD]
    for section, lines in pins.items():
        parts.append(f"\n## {section}\n")
        parts += [f"{key}\t{' '.join(members)}".rstrip() + "\n" for key, members in lines.items()]
    return "".join(parts)


def pinned(text: str) -> Pins:
    """Return what the file has."""
    pins: Pins = {}
    for line in text.splitlines():
        if line.startswith("## "):
            lines = pins.setdefault(line[3:], {})
        elif (line and not line.startswith("#")) or "\t" in line:
            key, _, members = line.partition("\t")
            lines[key] = members.split()
    return pins


def differences(before: Pins, after: Pins) -> list[str]:
    """Return one sentence for each pinned name that is gone, new or changed."""
    return [
        sentence
        for section in [*before, *(section for section in after if section not in before)]
        if section != SHAPES
        for sentence in _of_section(section, _flat(before, section), _flat(after, section))
    ]


def _flat(pins: Pins, section: str) -> dict[str, set[str]]:
    """Return the members of each line, those of nested objects as `Profile.Email`."""
    shapes = pins.get(SHAPES, {})
    return {
        key: {path for member in members for path in _paths(member, shapes)}
        for key, members in pins.get(section, {}).items()
    }


def _paths(member: str, shapes: Lines, depth: int = 8) -> Iterator[str]:
    name, *nested = re.split(r"=?(?=#)", member)
    if name:
        yield name
    for shape in nested if depth else ():
        for inner in shapes.get(shape, ()):
            yield from (f"{name}.{path}" if name else path for path in _paths(inner, shapes, depth - 1))


def _of_section(section: str, before: dict[str, set[str]], after: dict[str, set[str]]) -> Iterator[str]:
    gone, new = [key for key in before if key not in after], [key for key in after if key not in before]
    for key in gone:
        like = _nearest(key, new)
        yield f"{section}: {key!r} is gone" + (f"; its new name may be {like!r}" if like else "")
        new = [other for other in new if other != like]
    yield from (f"{section}: {key!r} is new" for key in new)
    for key in before:
        if key in after and before[key] != after[key]:
            yield f"{section}: {key!r}" + _changes(before[key] - after[key], after[key] - before[key])


def _nearest(key: str, others: list[str]) -> str:
    """Return the key with the most words, or letters, in common; empty if none comes near."""
    words = set(key.split())
    shared = [other for other in others if len(words & set(other.split())) * 2 >= len(words)]
    return next(iter(shared or get_close_matches(key, others, 1, 0.5)), "")


def _changes(gone: set[str], new: set[str]) -> str:
    lost, gained = ", ".join(sorted(gone)), ", ".join(sorted(new))
    return "".join(
        [f" lost {lost}" if lost else "", " and" if lost and gained else "", f" gained {gained}" if gained else ""]
    )


def report(found: list[str]) -> str:
    """Return the sentences with what to do about them; empty: nothing differs."""
    return "\n".join([*found, _HINT]) if found else ""


def main(arguments: list[str]) -> int:
    """Compare or write; the exit status is 1 where names differ."""
    if arguments == ["--update"]:
        PINS.write_text(written(current()), encoding="utf-8")
        return 0
    text = report(differences(pinned(PINS.read_text(encoding="utf-8")), current()))
    print(text or "All pinned names are as they were.")
    return 1 if text else 0
