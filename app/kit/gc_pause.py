"""Loading code without searching it for garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Collect no garbage within the block, which imports modules or builds an application; exclude its objects afterwards.

    It creates a quarter of a million objects which live as long as the process. Searching them for garbage again and again
    was measured at a fifth of the time to start, and a full collection later at several times the cost of the request that
    triggered it. A last one at the end would find a few hundred kilobytes, and delay the start by a tenth.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
