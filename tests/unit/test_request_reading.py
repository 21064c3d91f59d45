"""A path parameter is read from the address alone, under any spelling of the body."""

from __future__ import annotations

from typing import Any, get_args

import pytest

import app.identity.entry.areas
from app.contract.operations import CATALOGUE
from app.kit.operation import AnyOperation
from app.kit.reading import RawRequest, read_request
from app.kit.wire import From, lower, shape_of

assert app.identity.entry.areas  # importing the areas declares every operation
WITH_BOTH = [
    one
    for one in CATALOGUE
    if shape_of(one.request).places[From.PATH] and shape_of(one.request).has_body and one.method != "GET"
]


@pytest.mark.parametrize("operation", WITH_BOTH, ids=lambda operation: operation.name)
def test_body_never_replaces_a_path_parameter(operation: AnyOperation) -> None:
    shape = shape_of(operation.request)
    fields = operation.request.model_fields
    choices = {name: get_args(fields[name].annotation) for name in shape.places[From.PATH]}
    good = {name: next((one for one in held if isinstance(one, str)), "good") for name, held in choices.items()}
    parameters = {wire: good[name] for name, wire in shape.places[From.PATH].items()}
    body: dict[str, Any] = {
        wire: next((one for one in get_args(fields[name].annotation) if isinstance(one, str)), "x")
        for name, wire in shape.places[From.BODY].items()
        if wire in shape.required_body
    }
    for name, wire in shape.places[From.PATH].items():
        spelt = {wire, wire.upper(), wire.lower(), wire.swapcase(), name, lower(name), name.upper()}
        body |= dict.fromkeys((one for one in spelt if one.lower() not in shape.body_spellings), "evil")
    raw = RawRequest(operation.method, operation.path, "", {}, b"", parameters=parameters)
    read = read_request(operation, raw, body)
    assert {name: getattr(read, name) for name in good} == good
