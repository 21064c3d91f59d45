"""Shows on a terminal how far a command is with the pages of a theme."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeVar

import click

Item = TypeVar("Item")


def progress(items: list[Item], label: str = "Rendering") -> Iterable[Item]:
    """Return the items, and show on a terminal how many are left."""
    if not sys.stderr.isatty():
        yield from items
        return
    with click.progressbar(items, label=label, file=sys.stderr) as shown:
        yield from shown
