"""The calls of workflows and token hooks: asks a tenant's server about a sign-in, within a deadline.

A server that doesn't answer in time, or not as documented, fails the call without an exception, and the stated `on_failure` decides: an
answer is never guessed. Answers are kept per person for the stated time. No transaction waits for an answer (decision 0391).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from pydantic import ValidationError
from pydantic_core import to_json

from app.contract.workflows.http_calls import (
    DENY,
    MAX_ANSWER_BYTES,
    MAX_CLAIM_BYTES,
    REDIRECT,
    CalledAccount,
    CalledWorkflow,
    CallRequest,
    CallResponse,
    WorkflowSignIn,
)
from app.contract.workflows.nodes import HttpCallNode
from app.identity.authentication.workflows import answered_profiles, call_signatures
from app.identity.authentication.workflows.walk import CallAnswer
from app.identity.authentication.workflows.workflow_run import WaitingRedirect, WorkflowRun
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.profile import profile_document
from app.identity.platform.context import Context
from app.identity.platform.outbound import signatures, target_posts
from app.identity.platform.outbound.target_pauses import MAX_FAILURES
from app.identity.platform.outbound.target_posts import CALLS, PostLimits, TargetAnswer, TargetUnavailable
from app.kit import randomness
from app.kit.clock import iso, monotonic
from app.kit.operations.errors import ApiError
from app.kit.outbound.host_resolver import Resolver
from app.kit.web.urls import origin_of

_MAX_PROBLEM: Final = 200
_OK: Final = 200


class CallSettings(Protocol):
    """What a tenant states of a server that is asked: a node of a workflow, or a token hook."""

    @property
    def url(self) -> str: ...
    @property
    def timeout_seconds(self) -> int: ...
    @property
    def secret_name(self) -> str: ...
    @property
    def send(self) -> Collection[str]: ...
    @property
    def claims(self) -> Collection[str]: ...
    @property
    def cache_seconds(self) -> int: ...


class CallBody(Protocol):
    """What a call sends."""

    @property
    def id(self) -> str: ...
    def to_json(self) -> bytes: ...


class ServerCall(Protocol):
    """A call: its settings, what it sends, and how its answer is read."""

    @property
    def settings(self) -> CallSettings: ...

    @property
    def key(self) -> tuple[Any, ...]:
        """What a kept answer is for; another value, such as that of changed settings, finds none."""

    def body(self, call_id: str, time: str, account: CalledAccount, sign_in: WorkflowSignIn) -> CallBody: ...

    def outcome(self, answer: bytes) -> CallOutcome:
        """Read the answer. Raises ValidationError, CallFailed."""


@dataclass(frozen=True)
class CallStep:
    """A node of a workflow that calls."""

    workflow: CalledWorkflow
    node_id: str
    node: HttpCallNode

    @property
    def settings(self) -> CallSettings:
        return self.node

    @property
    def key(self) -> tuple[Any, ...]:
        settings = (
            self.node.model_dump_json()
        )  # a file may give a workflow the id of a deleted one, whose versions begin at 1 too
        return self.workflow.id, self.workflow.version, self.node_id, settings

    def body(self, call_id: str, time: str, account: CalledAccount, sign_in: WorkflowSignIn) -> CallRequest:
        return CallRequest(
            id=call_id, time=time, workflow=self.workflow, node=self.node_id, account=account, sign_in=sign_in
        )

    def outcome(self, answer: bytes) -> CallOutcome:
        """Raises ValidationError, and CallFailed for claims, fields and origins that the node doesn't name."""
        read, node = CallResponse.model_validate_json(answer), self.node
        check_claims(read.claims, node.claims)
        check_declared("Profile", read.profile, node.profile_fields)
        if read.url is not None and origin_of(read.url) not in node.redirect_origins:
            raise CallFailed("undeclared", "Url, whose origin the settings of the call don't name")
        texts = {**node.deny_text, **read.text} if read.action == DENY else {}
        return CallOutcome(read.action, texts, read.claims, read.profile, url=read.url or "")


@dataclass(frozen=True)
class CallOutcome(CallAnswer):
    """What became of a call: the server's decision, or `failed`, and the texts that a refused person reads.

    Attributes:
        claims: of the tokens; only those that the settings name.
        profile: fields to write, as `answered_profiles.write` takes them; empty for an answer that was kept.
        url: the page to which the person is sent, for `redirect`.
        failure: `unavailable`, `status`, `malformed` or `undeclared` for a call that failed, else empty.
        problem: what failed, for the audit log: names, never values.
    """

    claims: Mapping[str, Any] = field(default_factory=dict)
    profile: Mapping[str, str | None] = field(default_factory=dict)
    url: str = ""
    failure: str = ""
    problem: str = ""
    milliseconds: int = 0
    is_cached: bool = False


class CallFailed(Exception):
    """No usable answer; the parts are `failure` and `problem` of a CallOutcome."""

    def __init__(self, failure: str, problem: str) -> None:
        super().__init__(problem)
        self.failure, self.problem = failure, problem[:_MAX_PROBLEM]


def call(context: Context, step: ServerCall, account: Account, sign_in: WorkflowSignIn) -> CallOutcome:
    """Return what the tenant's server decides about a sign-in, from its answer or from an earlier one that is still kept.

    Takes at most the stated `timeout_seconds`. Raises StoreContended if another request changed meanwhile what this one had found.
    """
    key = _key(context, step, account, sign_in)
    cached: CallOutcome | None = context.services.call_answers.find(key, context.now)
    if cached is not None:
        return cached
    began = monotonic()
    answer = read_answer(context, step, lambda: _ask(context, step, account, sign_in))
    answer = replace(answer, milliseconds=round((monotonic() - began) * 1_000))
    if step.settings.cache_seconds and not answer.failure and answer.decision != REDIRECT:
        repeated = replace(answer, profile={}, milliseconds=0, is_cached=True)
        context.services.call_answers.keep(key, repeated, context.now, step.settings.cache_seconds)
    return answer


def read_answer(context: Context, step: ServerCall, answer: Callable[[], bytes]) -> CallOutcome:
    """Return what an answer decides, or the failure of one that can't be used.

    Args:
        answer: returns the content; raises CallFailed.
    """
    try:
        outcome = step.outcome(answer())
        answered_profiles.check(context, outcome.profile)
    except CallFailed as problem:
        return failed(problem.failure, problem.problem)
    except ValidationError as problem:
        return failed("malformed", _first_problem(problem))
    except ApiError as refused:
        return failed("malformed", f"Profile: {refused.message}")
    return outcome


def answered(run: WorkflowRun, node_id: str, outcome: CallOutcome) -> tuple[WorkflowRun, CallOutcome]:
    """Return the run with the answer at a node, and the answer that counts: it failed if the claims of all calls are too many."""
    if len(to_json({**run.claims, **outcome.claims})) > MAX_CLAIM_BYTES:
        outcome = failed("malformed", "Claims: too many of all calls together")
    changed = replace(
        run,
        answers={**run.answers, node_id: outcome.decision},
        claims={**run.claims, **outcome.claims},
        profile={**run.profile, **outcome.profile},
        redirect=WaitingRedirect(outcome.url, randomness.token(18)) if outcome.decision == REDIRECT else None,
    )
    return changed, outcome


def request_of(context: Context, step: ServerCall, account: Account, sign_in: WorkflowSignIn) -> CallBody:
    """Return what a call sends: of the profile, only the fields that `send` names."""
    names = step.settings.send
    profile = profile_document.profile_of(account) if names else {}
    sent = {name: profile_document.field_of(profile, name) for name in names}
    called = CalledAccount(**{**sent, "Uid": account.uid})
    return step.body(randomness.uid(), iso(context.now) or "", called, sign_in)


def check_claims(claims: Mapping[str, Any], declared: Collection[str]) -> None:
    """Refuse claims that are not declared, or that are too large for tokens. Raises CallFailed."""
    check_declared("Claims", claims, declared)
    if len(to_json(claims)) > MAX_CLAIM_BYTES:
        raise CallFailed("malformed", f"Claims: more than {MAX_CLAIM_BYTES} bytes")


def check_declared(member: str, names: Collection[str], declared: Collection[str]) -> None:
    """Refuse names that the tenant did not state. Raises CallFailed."""
    if unknown := [name for name in names if name not in declared]:
        raise CallFailed("undeclared", f"{member}.{unknown[0]}, which the settings of the call don't name")


def _key(context: Context, step: ServerCall, account: Account, sign_in: WorkflowSignIn) -> tuple[Any, ...]:
    """Return whom and what a kept answer is for: it says nothing about another application."""
    return context.tenant.tenant_id, account.uid, sign_in.client_id, type(step), *step.key


def _ask(context: Context, step: ServerCall, account: Account, sign_in: WorkflowSignIn) -> bytes:
    """Send the call and return its answer. Raises CallFailed."""
    request = request_of(context, step, account, sign_in)
    body = request.to_json()
    headers = {
        "Content-Type": "application/json", "Accept": "application/json", "User-Agent": signatures.USER_AGENT,
        **call_signatures.headers(context, request.id, body, step.settings.secret_name),
    }  # fmt: skip
    with context.work.suspended():
        answer = _post(context, step.settings, headers, body)
    if answer.status != _OK:
        raise CallFailed("status", f"the status {answer.status}")
    return answer.body


def _post(context: Context, settings: CallSettings, headers: Mapping[str, str], body: bytes) -> TargetAnswer:
    """Post a call. Raises CallFailed, at once for a server that did not answer several times in a row."""
    tenant_id, pauses = context.tenant.tenant_id, context.services.target_pauses
    target = tenant_id, urlsplit(settings.url).netloc
    if pauses.is_paused(target, context.now):
        raise CallFailed("unavailable", f"{target[1]} is left alone after {MAX_FAILURES} failures")
    limits = PostLimits(seconds=settings.timeout_seconds, max_bytes=MAX_ANSWER_BYTES, slots=CALLS, owner=tenant_id)
    try:
        answer = target_posts.post(
            Resolver(context.services.settings.reachable_networks), settings.url, headers, body, limits
        )
    except TargetUnavailable as problem:
        if problem.was_asked:
            pauses.record_failure(target, context.now)
        raise CallFailed("unavailable", str(problem)) from None
    pauses.record_answer(target)
    return answer


def failed(failure: str, problem: str) -> CallOutcome:
    """Return a call that failed; its problem may have names that the server chose, of which databases refuse some characters."""
    shown = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in problem[:_MAX_PROBLEM]
    )
    return CallOutcome("failed", failure=failure, problem=shown)


def _first_problem(problem: ValidationError) -> str:
    """Return the member that is wrong and why, without its value."""
    first = problem.errors(include_url=False, include_input=False, include_context=False)[0]
    at = ".".join(str(part) for part in first["loc"] if isinstance(part, str))[:100]
    return f"{at}: {first['msg']}" if at else str(first["msg"])
