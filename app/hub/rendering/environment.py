"""The Jinja environment of the pages: Flask's, with cheaper macro calls, imports and escaping."""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping
from functools import lru_cache
from types import MethodType
from typing import Any, Final

from flask import Flask
from flask.sansio.app import App
from flask.templating import Environment
from jinja2 import StrictUndefined, Template
from jinja2.runtime import Context, Macro
from jinja2.utils import missing
from markupsafe import Markup, escape  # noqa: TID251 - one mark within an escaped text
from wtforms.fields.core import Field, Label

from app.contract.tenants.branding import DEFAULT_LOGO_PATH
from app.hub import locale
from app.hub.locale import template_text
from app.hub.rendering import fragments
from app.hub.rendering.compiled_templates import CompiledTemplates
from app.hub.rendering.escaping import escape_value
from app.hub.rendering.fragments import visible_names
from app.hub.rendering.own_layouts import OWN_PARTS, own_layout, own_part
from app.kit.web.host_names import readable

_BREAKING_AT: Final = "@<wbr>"
_CACHED_MACROS: Final = frozenset({"icon", "chevron", "time_left"})
"""Macros whose output depends on their arguments alone, so it is cached."""
_NO_CALLER: Final = StrictUndefined(name="caller")
"""The `caller` of a macro that is called without a `call` block."""
_DIRECT_CALLABLES: Final = MethodType, Field, Label
"""Types of callables that take no Jinja context or environment, so they are called directly."""


@lru_cache(maxsize=256)
def _cached_macro(macro: Macro, *arguments: Hashable) -> str:
    with visible_names():
        return macro(*arguments)


class PageMacro(Macro):
    """A macro that binds its keyword arguments in one step."""

    def write(self, context: Context, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """Return the macro's output."""
        names = self.arguments[len(args) :]
        if self.catch_kwargs or self.catch_varargs or self.explicit_caller or len(args) > self._argument_count:
            return self(context.eval_ctx, *args, **kwargs)
        values = [*args, *(kwargs.pop(name, missing) for name in names)] if names else [*args]
        if self.caller:
            values.append(kwargs.pop("caller", _NO_CALLER))
        if kwargs:
            raise TypeError(f"macro {self.name!r} takes no argument {next(iter(kwargs))!r}")
        return str.__new__(Markup, self._func(*values))


def _empty_undefined(_message: str) -> str:
    """Return the value of `{{ text if condition }}` for a false condition; Jinja would create an Undefined object."""
    return ""


class PageTemplate(Template):
    """A template that uses this module's `escape_value` and macros."""

    @classmethod
    def from_code(cls, *args: Any, **kwargs: Any) -> Template:
        """Return the template of compiled code, with these names in its namespace."""
        template = super().from_code(*args, **kwargs)
        template.root_render_func.__globals__.update(escape=escape_value, Macro=PageMacro, Undefined=_empty_undefined)
        return template


class PageContext(Context):
    """A context that calls macros, methods, form fields and gettext directly; for other callables Jinja looks up what to pass."""

    def call(self, called: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        if isinstance(called, PageMacro):
            if kwargs:
                kwargs.pop("_block_vars", None)
                kwargs.pop("_loop_vars", None)
            return _cached_macro(called, *args) if called.name in _CACHED_MACROS else called.write(self, args, kwargs)
        if isinstance(called, _DIRECT_CALLABLES) or called is template_text:
            kwargs.pop("_block_vars", None)
            kwargs.pop("_loop_vars", None)
            return called(*args, **kwargs)
        return super().call(called, *args, **kwargs)


def breaking(text: Any) -> Any:
    """Return a text, such as an email address, that may break after its `@`; a translated text or markup as it is."""
    if hasattr(text, "__html__"):
        return text
    return Markup(str.replace(escape(readable(text)), "@", _BREAKING_AT))  # noqa: S704 - an escaped text and the mark


class PageEnvironment(Environment):
    """An environment whose templates share one map of globals, which no template changes."""

    context_class = PageContext
    template_class = PageTemplate

    def __init__(self, app: App, **options: Any) -> None:
        super().__init__(
            app, cache_size=-1, **options
        )  # without a limit, a plain dictionary: there are as many as files
        self.filters["breaking"] = breaking
        self.filters["readable"] = readable

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return the environment's own globals: Jinja compares the globals of two templates at every import."""
        return super().make_globals(d) if d else self.globals


def install(app: Flask, *, development: bool) -> None:
    """Install the environment into an application; in development, changed templates are reloaded."""
    app.jinja_environment = PageEnvironment
    environment = app.jinja_env
    environment.undefined = StrictUndefined
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.auto_reload = development
    environment.globals |= {"gate": DEFAULT_LOGO_PATH, "section": ""}
    environment.globals |= {"own_layout": own_layout, "own_part": own_part, "own_parts": OWN_PARTS}
    fragments.install(app)
    locale.install(app)
    if not development:
        environment.bytecode_cache = CompiledTemplates(environment)
