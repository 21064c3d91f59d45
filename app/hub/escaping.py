"""How templates and form controls escape what they write: as markupsafe does, with one call for a plain text."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup, escape  # noqa: TID251 - the table is markupsafe's

_TABLE: Final = str.maketrans({sign: str(escape(sign)) for sign in "&<>'\""})


def written(value: Any) -> str:
    """Return what is written for a value. Unlike `escape` it returns no markup: whoever writes only joins it."""
    kind = type(value)
    if kind is Markup:
        text: str = value
        return text
    return value.translate(_TABLE) if kind is str else escape(value)
