"""Adds descriptions and examples to the published schema of the configuration file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

Schema = dict[str, Any]
EXAMPLES = "examples"
_FOLDER = Path(__file__).parent


@cache
def texts() -> Mapping[str, Mapping[str, str]]:
    """Return the descriptions of keys by model."""
    files = sorted(_FOLDER.glob("configuration_texts*.toml"))
    return {model: keys for file in files for model, keys in tomllib.loads(file.read_text(encoding="utf-8")).items()}


@cache
def model_texts() -> Mapping[str, str]:
    """Return the descriptions of models that replace their docstrings."""
    return tomllib.loads((_FOLDER / "configuration_models.toml").read_text(encoding="utf-8"))


@cache
def examples() -> Mapping[str, Any]:
    """Return the examples by `Model.key`."""
    return tomllib.loads((_FOLDER / "configuration_examples.toml").read_text(encoding="utf-8"))


def describe(schema: Schema) -> Schema:
    """Add a description and an example to each key that has none, and descriptions of the models, and return the schema."""
    models = {schema.get("title", ""): schema, **schema.get("$defs", {})}
    for name, model in models.items():
        if text := model_texts().get(name):
            model["description"] = text
        for key, one in model.get("properties", {}).items():
            if not one.get("description") and (text := _lookup(name, key)):
                one["description"] = text
            if EXAMPLES not in one and (example := _example(name, key, one, models)) is not None:
                one[EXAMPLES] = [example]
    return schema


def names_of(model: str) -> tuple[str, ...]:
    """Return the names under which the texts of a model are: its own, and that of the settings that it extends."""
    return (model, f"{model.removesuffix('File')}Settings") if model.endswith("File") else (model,)


def _lookup(model: str, key: str) -> str:
    return next((texts()[name][key] for name in names_of(model) if key in texts().get(name, {})), "")


def _example(model: str, key: str, one: Schema, models: Mapping[str, Schema]) -> Any:
    written = examples()
    found = next((written[f"{name}.{key}"] for name in names_of(model) if f"{name}.{key}" in written), None)
    if found is not None:
        return found
    if one.get("default") not in (None, "", [], {}):
        return one["default"]
    return _value(one, models)


def _value(one: Schema, models: Mapping[str, Schema]) -> Any:
    """Return a value that the schema of a key allows; None if only a written example can."""
    if "anyOf" in one:
        return next((value for each in one["anyOf"] if (value := _value(each, models)) is not None), None)
    if "$ref" in one:
        return _whole(one["$ref"].rpartition("/")[2], models)
    if "enum" in one or "const" in one:
        return next((value for value in one.get("enum", [one.get("const")]) if value), None)
    if one.get("type") == "array":
        item = _value(one.get("items", {}), models)
        return [item] if item is not None else None
    return {"boolean": True, "integer": one.get("minimum", 1)}.get(str(one.get("type")))


def _whole(name: str, models: Mapping[str, Schema]) -> Schema | None:
    """Return an example of a model: its required keys, else its first."""
    model = models[name]
    keys = model.get("required") or list(model.get("properties", {}))[:1]
    made = {key: _example(name, key, model["properties"][key], models) for key in keys}
    return made if made and None not in made.values() else None
