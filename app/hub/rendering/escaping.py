"""Escapes values for HTML as markupsafe does, with one call for a plain text."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup, escape  # noqa: TID251 - the table is markupsafe's

_TABLE: Final = str.maketrans({sign: str(escape(sign)) for sign in "&<>'\""})


def escape_value(value: Any) -> str:
    """Return a value escaped for HTML, or markup as it is. A text stays a plain string: callers only join the results."""
    type_ = type(value)
    text: str = value
    if type_ is str:
        return text.translate(_TABLE)
    if type_ is Markup:
        return text
    as_markup = getattr(value, "__html__", None)
    return as_markup() if as_markup is not None else str(value).translate(_TABLE)
