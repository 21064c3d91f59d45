"""The tenant and its applications choose workflows by name, and a chosen workflow stays."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.support.oauth.managed_clients import CLIENTS, SHOP
from tests.support.races import at_once
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused
from tests.support.workflows.drawings import branching, drawing, entering, node, sequence
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


PASSKEYS = "/v2/manage/passkey-config"
PROVIDER = "/v2/manage/providers/google"
BY_PASSKEY = entering("PasskeyLogin")
BY_PROVIDER = entering("Login", methods=["connection"])
UNOFFERED = [
    (BY_PASSKEY, "passkey"), (entering("Login", methods=["email", "sms"]), "email, sms"), (BY_PROVIDER, "connection"),
    (entering("Login", methods=["pin"]), "pin"),
]  # fmt: skip
ON = {"passkeys": True, "pin": {"is_on": True, "login": True}}


CLOSED = drawing([node("start", "Start"), node("no", "Deny", text={"en": "Closed."})], "start -> no")


def either(*entries: Any) -> Any:
    """Return a workflow with two entries, between which the language of the page decides."""
    nodes = [node("start", "Start"), node("if", "Condition", expression="request.language == 'de'"), *entries]
    nodes.append(node("end", "SuccessFinalNode"))
    first, second = (entry["id"] for entry in entries)
    return drawing(
        nodes, "start -> if", f"if.true -> {first}", f"if.false -> {second}", f"{first} -> end", f"{second} -> end"
    )


@pytest.mark.parametrize(("data", "methods"), UNOFFERED)
def test_workflow_without_an_offered_method_is_not_chosen(flows: Workflows, data: Any, methods: str) -> None:
    flows.tenant.change_settings(pin=ON["pin"])
    made = flows.stored(data, "Locked")
    problem = f"Expected a sign-in method that the tenant offers in the node login; found only {methods}."
    assert (made["IsRunnable"], made["Problems"]) == (False, [problem])
    for member, answer in (("WorkflowName", choose(flows, "Locked")), ("Workflows", save_client(flows, "Locked"))):
        assert refused(answer) == (400, 7900)
        sentence = f"{member}: expected the name of a workflow that can run; found 'Locked'. {problem}"
        assert answer.get_json()["Description"] == sentence


@pytest.mark.parametrize(
    "data",
    [
        entering("Login"), entering("Register"), entering("Login", methods=["sms", "password"]),
        either(node("a", "PasskeyLogin"), node("b", "Login")), CLOSED,
    ],
)  # fmt: skip
def test_workflow_with_an_offered_entry_or_none_is_chosen(flows: Workflows, data: Any) -> None:
    flows.tenant.change_settings(registration=False)
    flows.stored(data, "Open")
    answered(choose(flows, "Open"))


@pytest.mark.both_databases
def test_chosen_workflow_is_not_changed_into_a_lockout(flows: Workflows) -> None:
    made = flows.stored(name="Partners")
    answered(choose(flows, "Partners"))
    answer = flows.change(made, BY_PASSKEY)
    assert refused(answer) == (409, 8197)
    assert "found only passkey." in answer.get_json()["Description"]


@pytest.mark.parametrize("is_default", [True, False])
def test_settings_keep_the_method_of_a_chosen_workflow(flows: Workflows, is_default: bool) -> None:
    flows.tenant.change_settings(passkeys=True)
    flows.stored(BY_PASSKEY, "Keys")
    answered(choose(flows, "Keys") if is_default else save_client(flows, "Keys"))
    token = machine(flows.tenant, "all")
    answer = ask(flows.tenant, token, "PUT", PASSKEYS, {"IsEnabled": False})
    assert refused(answer) == (400, 7900)
    assert answer.get_json()["Description"] == (
        "Nobody could sign in with the workflow Keys, which is in use. Choose another one first. "
        "Expected a sign-in method that the tenant offers in the node login; found only passkey."
    )
    answered(ask(flows.tenant, token, "PUT", PASSKEYS, {"IsEnabled": True, "RPDisplayName": "Keys"}))
    answered(choose(flows, None) if is_default else save_client(flows, method="PUT"))
    answered(ask(flows.tenant, token, "PUT", PASSKEYS, {"IsEnabled": False}))


def test_last_connection_of_a_chosen_workflow_stays(flows: Workflows) -> None:
    token = machine(flows.tenant, "all")
    answered(ask(flows.tenant, token, "PUT", PROVIDER, {"Key": "shop", "Secret": "a secret", "IsActive": True}))
    flows.tenant.services.directory.clear_cache()
    flows.stored(BY_PROVIDER, "Google")
    answered(choose(flows, "Google"))
    assert refused(ask(flows.tenant, token, "PUT", PROVIDER, {"Key": "shop", "IsActive": False})) == (400, 7900)
    answered(choose(flows, None))
    answered(ask(flows.tenant, token, "PUT", PROVIDER, {"Key": "shop", "IsActive": False}))


def test_settings_of_a_tenant_locked_out_before_still_change(flows: Workflows) -> None:
    flows.stored(BY_PASSKEY, "Keys")
    flows.tenant.change_settings(default_workflow="Keys", passwordless_email=True)
    flows.tenant.change_settings(passkeys=True, one_touch=True)
    flows.stored(branching(), "Other")
    flows.tenant.change_settings(passkeys=False)
    answered(choose(flows, "Other"))
