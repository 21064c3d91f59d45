"""A path parameter is read from the address alone, under any spelling of the body."""

from __future__ import annotations

import io
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import BaseModel

import app.identity.entry.areas  # noqa: F401 - importing the areas declares every operation
from app.contract.operations import CATALOGUE
from app.kit.operation import AnyOperation
from app.kit.reading import MOST_BODY_BYTES, RawRequest, read_request
from app.kit.server import raw_request
from app.kit.wire import From, lower, shape_of

WITH_BOTH = [
    one
    for one in CATALOGUE
    if shape_of(one.request).places[From.PATH] and shape_of(one.request).has_body and one.method != "GET"
]


def _value(annotation: Any) -> Any:
    """Return a value of a field: a list of one item, an object with its required members, a choice or a text."""
    if get_origin(annotation) is list:
        return [_value(get_args(annotation)[0])]
    if get_origin(annotation) is Annotated:
        return _value(get_args(annotation)[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        required = ((name, field) for name, field in annotation.model_fields.items() if field.is_required())
        return {field.alias or name: _value(field.annotation) for name, field in required}
    return next((one for one in get_args(annotation) if isinstance(one, str)), "x")


@pytest.mark.parametrize("operation", WITH_BOTH, ids=lambda operation: operation.name)
def test_body_never_replaces_a_path_parameter(operation: AnyOperation) -> None:
    shape = shape_of(operation.request)
    fields = operation.request.model_fields
    choices = {name: get_args(fields[name].annotation) for name in shape.places[From.PATH]}
    good = {name: next((one for one in held if isinstance(one, str)), "good") for name, held in choices.items()}
    parameters = {wire: good[name] for name, wire in shape.places[From.PATH].items()}
    body: dict[str, Any] = {
        wire: _value(fields[name].annotation)
        for name, wire in shape.places[From.BODY].items()
        if wire in shape.required_body
    }
    for name, wire in shape.places[From.PATH].items():
        spelt = {wire, wire.upper(), wire.lower(), wire.swapcase(), name, lower(name), name.upper()}
        body |= dict.fromkeys((one for one in spelt if one.lower() not in shape.body_spellings), "evil")
    raw = RawRequest(operation.method, operation.path, "", {}, b"", parameters=parameters)
    read = read_request(operation, raw, body)
    assert {name: getattr(read, name) for name in good} == good


@pytest.mark.parametrize("size", [0, 5, MOST_BODY_BYTES, MOST_BODY_BYTES + 1])
def test_body_in_memory_is_read_as_from_a_stream(size: int) -> None:
    given = {"REQUEST_METHOD": "POST", "wsgi.url_scheme": "http", "wsgi.input_terminated": True}
    body = b"x" * size
    length = {"CONTENT_LENGTH": str(size)} if size else {}
    kept = raw_request({**given, **length, "wsgi.input": io.BytesIO(body)})
    streamed = raw_request({**given, **length, "wsgi.input": io.BufferedReader(io.BytesIO(body))})
    assert (kept.body, kept.too_large) == (streamed.body, streamed.too_large)
    assert (kept.body, kept.too_large) == ((body, False) if size <= MOST_BODY_BYTES else (b"", True))


def test_body_is_read_up_to_its_length() -> None:
    given = {"REQUEST_METHOD": "POST", "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(b"abcdef")}
    assert raw_request({**given, "CONTENT_LENGTH": "3"}).body == b"abc"
    assert raw_request({**given, "wsgi.input": io.BytesIO(b"abcdef")}).body == b""
