"""The errors of OAuth that docs/troubleshooting.md explains."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.sources import text

TROUBLES = text(Path("docs/troubleshooting.md"))


def explained() -> set[tuple[str, str]]:
    """Return the pairs (error, error_description); "…" stands for a value."""
    rows = re.findall(r"^\| `(\w+)` \| ([^|`]+?) \|[^|]+\|[^|]+\|$", TROUBLES, re.MULTILINE)
    return {(error, text.replace("’", "'")) for error, text in rows}
