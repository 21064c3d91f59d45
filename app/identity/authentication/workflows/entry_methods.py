"""The methods that the entries of a workflow take, beside those that the tenant offers."""

from __future__ import annotations

from collections.abc import Collection

from app.contract.tenants.settings import TenantSettings
from app.contract.workflows.graph import Graph
from app.contract.workflows.nodes import LoginNode, PasskeyLoginNode
from app.identity.authentication.workflows.walk_results import EntryNode
from app.identity.directory.organizations import sign_in_methods


def methods_of(entry: EntryNode) -> tuple[str, ...]:
    """Return the methods that an entry takes; none for all. A registration takes the sign-in of who has an account by all."""
    if isinstance(entry, PasskeyLoginNode):
        return (sign_in_methods.PASSKEY,)
    return entry.methods if isinstance(entry, LoginNode) else ()


def can_begin(settings: TenantSettings, methods: Collection[str]) -> bool:
    """Return whether a sign-in can begin with one of the methods, or with any where there are none. A PIN only renews a session."""
    return not methods or bool(sign_in_methods.offered(settings).intersection(methods) - {sign_in_methods.PIN})


def lockout(graph: Graph, settings: TenantSettings) -> str:
    """Return what keeps every sign-in from beginning, as the expected value; empty if one entry takes a method that is offered.

    A graph without an entry turns people away by what it says, not by an oversight.
    """
    entries = [(node.id, methods_of(node.data)) for node in graph.nodes.values() if isinstance(node.data, EntryNode)]
    if not entries or any(can_begin(settings, methods) for _, methods in entries):
        return ""
    node_id, methods = entries[0]
    return f"a sign-in method that the tenant offers in the node {node_id}; found only {', '.join(methods)}"
