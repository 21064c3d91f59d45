"""The rules of a workflow's graph as a whole: one start, one sign-in on each path, no loop, and every path ends."""

from __future__ import annotations

from collections.abc import Iterator

from app.contract.workflows.graph import Graph, Node
from app.contract.workflows.nodes import ConditionNode, NodeData, StartNode


def problems_of(graph: Graph) -> list[str]:
    """Return what a graph contradicts, each as the expected value; empty for one that can run.

    Later rules assume what earlier ones checked, so that a loop is not also reported as a path without an end.
    """
    first = [*_foreign(graph), *graph.problems, *_starts(graph), *_open_outputs(graph)]
    if first:
        return first
    if loop := _loop(graph):
        return [f"no loop; found one through the nodes {_named(loop)}"]
    return [*_unreachable(graph), *_entries(graph)]


def _foreign(graph: Graph) -> Iterator[str]:
    for node in graph.foreign_nodes:
        yield f"a type of Gatehouse in the node {node.id}; found {node.type}"


def _starts(graph: Graph) -> Iterator[str]:
    starts = graph.starts
    if len(starts) != 1:
        yield f"one node of the type Start; found {len(starts)}"
    for node_id in graph.nodes:
        for target in graph.targets(node_id):
            if isinstance(graph.nodes[target].data, StartNode):
                yield f"no edge to the Start node {target}; {node_id} has one"


def _open_outputs(graph: Graph) -> Iterator[str]:
    for node in graph.nodes.values():
        for output in node.outputs:
            if output not in graph.outputs[node.id]:
                yield f"an edge from the output {output} of the node {node.id}"


def _loop(graph: Graph) -> list[str]:
    """Return the nodes of a loop, or nothing. No recursion: a path may have 200 nodes."""
    done: set[str] = set()
    for first in graph.nodes:
        path: list[str] = []
        on_path: set[str] = set()
        waiting: list[tuple[str, bool]] = [(first, False)]
        while waiting:
            node_id, is_left = waiting.pop()
            if is_left:
                on_path.discard(path.pop())
                done.add(node_id)
            elif node_id in on_path:
                return path[path.index(node_id) :]
            elif node_id not in done:
                path.append(node_id)
                on_path.add(node_id)
                waiting += [(node_id, True), *((target, False) for target in graph.targets(node_id))]
    return []


def _unreachable(graph: Graph) -> Iterator[str]:
    reached: set[str] = set()
    waiting = [node.id for node in graph.starts]
    while waiting:
        node_id = waiting.pop()
        if node_id not in reached:
            reached.add(node_id)
            waiting += graph.targets(node_id)
    if left := [node_id for node_id in graph.nodes if node_id not in reached]:
        yield f"a way from Start to each node; there is none to {_named(left)}"


def _entries(graph: Graph) -> Iterator[str]:
    """Yield the problems of nodes that know the account too late or twice, each node once."""
    before: dict[str, set[bool]] = {node_id: set() for node_id in graph.nodes}
    waiting = [(node.id, False) for node in graph.starts]
    while waiting:
        node_id, has_account = waiting.pop()
        if has_account in before[node_id]:
            continue
        before[node_id].add(has_account)
        data = graph.nodes[node_id].data
        after = has_account or (data is not None and data.is_entry)
        waiting += [(target, after) for target in graph.targets(node_id)]
    for node in graph.nodes.values():
        if node.data is not None and (sentence := _misplaced(node, node.data, before[node.id])):
            yield sentence


def _misplaced(node: Node, data: NodeData, before: set[bool]) -> str:
    if data.is_entry:
        return f"one sign-in on each path; {node.id} is another" if True in before else ""
    if not data.needs_account or False not in before:
        return ""
    if isinstance(data, ConditionNode):
        return f"only facts of the request before a sign-in; {node.id} has others"
    return f"Login, Register or PasskeyLogin before the node {node.id}"


def _named(node_ids: list[str]) -> str:
    shown = node_ids[:10]
    return ", ".join(shown) + (f" and {len(node_ids) - 10} more" if len(node_ids) > len(shown) else "")
