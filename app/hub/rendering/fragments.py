"""Fragments of pages: markup that many pages share, rendered once and cached by the values that it depends on.

A fragment is a macro of `macros/page_frame.html`. It sees its arguments, the brand and the language, which are the key under
which it is cached, and nothing else: `page` and `frame` are refused while it is rendered, and templates have no request. So a
cached fragment cannot hold a value of a person, a browser or a request. Such values are written into the macro's slots.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Final

from flask import Flask, current_app
from markupsafe import Markup  # noqa: TID251 - for what macros wrote, and values that are escaped here
from werkzeug.local import LocalProxy

from app.hub import locale
from app.hub.locale import Language
from app.hub.tenants.branding import PageBranding
from app.hub.web.visit import current_visit
from app.kit import randomness
from app.kit.caching.lru_cache import SharedCache

_MACROS: Final = "macros/page_frame.html"
_MAX_FRAGMENTS: Final = 512
_SLOT: Final = f"slot-{randomness.token()}-"
"""The beginning of a slot's placeholder while its fragment is rendered: it is random, so no tenant's brand can contain it."""
_FLASK_NAMES: Final = ("config", "g", "get_flashed_messages", "request", "session", "url_for")


FragmentArgument = str | bool | Language | tuple[Language, ...]


class FragmentCache(SharedCache[Hashable, str]):
    """The fragments of an application as format strings, with a name for each slot, each owned by a tenant."""


class NotInFragment(Exception):
    """A cached macro read the page or the visit, whose values must not be cached."""


class _View:
    """The template context while a cached fragment is rendered."""

    def __init__(self, **names: Any) -> None:
        self.__dict__ |= names

    def __getattr__(self, name: str) -> Any:
        raise NotInFragment(name)


template_view: Final[ContextVar[Any]] = ContextVar("seen")
"""The current template context: a page's `Rendering`, or a cached fragment's `_View`."""


@contextmanager
def visible_names(**names: Any) -> Iterator[None]:
    """Restrict macros to these names within the block."""
    token = template_view.set(_View(**names))
    try:
        yield
    finally:
        template_view.reset(token)


def install(app: Flask) -> None:
    """Give macros `page`, `frame` and `brand` of the current page, and nothing of the request. An import "with context" would do
    that too, but runs all definitions of the file again for each page.
    """
    names = app.jinja_env.globals
    for name in _FLASK_NAMES:
        names.pop(name, None)
    for name in ("page", "frame", "brand"):
        names[name] = LocalProxy(template_view, name)
    app.extensions["gatehouse.fragments"] = FragmentCache(_MAX_FRAGMENTS)


def fragment(name: str, brand: PageBranding, *arguments: FragmentArgument, slots: dict[str, Any]) -> Markup:
    """Return a macro of `macros/page_frame.html` with its arguments and then its slots, by name.

    Args:
        arguments: values of the tenant or the code, of which there are few; each combination is cached.
        slots: values of this visit. The macro may only write them: it sees placeholders.
    """
    app = current_app._get_current_object()  # type: ignore[attr-defined]  # each access through the proxy costs a look-up
    cache: FragmentCache = app.extensions["gatehouse.fragments"]
    key = (name, locale.current_language().tag, brand, arguments)
    render = partial(_with_slots, name, brand, arguments, slots)
    is_on = not app.jinja_env.auto_reload
    text = cache.get_or_make(current_visit().tenant.name, key, render) if is_on else render()
    if not slots:
        return Markup(text % ())  # noqa: S704 - what a macro wrote
    return Markup(text % {slot: Markup.escape(value) for slot, value in slots.items()})  # noqa: S704 - each value is escaped


def _with_slots(name: str, brand: PageBranding, arguments: Iterable[FragmentArgument], slots: Iterable[str]) -> str:
    """Return the macro's output as a format string."""
    marks = {slot: f"{_SLOT}{slot}-" for slot in slots}
    macro = getattr(current_app.jinja_env.get_template(_MACROS).module, name)
    with visible_names(brand=brand):
        text = str(macro(*arguments, **marks)).replace("%", "%%")
    for slot, mark in marks.items():
        text = text.replace(mark, f"%({slot})s")
    return text
