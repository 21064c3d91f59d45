"""Pauses the garbage collector while code is loaded."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Disable garbage collection within a block that imports modules or builds an application, and freeze its objects afterwards.

    It creates a quarter of a million objects which live as long as the process. Scanning them repeatedly took a fifth of the
    start-up time, and a later full collection several times the cost of the request that triggered it. A final collection would
    free a few hundred kilobytes and delay the start by a tenth.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
