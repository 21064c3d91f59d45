"""What a start loads. Every module costs each restart and each worker a millisecond or more."""

import ast
import json
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
MAX_MODULES, MAX_IN_ALL = 1_290, 1_990
"""Of modules with code, until the first page and with all handlers. Move what a plain start does not need into the function that
uses it. A package that has a docstring alone costs 0.06 ms, and is what keeps folders small: it does not count.
"""
MAX_MODELS, MAX_BUILT = 1_300, 60
"""Model classes, of which each costs a third of a millisecond, and those among them whose validator is built: a start declares
every operation, and builds no validator that the first page does not need (decision 0366).
"""


def shown_by(program: str, shown: str) -> Any:
    """Return the value of an expression after the program."""
    complete = f"{program}\nimport sys, json\nprint(json.dumps({shown}))"
    done = subprocess.run([sys.executable, "-c", complete], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def loaded_by(program: str) -> list[str]:
    """Return the modules that are loaded after the program."""
    modules: list[str] = shown_by(program, "sorted(sys.modules)")
    return modules


def with_code(modules: list[str]) -> list[str]:
    """Return the modules without the packages of the product whose `__init__.py` is a docstring."""
    return [name for name in modules if not (name.startswith("app.") and is_folder(ROOT.joinpath(*name.split("."))))]


def is_folder(package: Path) -> bool:
    init = package / "__init__.py"
    return init.is_file() and len(ast.parse(init.read_text(encoding="utf-8")).body) <= 1


def deferred_modules() -> list[str]:
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]["flake8-tidy-imports"]
    names: list[str] = rules["banned-module-level-imports"]
    return names


@dataclass(frozen=True)
class Start:
    """What a process has loaded that starts on a migrated database and answers a first page."""

    at_first_page: list[str]
    in_all: list[str]
    models: int
    built: int
    """Models whose validator is built."""
    answers: list[Any]
    """To the first requests to another page and to operations: status, type and code."""
    rules: dict[str, dict[str, int]]
    """How many rules of each name each resource has, with all handlers."""


MODELS = """
from pydantic import BaseModel
def below(kind):
    return {one for sub in kind.__subclasses__() for one in (sub, *below(sub))}
models = below(BaseModel)
"""
RULES = """
from app.contract.resources import RESOURCES, import_contract
from app.identity.administration.resource_operations.resource_registry import rules_of
import_contract()
rules = {}
for one in RESOURCES:
    held = vars(rules_of(one))
    rules[f"{one.area}.{one.kind}"] = {name: 1 for name, hook in held.items() if hook} | dict.fromkeys(held["actions"], 1)
"""


@pytest.fixture(scope="module")
def plain_start(tmp_path_factory: pytest.TempPathFactory, migrated_file: Path) -> Start:
    folder = tmp_path_factory.mktemp("start")
    shutil.copy(migrated_file, folder / "gatehouse.db")
    program = f"""
import sys
from pathlib import Path
from werkzeug.test import Client
from app.commands.serving import application, prepare_database
from app.settings import Settings
served = application(Settings(data_dir=Path({str(folder)!r}), secrets=(b"a secret of the tests, long enough",)), "both")
assert Client(served).get("/login", base_url="http://absent.localhost:8000").status_code == 404
at_first_page = sorted(sys.modules)
{MODELS}
built = sum(one.__pydantic_complete__ for one in models)
register = Client(served).get("/register", base_url="http://absent.localhost:8000")
metadata = Client(served).get("/.well-known/openid-configuration", base_url="http://absent.localhost:8000")
accounts = Client(served).get("/identity/v2/manage/account", base_url="http://api.localhost:8000")
answers = [one for asked in (register, metadata) for one in (asked.status_code, asked.mimetype)]
answers += [accounts.status_code, accounts.json["ErrorCode"]]
served.load()
in_all = sorted(sys.modules)
{RULES}
"""
    return Start(*shown_by(program, "[at_first_page, in_all, len(models), built, answers, rules]"))


def test_plain_start_loads_no_late_module(plain_start: Start) -> None:
    assert "app.identity.public_api.accounts" in plain_start.in_all
    assert [name for name in deferred_modules() if name in plain_start.in_all] == []
    assert len(with_code(plain_start.in_all)) < MAX_IN_ALL


def test_first_page_waits_for_no_handler(plain_start: Start) -> None:
    assert "app.identity.pages_api.tenant_view" in plain_start.at_first_page
    for item in (
        "app.identity.public_api.accounts",
        "app.identity.assembly.admission.caller_authentication",
    ):
        assert item not in plain_start.at_first_page
    assert len(with_code(plain_start.at_first_page)) < MAX_MODULES


def test_first_requests_are_answered_as_later_ones(plain_start: Start) -> None:
    assert plain_start.answers == [404, "text/html", 404, "application/json", 400, 908]


def test_plain_start_builds_few_validators(plain_start: Start) -> None:
    assert plain_start.models < MAX_MODELS
    assert plain_start.built < MAX_BUILT


def test_command_line_loads_neither_service() -> None:
    loaded = loaded_by("import app.cli, app.commands.serving")
    assert [name for name in loaded if name.startswith(("app.hub", "app.identity", "sqlalchemy", "flask"))] == []


def test_configuration_files_keep_the_rules_of_requests(plain_start: Start) -> None:
    """`gatehouse apply` loads no operation, and must load every rule of an item all the same."""
    shown = shown_by(f"import app.identity.administration.configuration.apply_configuration\n{RULES}", "rules")
    assert any(shown.values())
    assert shown == plain_start.rules
