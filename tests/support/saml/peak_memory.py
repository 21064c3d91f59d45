"""Runs the gate on hostile messages in a process of its own, and prints the peak memory and the time of each.

lxml's memory is not Python's: the peak is that of the process, which begins anew with each message.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import time
from collections.abc import Callable
from pathlib import Path

from app.identity.platform.saml.response_gate import read_response
from app.identity.platform.saml.saml_rules import SamlRefusal
from tests.support.saml import large_messages, signers
from tests.support.saml.entrances import hostile_messages
from tests.support.saml.responses import expected, response


def kilobytes(name: str) -> int:
    """Return a figure of this process: VmRSS, or VmHWM for its peak."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(f"{name}:"))


def begin() -> int:
    """Give unused memory back, since the gate could use it unseen, begin the peak anew, and return the memory in use."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return kilobytes("VmRSS")


def measured(read: Callable[[], object]) -> tuple[int, float]:
    """Return by how many kilobytes a call raises the peak of this process, and its seconds."""
    before, start = begin(), time.perf_counter()
    with contextlib.suppress(SamlRefusal):
        read()
    return kilobytes("VmHWM") - before, time.perf_counter() - start


def main() -> None:
    read_response(response(), expected(), signers.NOW)  # what the first message loads is no cost of the second one
    found = {}
    for message in hostile_messages():
        found[str(message)] = measured(message.read)
    for name, read in large_messages.readers():
        found[name] = measured(read)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
