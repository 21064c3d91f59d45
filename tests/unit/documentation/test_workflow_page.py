"""The page about workflows names every node, member and fact, and its example can run."""

from __future__ import annotations

import json
import re

from app.contract.workflows import conditions
from app.contract.workflows.facts import FACTS
from app.contract.workflows.graph import read_graph
from app.contract.workflows.graph_rules import problems_of
from app.contract.workflows.http_calls import TokenHookRequest, TokenHookResponse
from app.contract.workflows.nodes import NODE_TYPES, NodeData
from app.contract.workflows.token_hook import TokenHookMembers
from tools.pins.strings import ROOT

PAGE = (ROOT / "docs" / "workflows.md").read_text()


def cells(pattern: str) -> list[list[str]]:
    """Return the cells of the table rows that begin so."""
    return [re.findall(r"[^|]+", line) for line in PAGE.splitlines() if re.match(pattern, line)]


def test_page_has_each_node_with_its_members_and_outputs() -> None:
    rows = {re.findall(r"`(\w+)`", name)[0]: more for name, *more in cells(r"\| `[A-Z]\w+` \|")}
    assert rows.keys() == NODE_TYPES.keys()
    for name, kind in NODE_TYPES.items():
        members, outputs = (set(re.findall(r"`(\w+)`", cell)) for cell in rows[name][:2])
        assert members == kind.model_fields.keys() - NodeData.model_fields.keys(), name
        assert outputs == {*kind.outputs, *kind.optional_outputs}, name


def test_page_has_each_fact_with_its_type() -> None:
    rows = {name.strip(" `"): kind.strip() for name, kind, *_ in cells(r"\| `\w+\.\w+` \|")}
    assert rows == {name: fact.type.value for name, fact in FACTS.items()}


def test_examples_of_the_page_are_valid() -> None:
    workflow, *_, asking, hook, call = map(json.loads, re.findall(r"```json.*?\n(.*?)```", PAGE, re.DOTALL))
    assert problems_of(read_graph(workflow["Data"])) == []
    nodes = [{"id": "start", "type": "Start"}, {"id": "login", "type": "Login"}, asking]
    ends = [("start", "login"), ("login", asking["id"])]
    edges = [{"id": source, "source": source, "target": target} for source, target in ends]
    assert problems_of(read_graph({"nodes": nodes, "edges": edges})) == ["an edge from the output next of the node ask"]
    assert TokenHookMembers.model_validate(hook["TokenHook"]).model_dump(by_alias=True) == hook["TokenHook"]
    assert json.loads(TokenHookRequest.model_validate(call).to_json()) == call
    for answer in re.findall(r"`(\{\"Action\".*?\})`", PAGE):
        assert TokenHookResponse.model_validate_json(answer).action
    (expressions,) = re.findall(r"## Conditions\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    for line in expressions.splitlines():
        conditions.parse(line)
