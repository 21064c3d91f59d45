"""A tenant's programs keep workflows: what is stored, what is refused, and what is shown of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused
from tests.support.workflows.drawings import branching, drawing, node, sequence
from tests.support.workflows.managed_workflows import Workflows

NOBODY = "11111111-1111-1111-1111-111111111111"


@pytest.fixture
def flows(new_tenant_server: NewTenantServer) -> Workflows:
    return Workflows(new_tenant_server(custom_fields=["plan"]))


@pytest.mark.both_databases
def test_editors_members_come_back_as_they_were(flows: Workflows) -> None:
    data = {
        **branching(), "viewport": {"x": 1.5, "y": -2, "zoom": 1}, "nodes": [*branching()["nodes"]],
    }  # fmt: skip
    data["nodes"][0] = {**data["nodes"][0], "selected": True, "measured": {"width": 120}, "parentId": None}
    data["edges"][0] = {**data["edges"][0], "animated": False, "label": "los: „hier“"}
    made = flows.stored(data)
    assert made["Data"] == data
    assert answered(flows.send("GET", f"/{made['Id']}"))["Data"] == data
    assert (made["IsRunnable"], made["Problems"], made["Version"]) == (True, [], 1)


def test_list_leaves_out_graphs(flows: Workflows) -> None:
    made = flows.stored()
    (listed,) = answered(flows.send("GET"))["Data"]
    assert listed.keys() == made.keys() - {"Data", "Problems"}
    assert (listed["Id"], listed["Name"], listed["IsRunnable"]) == (made["Id"], "Flow", True)


def test_workflow_of_another_product_is_stored_but_never_runs(flows: Workflows) -> None:
    theirs = drawing([node("a", "Begin", anything={"deep": [1]}), node("b", "FaceScan")], "a.left -> b", "b -> a")
    made = flows.stored(theirs)
    assert (made["Data"], made["IsRunnable"]) == (theirs, False)
    assert "found FaceScan" in " ".join(made["Problems"])
    (listed,) = answered(flows.send("GET"))["Data"]
    assert listed["IsRunnable"] is False
    assert answered(flows.change(made, theirs, ThemeName=""))["Version"] == 2
    assert answered(flows.send("DELETE", f"/{made['Id']}")) == {"IsDeleted": True}


A_B = [node("a", "MFA"), node("b", "Terms")]
START, LOGIN, END = node("start", "Start"), node("login", "Login"), node("end", "SuccessFinalNode")
REFUSED: list[tuple[str, Any, str]] = [
    ("a loop", drawing([START, LOGIN, *A_B, END], "start -> login", "login -> a", "a -> b", "b -> a"), "nodes a, b"),
    ("no way out", drawing([START, LOGIN], "start -> login"), "the output next of the node login"),
    ("no start", drawing([LOGIN, END], "login -> end"), "one node of the type Start"),
    ("an edge to no node", drawing([START], "start -> nowhere"), "nowhere"),
    ("1,000 nodes", drawing([node(f"n{number}", "MFA") for number in range(1_000)]), "200"),
    ("an unknown member", sequence(node("mfa", "MFA", colour="red")), "the MFA node mfa: no member colour"),
    ("a wrong type in a condition", branching("account.email > 3"), "at character 1"),
    ("a deep condition", branching("(" * 50 + "true" + ")" * 50), "levels"),
    ("a long condition", branching("true" + " or true" * 500), "characters"),
    ("code in a condition", branching("__import__('os').system('id')"), "expression"),
    ("no text in the default language", branching(de="Nein."), "a text in en"),
    ("an unknown custom field", sequence(node("form", "ProfileForm", fields=["cf_shoe"])), "cf_shoe"),
    ("an unknown version of the policy", sequence(node("terms", "Terms", version="1999")), "1999"),
    ("a private claim", sequence(node("call", "HttpCall", url="https://a.example", on_failure="deny", claims=["sub"])), "claims"),
    ("a protected field",
     sequence(node("call", "HttpCall", url="https://a.example", on_failure="deny", profile_fields=["Uid"])), "profile_fields"),
    ("no graph", {}, "nodes"),
    ("a list", [], "Data"),
    ("too much", {**sequence(), "notes": "x" * 300_000}, "262144 bytes"),
]  # fmt: skip


def test_every_bad_graph_is_refused_with_its_place(flows: Workflows, subtests: pytest.Subtests) -> None:
    made = flows.stored(name="Sound")
    for what, data, expected in REFUSED:
        with subtests.test(what):
            for answer in (flows.save(data), flows.change(made, data)):
                assert refused(answer) == (400, 7900)
                assert expected in answer.get_json()["Description"], answer.text
    assert [item["Version"] for item in answered(flows.send("GET"))["Data"]] == [1]


def test_bad_names_and_members_are_refused(flows: Workflows, subtests: pytest.Subtests) -> None:
    bodies: list[dict[str, Any]] = [
        {"Name": ""}, {"Name": "x" * 101}, {"Name": " Flow"}, {"Name": "Fl\u202eow"}, {"ThemeName": "Nowhere"}, {"Colour": "red"},
    ]  # fmt: skip
    for body in bodies:
        with subtests.test(str(body)):
            answer = flows.send("POST", "", {"Name": "Flow", "Data": sequence(), **body})
            assert refused(answer) == (400, 7900)
            assert next(iter(body)) in answer.get_json()["Description"]
    assert refused(flows.send("POST", "", {"Name": "Flow"})) == (400, 7900)


def test_control_character_in_a_graph_is_refused(flows: Workflows) -> None:
    assert refused(flows.save({**sequence(), "notes": "\x00"}))[0] == 400


def test_name_is_unique_in_any_letter_case(flows: Workflows) -> None:
    flows.stored(name="Partners")
    other = flows.stored(name="People")
    for answer in (flows.save(sequence(), "PARTNERS"), flows.change({**other, "Name": "partners"})):
        assert refused(answer) == (400, 7900)
        assert "Name" in answer.get_json()["Description"]


def test_theme_of_a_workflow_is_one_of_the_tenants(flows: Workflows) -> None:
    token = machine(flows.tenant, "template:create")
    answered(ask(flows.tenant, token, "POST", "/v2/manage/hosted-pages/themes", {"Name": "Spring"}))
    assert flows.stored(ThemeName="Spring")["ThemeName"] == "Spring"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_unknown_workflow_is_8033(flows: Workflows, method: str) -> None:
    body = {"Name": "Flow", "Data": sequence()} if method == "PUT" else None
    assert refused(flows.send(method, f"/{NOBODY}", body)) == (404, 8033)


@pytest.mark.both_databases
def test_workflow_of_another_tenant_is_8033(flows: Workflows, new_tenant_server: NewTenantServer) -> None:
    made, other = flows.stored(), Workflows(new_tenant_server())
    body = {"Name": "Flow", "Data": sequence()}
    for method, path in (("GET", ""), ("PUT", ""), ("DELETE", ""), ("GET", "/versions"), ("GET", "/versions/1")):
        assert refused(other.send(method, f"/{made['Id']}{path}", body if method == "PUT" else None)) == (404, 8033)
    assert answered(other.send("GET"))["Data"] == []


def test_large_members_of_editors_are_stored(flows: Workflows) -> None:
    data = {**sequence(), "notes": ["x" * 1_000] * 200}
    assert flows.stored(data)["Data"] == data
