"""Forms and queries are read as the standard library reads them."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as some

from app.kit.web import form_fields

PARTS = (
    "a",
    "b=",
    "=c",
    "=",
    "",
    "a=b=c",
    "a+b=c%20d",
    "%61=%26",
    "%FF=%ff",
    "%=%2",
    "+=+",
    "\u00fc=\u00fc%C3%BC",
    "a;b=c",
    "\ud800=1",
)


def read(reader: Any, text: str, errors: str) -> Any:
    try:
        return reader(text, errors)
    except UnicodeDecodeError:
        return "malformed"


@pytest.mark.parametrize("errors", ["replace", "strict", "surrogateescape"])
@given(some.lists(some.one_of(some.sampled_from(PARTS), some.text(alphabet="ab=%&+;F0\u00fc", max_size=8)), max_size=5))
def test_fields_are_those_of_the_standard_library(errors: str, parts: list[str]) -> None:
    text = "&".join(parts)
    expected = read(lambda text, errors: parse_qsl(text, keep_blank_values=True, errors=errors), text, errors)
    assert read(lambda text, errors: form_fields.read(text, errors=errors), text, errors) == expected
