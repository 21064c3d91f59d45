"""Finds the known name that a mistyped one probably means."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

_CUTOFF: Final = 0.65
"""Of difflib's ratio: `Workflow` is near WorkflowName, and `NoSuchMember` near no member that only shares some letters."""
_MAX_NAME: Final = 100


def near_name(name: str, known: Iterable[str]) -> str:
    """Return the name among the known ones that is most like this one, in any letter case; empty if none is like it."""
    if len(name) > _MAX_NAME:
        return ""
    by_folded = {other.casefold(): other for other in known}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=_CUTOFF)
    return by_folded[found[0]] if found else ""
