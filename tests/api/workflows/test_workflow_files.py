"""Workflows in configuration files, and what names them there."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.administration.configuration.plan import ChangePlan
from tests.support.tenants.configuration_files import applied
from tests.support.tenants.tenant_server import NewTenantServer, answered
from tests.support.workflows.drawings import branching, drawing, entering, node, sequence
from tests.support.workflows.managed_workflows import Workflows

SHOP = {
    "name": "shop",
    "client_id": "shop",
    "client_secret": "the-secret-of-the-shop",
    "redirect_uris": ["https://a.example/cb"],
}
PARTNERS = {"name": "Partners", "data": sequence()}
FOREIGN = drawing([node("a", "Begin"), node("b", "FaceScan")], "a -> b")


class Files:
    """A tenant of configuration files."""

    def __init__(self, new_tenant_server: NewTenantServer) -> None:
        self.flows = Workflows(new_tenant_server())
        self.tenant = self.flows.tenant

    def apply(self, *, prune: bool = False, **keys: Any) -> ChangePlan:
        text = yaml.safe_dump({"tenants": [{"name": self.tenant.name, **keys}]}, allow_unicode=True)
        done = applied(self.tenant.services, text, prune=prune)
        self.tenant.services.directory.clear_cache()
        return done

    def problem(self, **keys: Any) -> str:
        with pytest.raises(ConfigurationError) as refused:
            self.apply(**keys)
        return str(refused.value)

    def listed(self) -> list[tuple[str, int]]:
        return [(item["Name"], item["Version"]) for item in answered(self.flows.send("GET"))["Data"]]


@pytest.fixture
def files(new_tenant_server: NewTenantServer) -> Files:
    return Files(new_tenant_server)


@pytest.mark.both_databases
def test_file_adds_a_workflow_and_chooses_it_at_once(files: Files) -> None:
    keys: dict[str, Any] = {
        "workflows": [PARTNERS], "settings": {"default_workflow": "Partners"},
        "applications": [{**SHOP, "workflows": ["Partners"]}],
    }  # fmt: skip
    files.apply(**keys)
    assert files.listed() == [("Partners", 1)]
    files.apply(**keys)
    assert files.listed() == [("Partners", 1)]


@pytest.mark.both_databases
def test_changed_workflow_of_a_file_gets_a_version(files: Files) -> None:
    files.apply(workflows=[PARTNERS])
    files.apply(workflows=[{**PARTNERS, "data": branching()}])
    assert files.listed() == [("Partners", 2)]
    (made,) = answered(files.flows.send("GET"))["Data"]
    assert answered(files.flows.send("GET", f"/{made['Id']}/versions/1"))["Data"] == sequence()


@pytest.mark.parametrize("name", ["Nowhere", "Theirs"])
def test_unusable_workflow_in_a_file_is_a_problem_of_its_key(files: Files, name: str) -> None:
    workflows = [PARTNERS, {"name": "Theirs", "data": FOREIGN}]
    problem = files.problem(workflows=workflows, settings={"default_workflow": name})
    assert "default_workflow" in problem
    assert name in problem
    problem = files.problem(workflows=workflows, applications=[{**SHOP, "workflows": ["Partners", name]}])
    assert "applications[0].workflows" in problem or "applications.0.workflows" in problem, problem
    assert files.listed() == []


def test_bad_graph_in_a_file_is_a_problem_of_its_key(files: Files) -> None:
    loop = drawing([node("start", "Start"), node("a", "Login")], "start -> a", "a -> a")
    problem = files.problem(workflows=[{"name": "Round", "data": loop}])
    assert "data" in problem
    assert "no loop" in problem


def test_theme_and_texts_of_a_file_fit_the_tenant(files: Files) -> None:
    assert "Nowhere" in files.problem(workflows=[{**PARTNERS, "theme_name": "Nowhere"}])
    files.apply(workflows=[{**PARTNERS, "theme_name": "Spring"}], themes=[{"name": "Spring"}])
    assert "Spring" in files.problem(
        workflows=[{**PARTNERS, "theme_name": "Spring"}], themes=[{"name": "Fall"}], prune=True
    )
    assert "a text in en" in files.problem(workflows=[{"name": "No", "data": branching(de="Nein.")}], settings={})


def test_custom_field_of_a_program_serves_a_file(files: Files) -> None:
    files.apply(settings={"minimum_age": 12})
    files.tenant.change_settings(custom_fields=["plan"])
    form = sequence(node("form", "ProfileForm", fields=["cf_plan"]))
    files.apply(workflows=[{"name": "Form", "data": form}], settings={"minimum_age": 12})
    assert "cf_shoe" in files.problem(
        workflows=[{"name": "Form", "data": sequence(node("form", "ProfileForm", fields=["cf_shoe"]))}]
    )


def test_pruned_workflow_must_not_be_in_use(files: Files) -> None:
    files.apply(workflows=[PARTNERS], applications=[{**SHOP, "workflows": ["Partners"]}])
    other = {"name": "Other", "data": sequence()}
    assert "Partners" in files.problem(workflows=[other], prune=True)
    assert files.listed() == [("Partners", 1)]
    files.apply(workflows=[other], applications=[SHOP], prune=True)
    assert files.listed() == [("Other", 1)]


def test_file_renames_a_workflow_with_what_uses_it(files: Files) -> None:
    files.apply(workflows=[PARTNERS], applications=[{**SHOP, "workflows": ["Partners"]}])
    (made,) = answered(files.flows.send("GET"))["Data"]
    renamed = {"id": made["Id"], "name": "Friends", "data": sequence()}
    assert "Partners" in files.problem(workflows=[renamed])
    files.apply(workflows=[renamed], applications=[{**SHOP, "workflows": ["Friends"]}])
    assert files.listed() == [("Friends", 2)]


def test_name_that_a_program_chose_is_checked_too(files: Files) -> None:
    files.apply(workflows=[PARTNERS], settings={"default_workflow": "Partners"})
    assert "Partners" in files.problem(workflows=[{**PARTNERS, "data": FOREIGN}])
    assert files.listed() == [("Partners", 1)]


def test_file_neither_chooses_nor_causes_a_lockout(files: Files) -> None:
    by_passkey = {"name": "Keys", "data": entering("PasskeyLogin")}
    on = {"passkeys": True}
    problem = files.problem(workflows=[by_passkey], settings={"default_workflow": "Keys"})
    assert "default_workflow" in problem
    assert "found only passkey" in problem
    files.apply(workflows=[by_passkey], settings=on, applications=[{**SHOP, "workflows": ["Keys"]}])
    assert "found only passkey" in files.problem(settings={"passkeys": False})
    files.apply(settings={"passkeys": False}, applications=[{**SHOP, "workflows": []}])
