"""Runs the commands that a quickstart pastes into a terminal beside the app's, and compares their output with the page.

A block `json` after a block of such a terminal is what its last command prints: each member that it shows is there with the same value,
but moments (seconds since 1970) differ, and a text that ends in … goes on in another way.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from typing import Any, NamedTuple

from tests.support.documentation.quickstarts import Running, with_secrets

PATIENCE_SECONDS = 60
_FIRST_MOMENT = 1_500_000_000


class TerminalStep(NamedTuple):
    """A pasted block, its output, and the output that the page shows."""

    code: str
    printed: str
    shown: str

    def check(self) -> None:
        """Fail if the page shows what was not printed."""
        if self.shown:
            answer = self.printed.strip().rpartition("\n")[2]
            assert agrees(json.loads(self.shown), json.loads(answer)), f"{self.code}\n{self.printed}\n{self.shown}"


def paste(running: Running, terminal: str) -> list[TerminalStep]:
    """Paste the blocks of a terminal into one shell, and return what each of them printed."""
    blocks = running.page.blocks
    pairs = [
        (block, after) for block, after in zip(blocks, [*blocks[1:], None], strict=True) if block.terminal == terminal
    ]
    script = "\nprintf '\\036'\n".join(with_secrets(item.code, running.secrets) for item, _ in pairs)
    run = subprocess.run(
        ["bash", "-ec", script],
        cwd=running.folder, env=running.environment, check=False, capture_output=True, text=True,
        timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    return [
        TerminalStep(item.code, printed, after.code if after is not None and after.language == "json" else "")
        for (item, after), printed in zip(pairs, run.stdout.split("\036"), strict=True)
    ]


def with_keys(running: Running) -> Running:
    """Return the page with the tenant's API key and secret where the reader pastes them."""
    keys = {f"paste-the-{name.replace('_', '-')}": value for name, value in running.keys.items()}
    blocks = [
        replace(block, code=re.sub(r"paste-the-api-\w+", lambda found: keys[found[0]], block.code))
        for block in running.page.blocks
    ]
    return replace(running, page=replace(running.page, blocks=blocks))


def agrees(shown: Any, printed: Any) -> bool:
    """Tell whether an answer is as the page shows it."""
    if isinstance(shown, dict):
        return isinstance(printed, dict) and all(
            name in printed and agrees(item, printed[name]) for name, item in shown.items()
        )
    if isinstance(shown, list):
        return isinstance(printed, list) and len(shown) == len(printed) and all(map(agrees, shown, printed))
    if isinstance(shown, str) and shown.endswith("…"):
        return isinstance(printed, str) and printed.startswith(shown[:-1])
    if type(shown) is int and shown > _FIRST_MOMENT:
        return type(printed) is int and printed > _FIRST_MOMENT
    return bool(shown == printed) and type(shown) is type(printed)
