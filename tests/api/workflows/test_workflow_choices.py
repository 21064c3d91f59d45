"""The tenant and its applications choose workflows by name, and a chosen workflow stays."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.support.oauth.managed_clients import CLIENTS, SHOP
from tests.support.races import at_once
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused
from tests.support.workflows.drawings import drawing, node, sequence
from tests.support.workflows.managed_workflows import Workflows

DEFAULT = "/v2/manage/default-workflow"
FOREIGN = drawing([node("a", "Begin"), node("b", "FaceScan")], "a -> b")


@pytest.fixture
def flows(new_tenant_server: NewTenantServer) -> Workflows:
    return Workflows(new_tenant_server())


def choose(flows: Workflows, name: str | None) -> Any:
    answer = ask(flows.tenant, flows.token, "PUT", DEFAULT, {"WorkflowName": name})
    flows.tenant.services.directory.clear_cache()
    return answer


def save_client(flows: Workflows, *names: str, method: str = "POST") -> Any:
    path = CLIENTS if method == "POST" else f"{CLIENTS}/{SHOP['AppName']}"
    return ask(flows.tenant, machine(flows.tenant, "all"), method, path, {**SHOP, "Workflows": list(names)})


@pytest.mark.both_databases
def test_default_workflow_is_set_and_cleared(flows: Workflows) -> None:
    flows.stored(name="Partners")
    assert answered(choose(flows, "Partners")) == {"WorkflowName": "Partners"}
    assert answered(ask(flows.tenant, flows.token, "GET", DEFAULT)) == {"WorkflowName": "Partners"}
    assert answered(choose(flows, None)) == {"WorkflowName": None}


@pytest.mark.parametrize("name", ["Nowhere", "partners", "Theirs"])
def test_unusable_workflow_is_not_chosen(flows: Workflows, name: str) -> None:
    flows.stored(name="Partners")
    flows.stored(FOREIGN, "Theirs")
    for answer in (choose(flows, name), save_client(flows, "Partners", name)):
        assert refused(answer) == (400, 7900)
        assert name in answer.get_json()["Description"]


def test_application_lists_workflows_each_once(flows: Workflows) -> None:
    flows.stored(name="Partners")
    assert answered(save_client(flows, "Partners"))["Workflows"] == ["Partners"]
    assert refused(save_client(flows, "Partners", "Partners", method="PUT")) == (400, 7900)
    assert answered(save_client(flows, method="PUT"))["Workflows"] == []


def test_workflow_of_another_tenant_is_not_chosen(flows: Workflows, new_tenant_server: NewTenantServer) -> None:
    Workflows(new_tenant_server()).stored(name="Partners")
    assert refused(choose(flows, "Partners")) == (400, 7900)
    assert refused(save_client(flows, "Partners")) == (400, 7900)


def taken_away(flows: Workflows, made: dict[str, Any]) -> list[Any]:
    """Return the answers to what would leave the name without a workflow that can run."""
    return [
        flows.send("DELETE", f"/{made['Id']}"),
        flows.send("PUT", f"/{made['Id']}", {"Name": "Other", "Data": sequence()}),
        flows.change(made, FOREIGN),
    ]


def test_default_workflow_is_not_taken_away(flows: Workflows) -> None:
    made = flows.stored(name="Partners")
    answered(choose(flows, "Partners"))
    for answer in taken_away(flows, made):
        assert refused(answer) == (409, 8197)
        assert "default workflow" in answer.get_json()["Description"]
    assert answered(flows.change(made, sequence(node("mfa", "MFA"))))["Version"] == 2
    answered(choose(flows, None))
    assert [answer.status_code for answer in taken_away(flows, made)] == [200, 404, 404]


@pytest.mark.both_databases
@pytest.mark.parametrize("name", ["Partners", 'Mit „Ümläut“ and "quotes" \\ 100%_'])
def test_workflow_of_an_application_is_not_taken_away(flows: Workflows, name: str) -> None:
    made = flows.stored(name=name)
    answered(save_client(flows, name))
    for answer in taken_away(flows, made):
        assert refused(answer) == (409, 8197)
        assert SHOP["AppName"] in answer.get_json()["Description"]
    answered(save_client(flows, method="PUT"))
    assert answered(flows.send("DELETE", f"/{made['Id']}")) == {"IsDeleted": True}


@pytest.mark.both_databases
def test_choice_and_deletion_at_once_leave_no_dead_name(flows: Workflows) -> None:
    made = flows.stored(name="Partners")
    deletion, choice = at_once([partial(flows.send, "DELETE", f"/{made['Id']}"), partial(choose, flows, "Partners")])
    assert (deletion.status_code, choice.status_code) in ((200, 400), (409, 200))
