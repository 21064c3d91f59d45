"""The changes of the interface: the lines of CHANGELOG.md that name something of the published document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_HEADING = re.compile(r"^#{2,3} ")
_CODE = re.compile(r"`([^`]+)`")
_PATH = re.compile(r"/[\w{}./:…-]+")
_ERROR = re.compile(r"\b[1-9]\d{2,3}\b")


def interface_changes(text: str, is_published: Callable[[str], bool]) -> str:
    """Return the changelog without its title and with those items alone that concern callers of the interface.

    Args:
        is_published: whether the document has this path (or paths below it), this name of a field, or this error code.
    """
    kept: list[str] = []
    for block in _blocks(text):
        if _HEADING.match(block):
            while kept and _HEADING.match(kept[-1]) and kept[-1].count("#", 0, 3) >= block.count("#", 0, 3):
                kept.pop()
            kept.append(block)
        elif block.startswith("- ") and any(map(is_published, _names(block))):
            kept.append(block)
    while kept and _HEADING.match(kept[-1]):
        kept.pop()
    return "\n".join(f"\n{block}\n" if _HEADING.match(block) else block for block in kept)


def _blocks(text: str) -> Iterator[str]:
    """Yield the headings and the items of lists, each with the lines that continue it."""
    block: list[str] = []
    for line in text.splitlines():
        if line.startswith(" ") and block:
            block.append(line)
            continue
        if block:
            yield "\n".join(block)
        block = [line] if _HEADING.match(line) or line.startswith("- ") else []
    if block:
        yield "\n".join(block)


def _names(item: str) -> Iterator[str]:
    for code in _CODE.findall(item):
        path = _PATH.search(code)
        yield path[0].partition("…")[0] if path else code
    yield from _ERROR.findall(_CODE.sub("", item))
