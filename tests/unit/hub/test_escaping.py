"""Templates escape values exactly as markupsafe does."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup, escape

from app.hub.locale import lazy_gettext
from app.hub.rendering.escaping import escape_value


class Text(str):
    """A text of a class of its own."""


@given(st.text())
def test_text_is_escaped_as_by_markupsafe(text: str) -> None:
    assert escape_value(text) == escape(text)


@pytest.mark.parametrize(
    "value",
    [
        Markup("<b>&amp;"),
        Text("<b>'\""),
        lazy_gettext("Save"),
        None,
        7,
        1.5,
        True,
        ["<", "'"],
        "".join(map(chr, range(300))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_value_is_escaped_as_by_markupsafe(value: Any) -> None:
    assert str(escape_value(value)) == str(escape(value))
