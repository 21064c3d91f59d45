"""Which graphs of workflows are stored, and which can run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.contract.workflows.graph import MalformedGraph, read_graph
from app.contract.workflows.graph_rules import problems_of
from app.contract.workflows.nodes import NODE_TYPES
from tests.support.workflows.drawings import Drawing, branching, drawing, edge, node, sequence

START, LOGIN, END = node("start", "Start"), node("login", "Login"), node("end", "SuccessFinalNode")
CALL = node("call", "HttpCall", url="https://hooks.acme.example", on_failure="deny")
NO = node("no", "Deny", text={"en": "No."})


def problems(found: Drawing) -> list[str]:
    return problems_of(read_graph(found))


@pytest.mark.parametrize(
    "graph",
    [
        sequence(),
        sequence(node("mfa", "MFA"), node("terms", "Terms"), node("form", "ProfileForm", fields=["first_name"])),
        branching(),
        drawing([START, LOGIN, CALL, END], "start -> login", "login -> call", "call.next -> end"),
        drawing([START, LOGIN, CALL, NO, END], "start -> login", "login -> call", "call -> end", "call.deny -> no",
                "call.failure -> no"),
        drawing([START, node("new", "Register"), LOGIN, node("where", "Condition", expression="request.country == 'DE'"), END],
                "start -> where", "where.true -> login", "where.false -> new", "login -> end", "new -> end"),
        drawing([START, node("where", "Condition", expression="request.country == 'XX'"), NO, LOGIN, END],
                "start -> where", "where.true -> no", "where.false -> login", "login -> end"),
        drawing([START, LOGIN, node("risk", "Risk"), node("mfa", "MFA"), NO, END], "start -> login", "login -> risk",
                "risk.low -> end", "risk.medium -> mfa", "mfa -> end", "risk.high -> no"),
    ],
)  # fmt: skip
def test_sound_graph_has_no_problem(graph: Drawing) -> None:
    assert problems(graph) == []


A_B = [node("a", "MFA"), node("b", "Terms")]
UNSOUND: list[tuple[Drawing, str]] = [
    (drawing([LOGIN, END], "login -> end"), "one node of the type Start; found 0"),
    (drawing([START, node("two", "Start"), LOGIN, END], "start -> login", "two -> login", "login -> end"), "found 2"),
    (drawing([START, LOGIN, END], "start -> login", "login -> start"), "no edge to the Start node start; login has one"),
    (drawing([START, LOGIN, *A_B, END], "start -> login", "login -> a", "a -> b", "b -> a"), "through the nodes a, b"),
    (drawing([START, LOGIN, *A_B, END], "start -> login", "login -> a", "a -> a", "b -> end"), "through the nodes a"),
    (drawing([START, LOGIN, END], "start -> login"), "an edge from the output next of the node login"),
    (drawing([START, LOGIN, CALL, NO, END], "start -> login", "login -> call", "call.deny -> no"), "output next of the node call"),
    (drawing([START, LOGIN, node("new", "Condition", expression="true"), END], "start -> login", "login -> new", "new.true -> end"),
     "an edge from the output false of the node new"),
    (drawing([START, LOGIN, END], "start -> login", "login -> end", "end -> login"), "found next, and the node has no output"),
    (drawing([START, LOGIN, END], "start -> login", "login -> end", "login.maybe -> end"), "found maybe, and the node has the output"),
    (drawing([START, LOGIN, END, NO], "start -> login", "login -> end", "login. -> no"), "one edge from the output next"),
    (drawing([START, LOGIN, END, NO], "start -> login", "login -> end"), "there is none to no"),
    (drawing([START, END], "start -> end"), "Login, Register or PasskeyLogin before the node end"),
    (drawing([START, node("a", "MFA"), LOGIN, END], "start -> a", "a -> login", "login -> end"), "before the node a"),
    (drawing([START, CALL, LOGIN, END], "start -> call", "call -> login", "login -> end"), "before the node call"),
    (drawing([START, LOGIN, node("again", "PasskeyLogin"), END], "start -> login", "login -> again", "again -> end"),
     "one sign-in on each path; again is another"),
    (drawing([START, node("who", "Condition", expression="account.logins > 3"), LOGIN, END], "start -> who", "who.true -> login",
             "who.false -> login", "login -> end"), "only facts of the request before a sign-in; who has others"),
    (drawing([START, node("where", "Condition", expression="request.hour_utc > 3"), LOGIN, node("a", "MFA"), END], "start -> where",
             "where.true -> login", "where.false -> a", "login -> a", "a -> end"), "before the node a"),
]  # fmt: skip


@pytest.mark.parametrize(("graph", "expected"), UNSOUND)
def test_unsound_graph_is_refused_by_name(graph: Drawing, expected: str) -> None:
    assert expected in " ".join(problems(graph))


def test_foreign_type_is_a_problem_and_no_refusal() -> None:
    graph = sequence(node("theirs", "FaceScan", shutter=9))
    assert problems(graph) == ["a type of Gatehouse in the node theirs; found FaceScan"]


def test_workflow_of_foreign_nodes_alone_can_be_read() -> None:
    graph = drawing([node("a", "Begin"), node("b", "Ask")], "a -> b", "b.again -> a")
    assert len(problems(graph)) == 3


DEEP: Any = {}
for _ in range(40):
    DEEP = {"in": DEEP}
UNREADABLE: list[tuple[Any, str]] = [
    ({}, "nodes"),
    ({"nodes": [], "edges": []}, "nodes"),
    ({"nodes": "all", "edges": []}, "nodes"),
    ({"nodes": [START]}, "edges"),
    ({"nodes": [{"type": "Start"}], "edges": []}, "nodes.0.id"),
    ({"nodes": [{"id": "a"}], "edges": []}, "nodes.0.type"),
    ({"nodes": [{"id": 3, "type": "Start"}], "edges": []}, "nodes.0.id"),
    ({"nodes": [{"id": "a\n", "type": "Start"}], "edges": []}, "nodes.0.id"),
    ({"nodes": [{"id": "a", "type": "Start", "data": []}], "edges": []}, "nodes.0.data"),
    (drawing([START, node("start", "Login")]), "each id of a node once; found start twice"),
    (drawing([START, LOGIN], "start -> nowhere"), "the edge start -> nowhere has nowhere, which is none"),
    (drawing([START, LOGIN], "nobody -> login"), "has nobody, which is none"),
    ({"nodes": [START, LOGIN], "edges": [edge("start -> login")] * 2}, "each id of an edge once"),
    (drawing([node("start", "Start", color="red")]), "valid data of the Start node start: no member color"),
    (drawing([node("c", "Condition", expression="account.email < 3")]), "node c: expression: at character 1, expected a number"),
    (drawing([node("theirs", "FaceScan"), node("login", "Login", methods=["fax"])]), "valid data of the Login node login"),
    (drawing([node(f"n{number}", "MFA") for number in range(1_000)]), "at most 200"),
    ({"nodes": [START, LOGIN], "edges": [{**edge("start -> login"), "id": str(number)} for number in range(401)]}, "at most 400"),
    ({**drawing([START]), "viewport": DEEP}, "levels of members"),
    ({**drawing([START]), "notes": "x" * 300_000}, "bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("graph", "expected"), UNREADABLE)
def test_graph_that_cannot_be_stored_is_refused(graph: Any, expected: str) -> None:
    with pytest.raises(MalformedGraph) as refused:
        read_graph(graph)
    assert expected in str(refused.value)


def test_long_chain_of_nodes_is_checked_without_recursion() -> None:
    graph = sequence(*(node(f"n{number}", "MFA") for number in range(197)))
    assert problems(graph) == []
    back = {**edge("n196 -> n0"), "sourceHandle": None}
    graph["edges"] = [item for item in graph["edges"] if item["source"] != "n196"] + [back]
    assert "and 187 more" in problems(graph)[0]


def test_many_joined_branches_are_checked_at_once() -> None:
    nodes = [node(f"c{number}", "Condition", expression="true") for number in range(190)]
    paths = [f"c{number}.{output} -> c{number + 1}" for number in range(189) for output in ("true", "false")]
    graph = drawing(
        [START, LOGIN, *nodes, END], "start -> login", "login -> c0", *paths, "c189.true -> end", "c189.false -> end"
    )
    assert problems(graph) == []


IDS = st.sampled_from("abcde")
ANY_NODE = st.builds(lambda node_id, kind: {"id": node_id, "type": kind}, IDS, st.sampled_from([*NODE_TYPES, "Other"]))
ANY_EDGE = st.builds(
    lambda edge_id, source, target, output: {"id": edge_id, "source": source, "target": target, "sourceHandle": output},
    st.text(max_size=2), IDS, IDS, st.sampled_from([None, "", "next", "true", "low", "deny"]),
)  # fmt: skip


@given(st.lists(ANY_NODE, max_size=5), st.lists(ANY_EDGE, max_size=6))
def test_any_graph_is_judged(nodes: list[Any], edges: list[Any]) -> None:
    try:
        found = problems({"nodes": nodes, "edges": edges})
    except MalformedGraph as refused:
        found = [str(refused)]
    assert all(found)
