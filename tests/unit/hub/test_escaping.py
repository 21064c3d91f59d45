"""Templates escape values exactly as markupsafe does."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup, escape

from app.hub.locale import lazy_gettext, lazy_ngettext, lazy_pgettext
from app.hub.rendering.escaping import escape_value

HOSTILE = "<img src=x onerror=alert(1)>\"'"


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


@pytest.mark.parametrize(
    "text",
    [
        lazy_gettext("From %(names)s", names=HOSTILE),
        lazy_pgettext("page title", "Error: %(names)s", names=HOSTILE),
        lazy_ngettext("%(num)d from %(names)s", "%(num)d from %(names)s", 2, names=HOSTILE),
    ],
    ids=["text", "text with context", "plural"],
)
def test_name_in_a_lazy_text_is_escaped(text: Any) -> None:
    assert HOSTILE in str(text)
    assert HOSTILE not in escape_value(text)
    assert str(escape(HOSTILE)) in escape_value(text)
    assert escape_value(lazy_gettext("%(a)s", a=text)) == escape_value(text), "nested texts are escaped once"
