"""Records docs/webhooks-events.json, what a webhook gets for each event, from the tests that cause the events.

python -m tools.webhook_events
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from app.contract.webhooks.events import EVENTS
from tests.support.documentation.webhook_examples import PAGE, SUFFIX

_TEST = "tests/api/webhooks/test_events.py"


def main() -> int:
    """Run the tests, and write one line for each event in the order of the interface."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["-q", "-n", "2", "-p", "no:randomly", "-k", "not postgres", "--record-examples", folder]
        subprocess.run([sys.executable, "-m", "pytest", *options, _TEST], check=True)
        bodies = {event: (Path(folder) / f"{event}{SUFFIX}").read_text() for event in EVENTS}
    lines = ",\n".join(f"{json.dumps(event)}: {body}" for event, body in bodies.items())
    PAGE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
