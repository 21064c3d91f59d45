"""The templates' environment: Flask's, with what it does for every call and import made cheap."""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping
from functools import lru_cache
from typing import Any, Final

from flask.templating import Environment
from jinja2.runtime import Context, Macro

from app.hub.fragments import only

_DRAWINGS: Final = frozenset({"icon", "chevron", "time_left"})
"""Macros that write the same for the same arguments, in every language and for everybody."""


@lru_cache(maxsize=256)
def _drawn(macro: Macro, *arguments: Hashable) -> str:
    with only():
        return macro(*arguments)


class PageContext(Context):
    """A context that calls a macro straight away; for other callables Jinja looks up whether they take the context."""

    def call(self, called: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        if called.__class__ is Macro:
            if called.name in _DRAWINGS:
                return _drawn(called, *args)
            kwargs.pop("_block_vars", None)
            kwargs.pop("_loop_vars", None)
            return called(self.eval_ctx, *args, **kwargs)
        return super().call(called, *args, **kwargs)


class PageEnvironment(Environment):
    """An environment whose templates share one map of globals, which no template changes."""

    context_class = PageContext

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return the environment's own map: Jinja compares the globals of two templates at every import."""
        return super().make_globals(d) if d else self.globals
