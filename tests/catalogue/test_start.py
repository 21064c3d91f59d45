"""What a start loads. Every module costs each restart and each worker a millisecond or more."""

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MOST_MODULES, MOST_IN_ALL = 1_420, 1_690
"""Until the first page, and with all handlers. Move what a plain start does not need into the function that uses it."""
MOST_MODELS, MOST_BUILT = 790, 60
"""Model classes, of which each costs a third of a millisecond, and those among them whose validator is built."""


def shown_by(program: str, shown: str) -> Any:
    """Return the value of an expression after the program."""
    whole = f"{program}\nimport sys, json\nprint(json.dumps({shown}))"
    done = subprocess.run([sys.executable, "-c", whole], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def loaded_by(program: str) -> list[str]:
    """Return the modules that are loaded after the program."""
    modules: list[str] = shown_by(program, "sorted(sys.modules)")
    return modules


def late_modules() -> list[str]:
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]["flake8-tidy-imports"]
    names: list[str] = rules["banned-module-level-imports"]
    return names


@pytest.fixture
def plain_start(tmp_path: Path, migrated_file: Path) -> str:
    """The program that starts on a migrated database, and answers a first page."""
    shutil.copy(migrated_file, tmp_path / "gatehouse.db")
    return f"""
from pathlib import Path
from werkzeug.test import Client
from app.commands.serving import application, prepare_database
from app.settings import Settings
served = application(Settings(data_dir=Path({str(tmp_path)!r}), secrets=(b"a secret of the tests, long enough",)), "both")
assert Client(served).get("/login", base_url="http://nobody.localhost:8000").status_code == 404
"""


def test_plain_start_loads_no_late_module(plain_start: str) -> None:
    loaded = loaded_by(f"{plain_start}served.load()")
    assert "app.identity.entry.areas" in loaded
    assert [name for name in late_modules() if name in loaded] == []
    assert len(loaded) < MOST_IN_ALL


def test_first_page_waits_for_no_handler(plain_start: str) -> None:
    loaded = loaded_by(plain_start)
    assert "app.identity.hosted.tenant_view" in loaded
    assert "app.identity.entry.areas" not in loaded
    assert len(loaded) < MOST_MODULES


def test_plain_start_makes_few_models(plain_start: str) -> None:
    program = f"""{plain_start}
from pydantic import BaseModel
def below(kind):
    return {{one for sub in kind.__subclasses__() for one in (sub, *below(sub))}}
models = below(BaseModel)
"""
    made, built = shown_by(program, "[len(models), sum(one.__pydantic_complete__ for one in models)]")
    assert made < MOST_MODELS
    assert built < MOST_BUILT


def test_command_line_loads_neither_service() -> None:
    loaded = loaded_by("import app.cli, app.commands.serving")
    assert [name for name in loaded if name.startswith(("app.hub", "app.identity", "sqlalchemy", "flask"))] == []


RULES = """
from app.contract.resources import RESOURCES, import_contract
from app.identity.platform.resources.hooks import rules_of
import_contract()
named = {}
for one in RESOURCES:
    rules = rules_of(one)
    named[f"{one.area}.{one.kind}"] = {name: len(hooks) for name, hooks in rules.hooks.items()} | dict.fromkeys(rules.actions, 1)
print(json.dumps(named))
"""


def rules_after(imported: str) -> dict[str, dict[str, int]]:
    """Return how many rules of each name each resource has, in a process that imported this module."""
    program = f"import json\nimport {imported}\n{RULES}"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, dict[str, int]] = json.loads(done.stdout)
    return found


def test_configuration_files_keep_the_rules_of_requests() -> None:
    """`gatehouse apply` loads no operation, and must load every rule of an item all the same."""
    kept = rules_after("app.identity.administration.configuration.apply")
    assert any(kept.values())
    assert kept == rules_after("app.identity.entry.areas")
