"""Every key of the configuration file has a description and an example that works."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, get_args

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from app.contract.published.configuration_texts import EXAMPLES, examples, model_texts, names_of, texts
from app.contract.resources import file_resources
from app.contract.tenants.file import configuration_file, json_schema

SCHEMA = json_schema()
MODELS: dict[str, Any] = {SCHEMA["title"]: SCHEMA, **SCHEMA["$defs"]}
KEYS = [(name, key) for name, model in MODELS.items() for key in model.get("properties", {})]


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)


def models_below(model: type[BaseModel], found: dict[str, type[BaseModel]]) -> dict[str, type[BaseModel]]:
    if model.__name__ not in found:
        found[model.__name__] = model
        for info in model.model_fields.values():
            for inner in models_in(info.annotation):
                models_below(inner, found)
    return found


CLASSES = models_below(configuration_file(file_resources()), {})


@pytest.mark.parametrize("name", sorted({name for name, _ in KEYS}))
def test_keys_have_a_sentence_and_a_valid_example(name: str) -> None:
    for key, published in MODELS[name]["properties"].items():
        assert published["description"].rstrip().endswith((".", ")")), key
        assert len(published[EXAMPLES]) == 1, key
        info: FieldInfo = CLASSES[name].model_fields[key]
        kind: Any = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
        try:
            TypeAdapter(kind).validate_python(published[EXAMPLES][0])
        except ValidationError as invalid:
            pytest.fail(f"{key}: {invalid}")


def test_every_model_has_a_sentence() -> None:
    assert [name for name, model in MODELS.items() if not model.get("description", "").endswith(".")] == []


def test_no_text_is_stale() -> None:
    assert set(model_texts()) <= set(MODELS)
    known = {f"{item}.{key}" for name, key in KEYS for item in names_of(name)}
    described = {f"{name}.{key}" for name, keys in texts().items() for key in keys}
    assert described | set(examples()) <= known
