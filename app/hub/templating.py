"""The templates' environment: Flask's, with what it does for every call and import made cheap."""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping
from functools import lru_cache
from types import MethodType
from typing import Any, Final

from flask.templating import Environment
from jinja2.runtime import Context, Macro

from app.hub.fragments import only
from app.hub.locale import template_text

_DRAWINGS: Final = frozenset({"icon", "chevron", "time_left"})
"""Macros that write the same for the same arguments, in every language and for everybody."""


@lru_cache(maxsize=256)
def _drawn(macro: Macro, *arguments: Hashable) -> str:
    with only():
        return macro(*arguments)


class PageContext(Context):
    """A context that calls macros, methods and gettext straight; for other callables Jinja looks up what they take."""

    def call(self, called: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        if isinstance(called, Macro):
            kwargs.pop("_block_vars", None)
            kwargs.pop("_loop_vars", None)
            return _drawn(called, *args) if called.name in _DRAWINGS else called(self.eval_ctx, *args, **kwargs)
        if isinstance(called, MethodType) or called is template_text:
            kwargs.pop("_block_vars", None)
            kwargs.pop("_loop_vars", None)
            return called(*args, **kwargs)
        return super().call(called, *args, **kwargs)


class PageEnvironment(Environment):
    """An environment whose templates share one map of globals, which no template changes."""

    context_class = PageContext

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return the environment's own map: Jinja compares the globals of two templates at every import."""
        return super().make_globals(d) if d else self.globals
