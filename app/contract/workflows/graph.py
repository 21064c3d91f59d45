"""Reads the graph of a workflow as an editor stores it. Members that Gatehouse doesn't know stay as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from app.contract.workflows.nodes import NEXT, NODE_TYPES, NodeData, StartNode

MAX_NODES: Final = 200
MAX_EDGES: Final = 400
MAX_BYTES: Final = 256 * 1024
MAX_DEPTH: Final = 30
_ID: Final = r"^[^\x00-\x1f\x7f]{1,200}$"
NodeId = Annotated[str, Field(pattern=_ID)]


class MalformedGraph(ValueError):
    """The graph can't be read; the message has the expected form."""


class _AsDrawn(BaseModel):
    """A part of a graph; `extra` belongs to editors."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class DrawnNode(_AsDrawn):
    id: NodeId
    type: Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]{1,100}$")]
    data: dict[str, Any] | None = None


class DrawnEdge(_AsDrawn):
    id: NodeId
    source: NodeId
    source_handle: Annotated[str | None, Field(alias="sourceHandle", max_length=100)] = None
    target: NodeId


class Drawing(_AsDrawn):
    nodes: Annotated[list[DrawnNode], Field(min_length=1, max_length=MAX_NODES)]
    edges: Annotated[list[DrawnEdge], Field(max_length=MAX_EDGES)]


@dataclass(frozen=True)
class Node:
    """A node. `data` is None for a type that Gatehouse doesn't have."""

    id: str
    type: str
    data: NodeData | None

    @property
    def outputs(self) -> tuple[str, ...]:
        """The outputs that must lead somewhere."""
        return self.data.outputs if self.data is not None else ()

    @property
    def is_foreign(self) -> bool:
        return self.data is None


@dataclass(frozen=True)
class Graph:
    """The nodes by id, and where each of their outputs leads."""

    nodes: Mapping[str, Node]
    outputs: Mapping[str, Mapping[str, str]]
    """By node: the id of the next node by output."""
    problems: tuple[str, ...] = field(default=())
    """What the edges contradict, as expected values."""

    @property
    def foreign_nodes(self) -> list[Node]:
        return [node for node in self.nodes.values() if node.is_foreign]

    @property
    def starts(self) -> list[Node]:
        return [node for node in self.nodes.values() if isinstance(node.data, StartNode)]

    def targets(self, node_id: str) -> Iterator[str]:
        """Yield where a node's outputs lead."""
        yield from self.outputs.get(node_id, {}).values()


def read_graph(data: Mapping[str, Any]) -> Graph:
    """Return the graph of `Data`. Raises MalformedGraph for one that can't be stored at all."""
    _refuse_oversized(data)
    try:
        drawing = Drawing.model_validate(data)
    except ValidationError as problem:
        raise MalformedGraph(_sentence(problem)) from None
    nodes: dict[str, Node] = {}
    for drawn in drawing.nodes:
        if drawn.id in nodes:
            raise MalformedGraph(f"each id of a node once; found {drawn.id} twice")
        nodes[drawn.id] = Node(drawn.id, drawn.type, _node_data(drawn))
    outputs, problems = _outputs(drawing, nodes)
    return Graph(nodes, outputs, problems)


def _node_data(drawn: DrawnNode) -> NodeData | None:
    kind = NODE_TYPES.get(drawn.type)
    if kind is None:
        return None
    try:
        return kind.model_validate(drawn.data or {})
    except ValidationError as problem:
        raise MalformedGraph(f"valid data of the {drawn.type} node {drawn.id}: {_sentence(problem)}") from None


def _outputs(drawing: Drawing, nodes: Mapping[str, Node]) -> tuple[dict[str, dict[str, str]], tuple[str, ...]]:
    """Return the outputs, and the problems of edges that leave an output twice or one that the node does not have.

    Raises MalformedGraph for an edge from or to no node, and for an id of two edges.
    """
    outputs: dict[str, dict[str, str]] = {node_id: {} for node_id in nodes}
    problems: list[str] = []
    ids: set[str] = set()
    for edge in drawing.edges:
        if edge.id in ids:
            raise MalformedGraph(f"each id of an edge once; found {edge.id} twice")
        ids.add(edge.id)
        for end in (edge.source, edge.target):
            if end not in nodes:
                raise MalformedGraph(f"edges between nodes; the edge {edge.id} has {end}, which is none")
        output, data = edge.source_handle or NEXT, nodes[edge.source].data
        if data is not None and output not in (*data.outputs, *data.optional_outputs):
            problems.append(_no_such_output(edge, output, nodes[edge.source]))
        elif output in outputs[edge.source]:
            problems.append(f"one edge from the output {output} of the node {edge.source}; {edge.id} is another")
        else:
            outputs[edge.source][output] = edge.target
    return outputs, tuple(problems)


def _no_such_output(edge: DrawnEdge, output: str, node: Node) -> str:
    data = node.data
    known = (*data.outputs, *data.optional_outputs) if data is not None else ()
    has = f"the outputs {', '.join(known)}" if known else "no output"
    return f"an output of the node {node.id} as the sourceHandle of the edge {edge.id}; found {output}, and the node has {has}"


def _refuse_oversized(data: Mapping[str, Any]) -> None:
    waiting: list[tuple[Any, int]] = [(data, 1)]
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, dict | list):
            if depth > MAX_DEPTH:
                raise MalformedGraph(f"at most {MAX_DEPTH} levels of members")
            waiting += [(inner, depth + 1) for inner in (item.values() if isinstance(item, dict) else item)]
    if len(to_json(data)) > MAX_BYTES:
        raise MalformedGraph(f"at most {MAX_BYTES} bytes")


def _sentence(problem: ValidationError) -> str:
    """Return the first problem with the member that has it."""
    first = problem.errors(include_url=False, include_input=False)[0]
    at = ".".join(str(part)[:100] for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"no member {at}"
    text = str(first["msg"]).removeprefix("Value error, ")
    return f"{at}: {text}" if at else text
