"""What a configuration file accepts as a theme, the interface accepts, too, and the other way round."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.contract.themes.page_templates import page_templates
from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from tests.support.tenants.managed_themes import Themes
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

BLOCKS = {
    f"templates/{name}": f"{{% block {block} %}}<p>own</p>{{% endblock %}}"
    for name, page in page_templates().items()
    for block in [next((block for block, is_required in page.blocks.items() if not is_required), "")]
    if block
}
TEXTS = "\n".join(f"own.t{number}: x" for number in range(2_500))
LONGEST = f"display_name: {'A' * 200}\nsignature: {'b' * 600}\nsentence: {{en: {'c' * 600}}}"
THEMES = {
    "templates of nearly every page": BLOCKS,
    "many texts": {"texts/en.yaml": TEXTS},
    "the longest lines": {"theme.yaml": LONGEST},
}


@pytest.fixture
def themes(new_tenant_server: NewTenantServer) -> Themes:
    return Themes(new_tenant_server())


def apply_folder(themes: Themes, folder: Path, files: dict[str, str]) -> None:
    """Apply a theme `Hazel` whose folder has these files."""
    for name, text in {"theme.yaml": "color: '#0a7d55'", **files}.items():
        (folder / "hazel" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "hazel" / name).write_text(text)
    looks = [{"name": "Hazel", "theme": "hazel"}]
    file = json.dumps({"tenants": [{"name": themes.tenant.name, "themes": looks}]}).encode()
    apply_configuration.apply(themes.tenant.services, read(file, "f.yaml", folder))


def brand_of(themes: Themes) -> tuple[str, dict[str, Any]]:
    """Return the id and the brand of the only theme."""
    (listed,) = answered(themes.send("GET"))["Data"]
    found: dict[str, Any] = answered(themes.send("GET", f"/{listed['Id']}"))
    return listed["Id"], found["Brand"]


@pytest.mark.parametrize("name", THEMES)
def test_theme_of_a_folder_can_be_sent_back(themes: Themes, tmp_path: Path, name: str) -> None:
    apply_folder(themes, tmp_path, THEMES[name])
    theme, brand = brand_of(themes)
    answered(themes.send("PUT", f"/{theme}", {"Name": "Hazel", "Brand": brand}))
    assert brand_of(themes) == (theme, brand)
    answered(themes.send("PUT", f"/{theme}/draft", {"Brand": {**brand, "Color": "#3b49d9"}}))


def test_folder_has_more_templates_than_sixty() -> None:
    assert len(BLOCKS) > 60


@pytest.mark.parametrize("member", ["DisplayName", "Signature"])
def test_longer_line_is_refused_by_both(themes: Themes, tmp_path: Path, member: str) -> None:
    key, most = {"DisplayName": ("display_name", 200), "Signature": ("signature", 600)}[member]
    with pytest.raises(ConfigurationError, match=f"at most {most} characters"):
        apply_folder(themes, tmp_path, {"theme.yaml": f"{key}: {'A' * (most + 1)}"})
    assert refused(themes.send("POST", body={"Name": "One", "Brand": {member: "A" * (most + 1)}})) == (400, 7900)
