"""The imports that a server of operations puts off until requests need them (decision 0366)."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from app.kit.operations.operation import Catalogue


def _nothing() -> None:
    """Import nothing: everything is there at the start."""


class DeferredStart:
    """What is left of a server's start, in two steps that run once: declarations, then handlers.

    Args:
        declare: declares the operations that the catalogue lacks; called before the first address is looked up.
        load: imports the modules that implement the operations; called before the first operation runs.
        early: names of operations that are implemented before `load` and do not depend on it.

    Attributes:
        is_declared: whether every operation is declared, so that routing needs no imports.
        is_loaded: whether every operation has its handler.
    """

    def __init__(
        self,
        declare: Callable[[], object] = _nothing,
        load: Callable[[], object] = _nothing,
        early: frozenset[str] = frozenset(),
    ) -> None:
        self._declare = declare
        self._load = load
        self._early = early
        self._loading = Lock()
        self.is_declared = self.is_loaded = False

    def may_run(self, name: str) -> bool:
        """Return whether the operation can run without further imports."""
        return self.is_loaded or name in self._early

    def declare(self) -> None:
        """Declare all operations, unless they are declared."""
        if not self.is_declared:
            self._declare()
            self.is_declared = True

    def load(self, catalogue: Catalogue) -> None:
        """Load the handlers, unless they are loaded; wait if another thread does. Raises LookupError for an operation without one."""
        with self._loading:
            if self.is_loaded:
                return
            self._load()
            self.declare()
            if missing := [operation.name for operation in catalogue if not operation.is_implemented]:
                raise LookupError(f"operations without a handler: {', '.join(missing)}")
            self.is_loaded = True
