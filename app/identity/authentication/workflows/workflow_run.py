"""How far a sign-in has come in its workflow, as pending sign-ins and sessions store it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from app.contract.second_factors.challenge import FactorKind

Decision = Literal["continue", "deny", "step_up", "redirect", "failed"]
MAX_PASSED: Final = 20
"""Workflows that a session remembers, the most recent ones; another one runs again."""


@dataclass(frozen=True)
class WaitingRedirect:
    """A page of the tenant to which the person is sent, and the nonce of the `state` with which they come back."""

    url: str
    nonce: str = field(repr=False)


@dataclass(frozen=True)
class RedirectResult:
    """The result with which the person came back: the texts of a denial by language, and what failed, for the next audit entry."""

    node: str
    texts: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True)
class WorkflowRun:
    """A sign-in in a workflow, at the version with which it began."""

    workflow_id: str
    version: int
    key: str = ""
    """The workflow, and what it compares of the request (`pass_keys.py`): what a session passed counts for the same key alone."""
    node: str | None = None
    """The node at which it waits for a second factor or an action; None before the first node, and after the last one."""
    is_passed: bool = False
    claims: Mapping[str, Any] = field(default_factory=dict)
    """The claims of tokens that its nodes set."""
    answers: Mapping[str, Decision] = field(default_factory=dict)
    """What servers decided, by node, so that no call is repeated."""
    profile: Mapping[str, str | None] = field(default_factory=dict)
    """The fields of the profile that they set, until these are written."""
    factors: tuple[FactorKind, ...] | None = None
    """The second factors that the node accepts, empty for all; None if it does not wait for one."""
    passed_factors: tuple[FactorKind, ...] = ()
    """The second factors that the sign-in passed."""
    uid: str = ""
    """The account that signs in; empty for a run that an older version stored."""
    redirect: WaitingRedirect | None = None
    """Of the node at which it waits, while its decision is `redirect`."""
    result: RedirectResult | None = None
    """Of the last page that the person came back from."""

    def with_factor(self, kind: FactorKind) -> WorkflowRun:
        """Return the run after a second factor."""
        return replace(self, passed_factors=tuple(dict.fromkeys((*self.passed_factors, kind))))

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> WorkflowRun:
        return _RUN.validate_python(stored)

    def to_stored(self) -> dict[str, Any]:
        stored: dict[str, Any] = _RUN.dump_python(self, mode="json", exclude_defaults=True)
        return stored


@dataclass(frozen=True)
class PassedWorkflow:
    """A workflow that a session passed."""

    version: int
    claims: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SessionWorkflows:
    """What a session, or a token that stands for one, knows of workflows."""

    passed: Mapping[str, PassedWorkflow] = field(default_factory=dict)
    """By the key of the run."""
    pending: WorkflowRun | None = None
    """A run that waits for an action: the session can do only that."""
    factors: tuple[FactorKind, ...] = ()
    """The second factors that were passed in a workflow."""

    @classmethod
    def of(cls, run: WorkflowRun | None) -> SessionWorkflows:
        """Return what the session of a sign-in knows."""
        return NO_WORKFLOWS.with_run(run) if run is not None else NO_WORKFLOWS

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any] | None) -> SessionWorkflows:
        return _SESSION.validate_python(stored) if stored else NO_WORKFLOWS

    def to_stored(self) -> dict[str, Any] | None:
        """Return the column's value; None where there is nothing to store."""
        stored: dict[str, Any] = _SESSION.dump_python(self, mode="json", exclude_defaults=True)
        return stored or None

    def with_run(self, run: WorkflowRun) -> SessionWorkflows:
        """Return the state after a run: passed, or pending."""
        factors = tuple(dict.fromkeys((*self.factors, *run.passed_factors)))
        if not run.is_passed:
            return replace(self, pending=run, factors=factors)
        others = [(key, item) for key, item in self.passed.items() if key != run.key]
        passed = dict([*others[1 - MAX_PASSED :], (run.key, PassedWorkflow(run.version, dict(run.claims)))])
        return SessionWorkflows(passed, factors=factors)

    def claims_of(self, key: str | None) -> Mapping[str, Any]:
        """Return the claims that a passed workflow set; none of another one."""
        passed = self.passed.get(key) if key is not None else None
        return passed.claims if passed is not None else {}


_RUN: Final = TypeAdapter(WorkflowRun)
_SESSION: Final = TypeAdapter(SessionWorkflows)
NO_WORKFLOWS: Final = SessionWorkflows()
"""Of a session that passed none."""
