"""Where a sign-in goes in a workflow: each type of node, and each answer of a server."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.contract.second_factors.challenge import FactorKind
from app.contract.workflows.nodes import ConsentNode, ProfileFormNode, TermsNode
from app.identity.authentication.workflows.walk import CallAnswer, walk
from app.identity.authentication.workflows.walk_results import (
    ActionNeeded,
    CallNeeded,
    Denied,
    FactorNeeded,
    Failed,
    Final,
    MethodRefused,
    Pause,
    SignInNeeded,
    Succeeded,
)
from app.identity.authentication.workflows.workflow import NotRunnable, RunnableWorkflow, WorkflowCache, read_workflow
from app.identity.platform.resource_storage.items import Item
from tests.support.workflows.drawings import Drawing, branching, drawing, node, sequence

START, LOGIN, END = node("start", "Start"), node("login", "Login"), node("end", "SuccessFinalNode")
NO = node("no", "Deny", text={"en": "No."})
TOTP, SMS = FactorKind.TOTP, FactorKind.SMS


@dataclass
class KnownState:
    """A sign-in of which everything is known beforehand."""

    method: str | None = "password"
    facts: dict[str, object] = field(default_factory=dict)
    factors: tuple[FactorKind, ...] = ()
    done: bool = False
    answers: Mapping[str, CallAnswer] = field(default_factory=dict)

    def has_factor(self, factors: Collection[FactorKind]) -> bool:
        return bool(self.factors) if not factors else not set(factors).isdisjoint(self.factors)

    def is_done(self, action: ConsentNode | ProfileFormNode | TermsNode) -> bool:
        return self.done

    def answer_at(self, node_id: str) -> CallAnswer | None:
        return self.answers.get(node_id)


def read(data: Drawing) -> RunnableWorkflow:
    return read_workflow("w1", {"name": "Flow", "data": data, "version": 1})


def walked(data: Drawing, **known: Any) -> Any:
    """Return what a whole walk comes to: the need of a pause, or the result."""
    workflow = read(data)
    found = walk(workflow, workflow.start.id, KnownState(**known))
    return found.need if isinstance(found, Pause) else found.result


def test_walk_waits_for_a_sign_in() -> None:
    assert isinstance(walked(sequence(), method=None), SignInNeeded)
    assert walked(sequence()) == Succeeded({})


@pytest.mark.parametrize(
    ("entry", "method", "refused"),
    [
        (node("login", "Login", methods=["passkey", "connection"]), "password", ("passkey", "connection")),
        (node("login", "Login", methods=["passkey", "connection"]), "connection", None),
        (node("login", "PasskeyLogin"), "password", ("passkey",)),
        (node("login", "PasskeyLogin"), "passkey", None),
        (node("login", "Register"), "password", None),
    ],
)
def test_entry_takes_its_methods_alone(entry: Drawing, method: str, refused: tuple[str, ...] | None) -> None:
    found = walked(drawing([START, entry, END], "start -> login", "login -> end"), method=method)
    assert found == (Succeeded({}) if refused is None else MethodRefused(refused))


@pytest.mark.parametrize(
    ("demanded", "passed", "goes_on"),
    [([], (), False), ([], (SMS,), True), (["totp"], (SMS,), False), (["totp", "sms"], (SMS,), True)],
)
def test_second_factor_is_needed_unless_passed(
    demanded: list[str], passed: tuple[FactorKind, ...], *, goes_on: bool
) -> None:
    found = walked(sequence(node("mfa", "MFA", factors=demanded)), factors=passed)
    assert found == (Succeeded({}) if goes_on else FactorNeeded(tuple(FactorKind(item) for item in demanded)))


@pytest.mark.parametrize(
    "action", [node("a", "Consent"), node("a", "Terms"), node("a", "ProfileForm", fields=["first_name"])]
)
def test_action_is_needed_unless_done(action: Drawing) -> None:
    found = walked(sequence(action))
    assert isinstance(found, ActionNeeded)
    assert type(found.node).__name__ == f"{action['type']}Node"
    assert walked(sequence(action), done=True) == Succeeded({})


def test_condition_chooses_its_output() -> None:
    assert walked(branching(), facts={"account.created_days_ago": 3}) == Denied({"en": "Come back next week."})
    assert walked(branching(), facts={"account.created_days_ago": 8}) == Succeeded({})
    assert walked(branching()) == Succeeded({})


@pytest.mark.parametrize(
    ("new", "result"),
    [
        ((), Succeeded({})),
        (("city",), Failed({})),
        (("ip",), Succeeded({})),
        (("country",), Denied({"en": "No."})),
        (("country", "device"), Denied({"en": "No."})),
    ],
)
def test_risk_is_judged_by_new_signals(new: tuple[str, ...], result: object) -> None:
    nodes = [START, LOGIN, node("risk", "Risk"), END, NO, node("off", "FailureFinalNode")]
    data = drawing(nodes, "start -> login", "login -> risk", "risk.low -> end", "risk.medium -> off", "risk.high -> no")
    assert walked(data, facts={f"sign_in.is_new_{signal}": True for signal in new}) == result


def called(answer: CallAnswer | None, *paths: str, factors: tuple[FactorKind, ...] = (), **data: Any) -> Any:
    """Return what a call with this answer comes to; `paths` are its further edges."""
    call = node("call", "HttpCall", **{"url": "https://a.example", "on_failure": "deny", **data})
    nodes = [START, LOGIN, call, END, *([NO] if paths else [])]
    graph = drawing(nodes, "start -> login", "login -> call", "call -> end", *paths)
    return walked(graph, answers={"call": answer} if answer else {}, factors=factors)


def test_call_is_needed_until_it_was_answered() -> None:
    assert isinstance(called(None), CallNeeded)
    assert called(CallAnswer("continue")) == Succeeded({})


def test_denial_of_a_server_ends_or_leads_to_its_edge() -> None:
    assert called(CallAnswer("deny", {"en": "Too young."})) == Denied({"en": "Too young."})
    assert called(CallAnswer("deny"), deny_text={"en": "Sorry."}) == Denied({"en": "Sorry."})
    assert called(CallAnswer("deny", {"en": "Too young."}), "call.deny -> no") == Denied({"en": "No."})


def test_server_can_demand_a_second_factor() -> None:
    assert called(CallAnswer("step_up")) == FactorNeeded(())
    assert called(CallAnswer("step_up"), factors=(TOTP,)) == Succeeded({})


@pytest.mark.parametrize(
    ("default", "result"),
    [("continue", Succeeded({})), ("deny", Denied({"en": "Sorry."})), ("step_up", FactorNeeded(()))],
)
def test_failed_call_has_the_default_of_its_node(default: str, result: object) -> None:
    assert called(CallAnswer("failed"), on_failure=default, deny_text={"en": "Sorry."}) == result
    assert called(CallAnswer("failed"), "call.failure -> no", on_failure=default) == Denied({"en": "No."})


def test_final_nodes_have_their_claims_and_texts() -> None:
    nodes = [START, LOGIN, node("end", "SuccessFinalNode", claims={"tier": "gold", "score": 3})]
    assert walked(drawing(nodes, "start -> login", "login -> end")) == Succeeded({"tier": "gold", "score": 3})
    nodes[-1] = node("end", "FailureFinalNode", text={"en": "Later."})
    assert walked(drawing(nodes, "start -> login", "login -> end")) == Failed({"en": "Later."})


def test_walk_goes_on_where_it_paused_with_its_path() -> None:
    workflow = read(sequence(node("mfa", "MFA"), node("terms", "Terms")))
    first = walk(workflow, workflow.start.id, KnownState())
    assert isinstance(first, Pause)
    assert (first.node_id, [item.node_id for item in first.path]) == ("mfa", ["start", "login"])
    second = walk(workflow, first.node_id, KnownState(factors=(TOTP,), done=True))
    assert isinstance(second, Final)
    assert [(item.node_id, item.type, item.output) for item in second.path] == [
        ("mfa", "MFA", "next"),
        ("terms", "Terms", "next"),
    ]


@given(st.lists(st.booleans(), min_size=40, max_size=40), st.booleans())
def test_any_walk_of_a_large_graph_ends(ends: list[bool], is_new: bool) -> None:
    nodes = [node(f"c{number}", "Condition", expression="account.has_passkey") for number in range(40)]
    paths = []
    for number, ends_here in enumerate(ends):
        after = f"c{number + 1}" if number < 39 else "end"
        paths += [f"c{number}.true -> {after}", f"c{number}.false -> {'end' if ends_here else after}"]
    data = drawing([START, LOGIN, *nodes, END], "start -> login", "login -> c0", *paths)
    assert walked(data, facts={"account.has_passkey": is_new}) == Succeeded({})


@pytest.mark.parametrize(
    "data",
    [drawing([node("a", "Begin")]), drawing([START, LOGIN], "start -> login"), drawing([START, node("x", "Deny")])],
)
def test_workflow_that_cannot_run_is_never_followed(data: Drawing) -> None:
    with pytest.raises(NotRunnable):
        read(data)


def item(data: Drawing, version: int = 1, second: int = 0) -> Item:
    written_at = datetime(2027, 1, 1, 0, 0, second, tzinfo=UTC)
    return Item(("w1",), {"name": "Flow", "data": data, "version": version}, modified_at=written_at)


def test_cache_parses_each_version_of_each_tenant_once() -> None:
    cache = WorkflowCache()
    first = cache.of_item("acme", item(sequence()))
    assert cache.of_item("acme", item(sequence())) is first
    assert cache.of_item("globex", item(branching())).graph.nodes.keys() != first.graph.nodes.keys()
    assert cache.of_item("acme", item(branching(), 2)).version == 2
    assert cache.of_item("acme", item(branching(), 1, second=5)).graph.nodes.keys() != first.graph.nodes.keys()


def test_workflow_runs_on_refresh_only_with_the_switch() -> None:
    assert read(sequence()).runs_on_refresh is False
    data = drawing([node("start", "Start", on_refresh=True), LOGIN, END], "start -> login", "login -> end")
    assert read(data).runs_on_refresh is True
