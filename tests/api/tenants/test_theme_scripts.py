"""Scripts of themes by API and file: refused without the operator's permission, and kept when it ends (decision 0421)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.export import export
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.administration.configuration.plan import ChangePlan
from app.identity.platform.services import IdentityServices
from tests.support.tenants.managed_themes import Themes
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

ORIGIN = "https://analytics.example"
COUNT = f"{ORIGIN}/count.js"
SCRIPT = f'<script src="{ORIGIN}/a.js" data-site="acme"></script>'
AUTH = {
    "Js": [COUNT, f"{ORIGIN}/b.js"],
    "BeforeScript": SCRIPT,
    "EndScript": f"{SCRIPT}\n",
    "HeadTags": f'<link rel="preconnect" href="{ORIGIN}">',
}
STORED = {
    "js": f"{COUNT}\n{ORIGIN}/b.js",
    "before_script": SCRIPT,
    "end_script": f"{SCRIPT}\n",
    "head_tags": AUTH["HeadTags"],
}
OF_PAGES = {"Pages": {"Auth": AUTH}}


@pytest.fixture
def themes(new_tenant_server: NewTenantServer) -> Themes:
    return Themes(new_tenant_server(theme_scripts={"origins": [ORIGIN]}))


def created(themes: Themes, **members: Any) -> dict[str, Any]:
    return answered(themes.send("POST", body={"Name": "Hazel", **members}))


def problem(answer: Any) -> str:
    assert refused(answer) == (400, 7900), answer.get_json()
    return str(answer.get_json()["Description"])


@pytest.mark.both_databases
def test_allowed_scripts_are_stored_in_both_spellings(themes: Themes) -> None:
    theme = created(themes, **OF_PAGES)
    assert theme["Brand"]["Scripts"] == STORED
    assert {name: theme["Pages"]["Auth"][name] for name in AUTH} == AUTH
    read_again = answered(themes.send("GET", f"/{theme['Id']}"))
    assert answered(themes.send("PUT", f"/{theme['Id']}", read_again))["Brand"] == theme["Brand"]
    same = answered(themes.send("POST", body={"Name": "From the brand", "Brand": {"Scripts": STORED}}))
    assert same["Pages"] == theme["Pages"]


@pytest.mark.both_databases
def test_without_permission_each_member_is_refused(new_tenant_server: NewTenantServer) -> None:
    themes = Themes(new_tenant_server())
    for member, value in AUTH.items():
        sentence = problem(themes.send("POST", body={"Name": "Hazel", "Pages": {"Auth": {member: value}}}))
        assert sentence.startswith(f"Pages.Auth.{member} (Brand.Scripts.")
        assert "settings.theme_scripts.origins" in sentence
    theme = themes.stored("Plain")
    for body in (OF_PAGES, {"Brand": {"Scripts": STORED}}):
        assert "the operator allows" in problem(themes.send("PUT", f"/{theme}", {"Name": "Plain", **body}))
        assert "the operator allows" in problem(themes.send("POST", body={"Name": "Other", **body}))
    draft = themes.send("PUT", f"/{theme}/draft", {"Brand": {"Scripts": STORED}})
    assert "the operator allows" in problem(draft)


@pytest.mark.parametrize(
    ("member", "value", "sentence"),
    [
        ("Js", ["https://evil.example/a.js"], "expected an address at an origin that the operator allows"),
        ("Js", ["javascript:alert(1)"], "Pages.Auth.Js: line 1: expected an https address"),
        ("Js", [COUNT, f"{ORIGIN}@evil.example/a.js"], "Pages.Auth.Js: line 2: expected an https address"),
        ("Js", [COUNT] * 21, "Js"),
        ("EndScript", "alert(1)", "Pages.Auth.EndScript: line 1: expected <script src"),
        ("EndScript", f"{SCRIPT}\n<script>alert(1)</script>", "Pages.Auth.EndScript: line 2: expected no code"),
        ("BeforeScript", f'<script src="{COUNT}" onload="x"></script>', "Pages.Auth.BeforeScript: line 1: expected of <script>"),
        ("BeforeScript", "x" * 5_000, "Pages.Auth.BeforeScript: "),
        ("HeadTags", '<meta http-equiv="refresh" content="0">', "Pages.Auth.HeadTags: line 1: expected of <meta>"),
        ("HeadTags", "<title>Bank</title>", "Pages.Auth.HeadTags: line 1: expected <script src"),
    ],
)  # fmt: skip
def test_hostile_script_is_refused_by_its_member(themes: Themes, member: str, value: Any, sentence: str) -> None:
    assert sentence in problem(themes.send("POST", body={"Name": "Hazel", "Pages": {"Auth": {member: value}}}))


@pytest.mark.parametrize("page", ["Profile", "Workflow"])
def test_account_and_workflow_pages_never_have_scripts(themes: Themes, page: str) -> None:
    assert f"Pages.{page}.Js: expected none" in problem(
        themes.send("POST", body={"Name": "Hazel", "Pages": {page: {"Js": [COUNT]}}})
    )


@pytest.mark.both_databases
def test_stored_scripts_stay_when_permission_ends(themes: Themes) -> None:
    theme = created(themes, **OF_PAGES)
    at = f"/{theme['Id']}"
    (no_domain,) = theme["ScriptProblems"]
    assert "a verified custom domain" in no_domain
    themes.tenant.change_settings(theme_scripts={"origins": ["https://other.example"]})
    shown = answered(themes.send("GET", at))
    assert (shown["Brand"]["Scripts"], shown["Pages"]["Auth"]["Js"]) == (STORED, AUTH["Js"])
    assert [found.partition(":")[0] for found in shown["ScriptProblems"][:-1]] == [
        "Pages.Auth.HeadTags (Brand.Scripts.head_tags), line 1",
        "Pages.Auth.BeforeScript (Brand.Scripts.before_script), line 1",
        "Pages.Auth.Js (Brand.Scripts.js), line 1",
        "Pages.Auth.Js (Brand.Scripts.js), line 2",
        "Pages.Auth.EndScript (Brand.Scripts.end_script), line 1",
    ]
    changed = answered(themes.send("PUT", at, {**shown, "Brand": {**shown["Brand"], "Color": "#0a7d55"}}))
    assert (changed["Brand"]["Color"], changed["Brand"]["Scripts"]) == ("#0a7d55", STORED)
    draft = {"Brand": {**changed["Brand"], "Color": "#334455"}}
    assert answered(themes.send("PUT", f"{at}/draft", draft))["Version"] == 3
    assert answered(themes.publish(theme["Id"], 3))["IsPublished"]
    other = {**shown["Brand"]["Scripts"], "js": f"{ORIGIN}/new.js"}
    assert "https://other.example" in problem(themes.send("PUT", at, {"Name": "Hazel", "Brand": {"Scripts": other}}))
    assert answered(themes.send("PUT", at, {"Name": "Hazel"}))["ScriptProblems"] == []


def test_no_operation_of_the_api_writes_the_permission(themes: Themes) -> None:
    """A tenant's own credentials would allow themselves any origin."""
    theme = created(themes)
    bodies: list[dict[str, Any]] = [{"ThemeScripts": {"origins": [ORIGIN]}}, {"Brand": {"ThemeScripts": []}}]
    for body in bodies:
        assert refused(themes.send("PUT", f"/{theme['Id']}", {"Name": "Hazel", **body})) == (400, 7900)


HEAD = "tenants:\n  - name: acme\n"
ALLOWED = f'    settings: {{theme_scripts: {{origins: ["{ORIGIN}"]}}}}\n'
OWN = f"    brand: {{scripts: {{js: {COUNT}}}}}\n"
FOLDER = "    theme: hazel\n"
LISTED = f"    themes: [{{name: Hazel, brand: {{scripts: {{js: {COUNT}}}}}}}]\n"
Applied = Callable[[str], ChangePlan]


@pytest.fixture
def applied(own_services: IdentityServices, tmp_path: Path) -> Applied:
    (tmp_path / "hazel").mkdir()
    (tmp_path / "hazel" / "theme.yaml").write_text(f"scripts:\n  js: |\n    {COUNT}\n")
    return lambda text: apply_configuration.apply(own_services, read(text.encode(), "f.yaml", tmp_path))


@pytest.mark.parametrize("theme", [OWN, FOLDER, LISTED])
def test_file_needs_the_origin_in_its_settings(applied: Applied, theme: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        applied(HEAD + theme)
    assert "settings.theme_scripts.origins" in str(refusal.value)
    assert "warning" not in str(applied(HEAD + ALLOWED + theme)).lower()


@pytest.mark.parametrize("theme", [OWN, FOLDER])
def test_file_can_take_the_permission_away_from_a_theme(applied: Applied, theme: str) -> None:
    applied(HEAD + ALLOWED + theme)
    plan = applied(f"{HEAD}    settings: {{}}\n{theme}")
    assert any("pages leave out scripts.js: expected none" in warning for warning in plan.warnings)


def test_exported_scripts_are_applied_again(applied: Applied, own_services: IdentityServices) -> None:
    applied(HEAD + ALLOWED + OWN + LISTED)
    text = export(own_services, "acme")
    assert text.count(COUNT) == 2
    assert {str(change.action) for change in applied(text).changes} == {"unchanged"}


def test_folder_names_the_file_and_line_of_a_wrong_script(applied: Applied, tmp_path: Path) -> None:
    (tmp_path / "hazel" / "theme.yaml").write_text("scripts:\n  end_script: alert(1)\n")
    with pytest.raises(ConfigurationError) as refusal:
        applied(HEAD + ALLOWED + FOLDER)
    assert "hazel/theme.yaml:2: " in str(refusal.value)
    assert "<script src=" in str(refusal.value)
