"""What a workflow tells a sign-in: to wait for something, or how it ends.

The runner maps each to what sign-ins have already: `FactorNeeded` to a required second factor, `ActionNeeded` and `RedirectNeeded` to a
required action, `Denied`, `Failed` and `MethodRefused` to a refusal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.contract.second_factors.challenge import FactorKind
from app.contract.workflows.nodes import (
    ClaimValue,
    ConsentNode,
    HttpCallNode,
    LoginNode,
    PasskeyLoginNode,
    ProfileFormNode,
    RegisterNode,
    TermsNode,
)

EntryNode = LoginNode | RegisterNode | PasskeyLoginNode
ActionNode = ConsentNode | ProfileFormNode | TermsNode


@dataclass(frozen=True)
class PassedNode:
    """A node that the sign-in passed, and the output where it went on."""

    node_id: str
    type: str
    output: str


@dataclass(frozen=True)
class SignInNeeded:
    """Nobody has signed in yet."""

    node: EntryNode


@dataclass(frozen=True)
class FactorNeeded:
    """The sign-in needs a second factor: one of these, or any where there are none."""

    factors: tuple[FactorKind, ...]


@dataclass(frozen=True)
class ActionNeeded:
    """The account must do something first."""

    node: ActionNode


@dataclass(frozen=True)
class CallNeeded:
    """A server must be asked; the answer is stored with the sign-in under the node's id."""

    node: HttpCallNode


@dataclass(frozen=True)
class RedirectNeeded:
    """The person must go to a page of the tenant, and come back with its result."""


@dataclass(frozen=True)
class Succeeded:
    """The sign-in may be completed; its tokens get the claims."""

    claims: Mapping[str, ClaimValue]


@dataclass(frozen=True)
class Denied:
    """The sign-in is refused. Without texts, in words of ours."""

    texts: Mapping[str, str]


@dataclass(frozen=True)
class Failed:
    """The sign-in ends without success. Without texts, in words of ours."""

    texts: Mapping[str, str]


@dataclass(frozen=True)
class MethodRefused:
    """The account signed in by a method that the workflow does not take."""

    methods: tuple[str, ...]


Need = SignInNeeded | FactorNeeded | ActionNeeded | CallNeeded | RedirectNeeded
Result = Succeeded | Denied | Failed | MethodRefused


@dataclass(frozen=True)
class Pause:
    """The sign-in waits at a node; a walk goes on from there."""

    node_id: str
    need: Need
    path: tuple[PassedNode, ...] = field(default=(), compare=False)
    """The nodes that this walk passed, for the audit log."""


@dataclass(frozen=True)
class Final:
    """The sign-in has come to an end at a node."""

    node_id: str
    result: Result
    path: tuple[PassedNode, ...] = field(default=(), compare=False)
