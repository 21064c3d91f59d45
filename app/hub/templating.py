"""The templates' environment: Flask's, with what it does for every call and import made cheap."""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping
from functools import lru_cache
from types import MethodType
from typing import Any, Final

from flask.sansio.app import App
from flask.templating import Environment
from jinja2.runtime import Context, Macro
from markupsafe import Markup, escape  # noqa: TID251 - one mark within an escaped text

from app.hub.fragments import only
from app.hub.locale import template_text

_BREAKING_AT: Final = Markup("@<wbr>")
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


def breaking(text: Any) -> Any:
    """Return a text, such as an email address, that may break after its `@`; a translated text or markup as it is."""
    return text if hasattr(text, "__html__") else escape(text).replace("@", _BREAKING_AT)


class PageEnvironment(Environment):
    """An environment whose templates share one map of globals, which no template changes."""

    context_class = PageContext

    def __init__(self, app: App, **options: Any) -> None:
        super().__init__(app, **options)
        self.filters["breaking"] = breaking

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return the environment's own map: Jinja compares the globals of two templates at every import."""
        return super().make_globals(d) if d else self.globals
