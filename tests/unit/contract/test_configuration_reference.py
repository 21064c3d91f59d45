"""The written reference of the configuration equals the models."""

import json
from pathlib import Path

from app import settings
from app.contract.tenants.file import json_schema
from tools import configuration


def test_written_reference_equals_the_models() -> None:
    assert configuration.PAGE.read_text() == configuration.page(), "run 'python -m tools.configuration'"
    assert json.loads(configuration.SCHEMA.read_text()) == json_schema(), "run 'python -m tools.configuration'"


def test_every_variable_has_a_description_and_an_example() -> None:
    assert [
        variable.name
        for variable in configuration.variables()
        if not variable.words.endswith(".") or not variable.example
    ] == []


def test_every_example_is_a_valid_value(tmp_path: Path) -> None:
    examples = {variable.name: variable.example for variable in configuration.variables()}
    files = {"GATEHOUSE_LOCATIONS_FILE", "GATEHOUSE_SECRET_KEY_FILE"}
    for name in files:
        examples[name] = str(tmp_path / name)
        Path(examples[name]).write_text(examples["GATEHOUSE_SECRET_KEY"])
    examples["GATEHOUSE_THEME_FILES"] = str(tmp_path)
    by_file = {name: value for name, value in examples.items() if name != "GATEHOUSE_SECRET_KEY"}
    by_value = {name: value for name, value in examples.items() if name != "GATEHOUSE_SECRET_KEY_FILE"}
    assert settings.read(by_file) == settings.read(by_value)
    assert settings.read(by_value).hub_domain == examples["GATEHOUSE_HUB_DOMAIN"]
    assert settings.read(by_value) != settings.read({"GATEHOUSE_SECRET_KEY": examples["GATEHOUSE_SECRET_KEY"]})
