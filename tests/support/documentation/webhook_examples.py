"""The examples of docs/webhooks-events.json: what a webhook gets for each event, as the tests of events see it.

`python -m tools.webhook_events` records them; every run of those tests compares them. What differs from run to run has a fixed value.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from tests.support.plugins.example_values import FixedValues
from tests.support.sources import ROOT

PAGE: Final = ROOT / "docs" / "webhooks-events.json"
SUFFIX: Final = ".event"
"""Of the files that a recording writes, beside those of the operations' examples."""
_HINT: Final = "The example of {} in docs/webhooks-events.json is stale. Run: python -m tools.webhook_events"


def check(event: str, body: dict[str, Any], folder: str | None) -> None:
    """Compare the body with the event's example, or record it into a folder."""
    example = FixedValues(datetime.fromisoformat(body["Time"])).of(body)
    if folder is not None:
        (Path(folder) / f"{event}{SUFFIX}").write_text(json.dumps(example, ensure_ascii=False))
    else:
        assert example == load()[event], _HINT.format(event)


def load() -> dict[str, dict[str, Any]]:
    """Return the example of each event, by its name."""
    examples: dict[str, dict[str, Any]] = json.loads(PAGE.read_text())
    return examples
