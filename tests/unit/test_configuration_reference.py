"""The written reference of the configuration equals the models."""

import json

from app.contract.tenant_file import json_schema
from tools import configuration


def test_written_reference_equals_the_models() -> None:
    assert configuration.PAGE.read_text() == configuration.page(), "run 'python -m tools.configuration'"
    assert json.loads(configuration.SCHEMA.read_text()) == json_schema(), "run 'python -m tools.configuration'"


def test_every_variable_is_explained() -> None:
    assert [name for name, words in configuration.variables() if not words] == []
