"""A serving process returns the free pages of its heap."""

from __future__ import annotations

import threading
from pathlib import Path

from app.kit.serving.worker_process import return_free_memory

BLOCK, BLOCKS = 60_000, 500  # below the size that glibc maps, and returns, one by one
PAGE = 4096


class Once(threading.Event):
    """Lets one round pass."""

    rounds = 0

    def wait(self, timeout: float | None = None) -> bool:
        self.rounds += 1
        return self.rounds > 1


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def test_gaps_between_used_blocks_are_returned() -> None:
    stored = [(bytearray(BLOCK), bytearray(BLOCK)) for _ in range(BLOCKS)]
    used = [second for _, second in stored]
    del stored
    before, once = resident_bytes(), Once()
    return_free_memory(once)
    assert once.rounds == 2
    assert before - resident_bytes() > BLOCK * BLOCKS // 2
    assert len(used) == BLOCKS
