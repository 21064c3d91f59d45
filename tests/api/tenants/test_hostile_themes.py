"""The hostile themes by the interface: a draft and an update are refused with the sentence of the folder, and publish nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.file.theme import read_folder
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.kit.operations.wire import pascal
from tests.support.hostile_themes.hostile_theme import BRAND, CSS, HostileTheme
from tests.support.hostile_themes.table import HOSTILE
from tests.support.tenants.managed_themes import Themes
from tests.support.tenants.tenant_server import NewTenantServer, answered

KINDS = sorted({name.partition(":")[0] for name in HOSTILE})
BY_FORM = (
    "is not formatted correctly",
    "larger than 1000000 bytes",
    "has no such member",
    "isn’t valid JSON",
    "of texts in all languages",
)
"""How the interface refuses what its schema does not have, before a theme is checked; a folder has a bound for each file of texts first."""
OF_FOLDERS = {
    "script: many scripts",
    "value: logo outside of the folder",
    "value: logo with a long name",
    "value: 10,000 templates",
    "value: 3,000 languages",
    "text: language that we lack",
}
"""The sentence of a folder names its files, or a folder has no permission to ask for; the interface has another one."""
IN_YAML_ALONE = {"value: key twice"}
LARGE = 50_000
"""Characters of YAML that libyaml reads, which takes a thirtieth of the time, and refuses the lone surrogates that JSON can have."""


@pytest.fixture
def themes(new_tenant_server: NewTenantServer) -> Themes:
    return Themes(new_tenant_server())


def of_kind(kind: str) -> list[tuple[str, HostileTheme]]:
    return [(name, hostile) for name, hostile in HOSTILE.items() if name.partition(":")[0] == kind]


def brand_of(hostile: HostileTheme) -> dict[str, Any] | None:
    """Return the files of a theme as the interface has them; None for one that only a folder can be."""
    brand: dict[str, Any] = {}
    try:
        for name in sorted(hostile.files, reverse=True):  # theme.yaml first
            content = hostile.files[name]
            put_file(brand, name, content.decode() if isinstance(content, bytes) else content)
        json.dumps(brand)
    except (ValueError, AttributeError, TypeError, RecursionError, yaml.YAMLError):
        return None
    return None if hostile.links or not brand else brand


def put_file(brand: dict[str, Any], name: str, text: str) -> None:
    """Add a file of a theme folder. Raises ValueError for one that the interface has no member for."""
    if name == BRAND:
        brand |= {pascal(key): value for key, value in (in_yaml(text) or {}).items()}
    elif match := re.fullmatch(r"texts/([^/]+)\.yaml", name):
        brand.setdefault("Texts", {})[match[1]] = in_yaml(text)
    elif name == CSS and "Css" not in brand:
        brand["Css"] = text
    elif name.startswith("templates/"):
        brand.setdefault("Templates", {})[name.removeprefix("templates/")] = text
    else:
        raise ValueError


def in_yaml(text: str) -> Any:
    return yaml.load(text, Loader=yaml.CSafeLoader if len(text) > LARGE else yaml.SafeLoader)


def is_refused_alike(description: str, problem: str) -> bool:
    """Return whether an error has the sentence of a folder's problem, `FILE:LINE: KEY: expected …`."""
    _, _, sentence = problem.partition("expected ")
    if "characters" in sentence and description.startswith("A value contains HTML or a script"):
        return True  # what no member of the interface may have
    return sentence[:30] in description or any(words in description for words in BY_FORM)


@pytest.mark.parametrize("kind", KINDS)
def test_interface_refuses_a_hostile_theme_by_its_sentence(
    kind: str, themes: Themes, subtests: pytest.Subtests
) -> None:
    stored = themes.stored("Autumn")
    for name, hostile in of_kind(kind):
        brand = brand_of(hostile) if hostile.problem and name not in IN_YAML_ALONE else None
        if brand is None:
            continue
        for path, body in ((f"/{stored}/draft", {}), (f"/{stored}", {"Name": "Autumn"})):
            with subtests.test(f"{name} {path}"):
                answer = themes.send("PUT", path, {**body, "Brand": brand})
                assert answer.status_code == 400
                description = answer.get_json()["Description"]
                assert name in OF_FOLDERS or is_refused_alike(description, hostile.problem), description
    assert (themes.shown(), themes.published(stored), len(themes.listed(stored))) == ("Autumn", 1, 1)


@pytest.mark.parametrize(
    "brand",
    [
        {"Templates": {f"pages/sign_in/login{n}.html": "x" for n in range(201)}},
        {"Colors": {"light": {f"surface{n}": "#123456" for n in range(101)}}},
    ],
    ids=["templates", "colors"],
)
def test_too_many_names_cost_no_search_for_each(brand: dict[str, Any], themes: Themes) -> None:
    answer = themes.send("PUT", f"/{themes.stored('Autumn')}/draft", {"Brand": brand})
    assert re.search(r"expected at most (200|100) names; found (201|101)\.", answer.get_json()["Description"])


@pytest.mark.parametrize("kind", KINDS)
def test_interface_takes_what_a_folder_takes(
    kind: str, themes: Themes, subtests: pytest.Subtests, tmp_path: Path
) -> None:
    stored = themes.stored("Autumn")
    for number, (name, hostile) in enumerate(of_kind(kind)):
        if hostile.problem:
            continue
        hostile.write(tmp_path / str(number))
        brand = read_folder.folder_of(tmp_path / str(number)).brand.model_dump(mode="json", exclude_unset=True)
        with subtests.test(name):
            answered(
                themes.send("PUT", f"/{stored}/draft", {"Brand": {pascal(key): value for key, value in brand.items()}})
            )
    assert themes.shown() == "Autumn"


@pytest.mark.parametrize("kind", KINDS)
def test_apply_of_a_hostile_folder_changes_nothing(
    kind: str, themes: Themes, subtests: pytest.Subtests, tmp_path: Path
) -> None:
    themes.stored("Autumn")
    for number, (name, hostile) in enumerate(of_kind(kind)):
        if not hostile.problem:
            continue
        hostile.write(tmp_path / str(number))
        file = f"tenants:\n  - {{name: {themes.tenant.name}, theme: '{number}'}}\n".encode()
        with subtests.test(name), pytest.raises(ConfigurationError):
            apply_configuration.apply(themes.tenant.services, read(file, "f.yaml", tmp_path))
    assert (themes.shown(), len(themes.listed("brand"))) == ("Autumn", 1)
