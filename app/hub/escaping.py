"""How templates and form controls escape what they write: as markupsafe does, with one call for a plain text."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup, escape  # noqa: TID251 - the table is markupsafe's

_TABLE: Final = str.maketrans({sign: str(escape(sign)) for sign in "&<>'\""})


def written(value: Any) -> str:
    """Return a value escaped for HTML, or markup as it is. A text stays a plain string: callers only join the results."""
    kind = type(value)
    if kind is Markup:
        text: str = value
        return text
    return value.translate(_TABLE) if kind is str else escape(value)
