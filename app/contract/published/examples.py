"""An example request and answer of every public operation, recorded from calls that tests make (python -m tools.examples)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "recorded"


@cache
def load_examples() -> dict[str, dict[str, Any]]:
    """Return the examples by operation: `request` (path, query, headers, body) and `answer` (status, body, location).

    `made_by` names the test. Do not change what you get.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(FOLDER.glob("*.json")):
        found |= json.loads(path.read_text(encoding="utf-8"))
    return found
