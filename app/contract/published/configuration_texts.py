"""Adds descriptions and examples to the published schema of the configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.contract.published.texts import section

Schema = dict[str, Any]
EXAMPLES = "examples"


def texts() -> Mapping[str, Mapping[str, str]]:
    """Return the descriptions of keys by model."""
    return section("keys")


def model_texts() -> Mapping[str, str]:
    """Return the descriptions of models that replace their docstrings."""
    return section("models")


def examples() -> Mapping[str, Any]:
    """Return the examples by `Model.key`."""
    return section("examples")


def describe(schema: Schema) -> Schema:
    """Add a description and an example to each key that has none, and descriptions of the models, and return the schema."""
    models = {schema.get("title", ""): schema, **schema.get("$defs", {})}
    for name, model in models.items():
        if text := model_texts().get(name):
            model["description"] = text
        for key, item in model.get("properties", {}).items():
            if not item.get("description") and (text := _lookup(name, key)):
                item["description"] = text
            if EXAMPLES not in item and (example := _example(name, key, item, models)) is not None:
                item[EXAMPLES] = [example]
    return schema


def names_of(model: str) -> tuple[str, ...]:
    """Return the names that may key a model's texts: its own, and that of the settings that it extends."""
    return (model, f"{model.removesuffix('File')}Settings") if model.endswith("File") else (model,)


def _lookup(model: str, key: str) -> str:
    return next((texts()[name][key] for name in names_of(model) if key in texts().get(name, {})), "")


def _example(model: str, key: str, item: Schema, models: Mapping[str, Schema]) -> Any:
    written = examples()
    found = next((written[f"{name}.{key}"] for name in names_of(model) if f"{name}.{key}" in written), None)
    if found is not None:
        return found
    if item.get("default") not in (None, "", [], {}):
        return item["default"]
    return _value(item, models)


def _value(element: Schema, models: Mapping[str, Schema]) -> Any:
    """Return a value that the schema of a key allows; None if only a written example can."""
    if "anyOf" in element:
        return next((value for entry in element["anyOf"] if (value := _value(entry, models)) is not None), None)
    if "$ref" in element:
        return _model_example(element["$ref"].rpartition("/")[2], models)
    if "enum" in element or "const" in element:
        return next((value for value in element.get("enum", [element.get("const")]) if value), None)
    if element.get("type") == "array":
        item = _value(element.get("items", {}), models)
        return [item] if item is not None else None
    return {"boolean": True, "integer": element.get("minimum", 1)}.get(str(element.get("type")))


def _model_example(name: str, models: Mapping[str, Schema]) -> Schema | None:
    """Return an example of a model: its required keys, else its first."""
    model = models[name]
    keys = model.get("required") or list(model.get("properties", {}))[:1]
    examples = {key: _example(name, key, model["properties"][key], models) for key in keys}
    return examples if examples and None not in examples.values() else None
