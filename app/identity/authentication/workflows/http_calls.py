"""The calls of workflows: asks a tenant's server what a sign-in may do, within a deadline.

No call raises. A server that doesn't answer in time, or not as documented, fails the call, and the node's `on_failure` decides: an
answer is never guessed. Answers are kept per person for the time that the node states.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import ValidationError
from pydantic_core import to_json

from app.contract.workflows.http_calls import (
    DENY,
    MAX_ANSWER_BYTES,
    MAX_CLAIM_BYTES,
    CalledAccount,
    CalledSignIn,
    CalledWorkflow,
    CallRequest,
    CallResponse,
)
from app.contract.workflows.nodes import HttpCallNode
from app.identity.authentication.workflows import answered_profiles, call_signatures
from app.identity.authentication.workflows.walk import CallAnswer
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

_MAX_PROBLEM: Final = 200
_OK: Final = 200


@dataclass(frozen=True)
class CallStep:
    """A node of a workflow that calls."""

    workflow: CalledWorkflow
    node_id: str
    node: HttpCallNode


@dataclass(frozen=True)
class CallOutcome(CallAnswer):
    """What became of a call: the server's decision, or `failed`, and the texts that a refused person reads.

    Attributes:
        claims: of the tokens; only those that the node names.
        profile: fields to write, as `answered_profiles.write` takes them; empty for an answer that was kept.
        failure: `unavailable`, `status`, `malformed` or `undeclared` for a call that failed, else empty.
        problem: what failed, for the audit log: names, never values.
    """

    claims: Mapping[str, Any] = field(default_factory=dict)
    profile: Mapping[str, str | None] = field(default_factory=dict)
    failure: str = ""
    problem: str = ""
    milliseconds: int = 0
    is_cached: bool = False


class _CallFailed(Exception):
    """No usable answer."""

    def __init__(self, failure: str, problem: str) -> None:
        super().__init__(problem)
        self.failure, self.problem = failure, problem[:_MAX_PROBLEM]


def call(context: Context, step: CallStep, account: Account, sign_in: CalledSignIn) -> CallOutcome:
    """Return what the tenant's server decides about a sign-in, from its answer or from an earlier one that is still kept.

    Takes at most the node's `timeout_seconds`. Call it before the request writes anything, so that no transaction waits for the answer.
    """
    key = _key(context, step, account, sign_in)
    cached: CallOutcome | None = context.services.call_answers.find(key, context.now)
    if cached is not None:
        return cached
    began = monotonic()
    try:
        answer = _answer(step.node, _ask(context, step, account, sign_in))
        answered_profiles.check(context, answer.profile)
    except _CallFailed as failed:
        answer = _failed(failed.failure, failed.problem)
    except ApiError as refused:
        answer = _failed("malformed", f"Profile: {refused.message}")
    answer = replace(answer, milliseconds=round((monotonic() - began) * 1_000))
    if step.node.cache_seconds and not answer.failure:
        repeated = replace(answer, profile={}, milliseconds=0, is_cached=True)
        context.services.call_answers.keep(key, repeated, context.now, step.node.cache_seconds)
    return answer


def request_of(context: Context, step: CallStep, account: Account, sign_in: CalledSignIn) -> CallRequest:
    """Return what a call sends: of the profile, only the fields that the node names."""
    profile = profile_document.profile_of(account) if step.node.send else {}
    sent = {name: profile_document.field_of(profile, name) for name in step.node.send}
    return CallRequest(
        id=randomness.uid(), time=iso(context.now) or "", workflow=step.workflow, node=step.node_id,
        account=CalledAccount(**{**sent, "Uid": account.uid}), sign_in=sign_in,
    )  # fmt: skip


def _key(context: Context, step: CallStep, account: Account, sign_in: CalledSignIn) -> tuple[Any, ...]:
    """Return whom and what a kept answer is for: it says nothing about another application, or about a changed workflow."""
    workflow = step.workflow
    return context.tenant.tenant_id, account.uid, workflow.id, workflow.version, step.node_id, sign_in.client_id


def _ask(context: Context, step: CallStep, account: Account, sign_in: CalledSignIn) -> CallResponse:
    """Send the call and read its answer. Raises _CallFailed."""
    request = request_of(context, step, account, sign_in)
    body = request.to_json()
    headers = {
        "Content-Type": "application/json", "Accept": "application/json", "User-Agent": signatures.USER_AGENT,
        **call_signatures.headers(context, request.id, body, step.node.secret_name),
    }  # fmt: skip
    if not context.work.is_writing:
        context.work.release_connection()
    answer = _post(context, step.node, headers, body)
    if answer.status != _OK:
        raise _CallFailed("status", f"the status {answer.status}")
    try:
        return CallResponse.model_validate_json(answer.body)
    except ValidationError as problem:
        raise _CallFailed("malformed", _first_problem(problem)) from None


def _post(context: Context, node: HttpCallNode, headers: Mapping[str, str], body: bytes) -> TargetAnswer:
    """Post a call. Raises _CallFailed, at once for a server that did not answer several times in a row."""
    tenant_id, pauses = context.tenant.tenant_id, context.services.target_pauses
    target = tenant_id, urlsplit(node.url).netloc
    if pauses.is_paused(target, context.now):
        raise _CallFailed("unavailable", f"{target[1]} is left alone after {MAX_FAILURES} failures")
    limits = PostLimits(seconds=node.timeout_seconds, max_bytes=MAX_ANSWER_BYTES, slots=CALLS, owner=tenant_id)
    try:
        answer = target_posts.post(
            Resolver(context.services.settings.reachable_networks), node.url, headers, body, limits
        )
    except TargetUnavailable as problem:
        if problem.was_asked:
            pauses.record_failure(target, context.now)
        raise _CallFailed("unavailable", str(problem)) from None
    pauses.record_answer(target)
    return answer


def _answer(node: HttpCallNode, answer: CallResponse) -> CallOutcome:
    """Return what an answer decides. Raises _CallFailed for claims and fields that the node doesn't name."""
    for member, names, declared in (
        ("Claims", answer.claims, node.claims), ("Profile", answer.profile, node.profile_fields),
    ):  # fmt: skip
        if unknown := [name for name in names if name not in declared]:
            raise _CallFailed("undeclared", f"{member}.{unknown[0]}, which the node doesn't name")
    if len(to_json(answer.claims)) > MAX_CLAIM_BYTES:
        raise _CallFailed("malformed", f"Claims: more than {MAX_CLAIM_BYTES} bytes")
    texts = {**node.deny_text, **answer.text} if answer.action == DENY else {}
    return CallOutcome(answer.action, texts, answer.claims, answer.profile)


def _failed(failure: str, problem: str) -> CallOutcome:
    return CallOutcome("failed", failure=failure, problem=problem[:_MAX_PROBLEM])


def _first_problem(problem: ValidationError) -> str:
    """Return the member that is wrong and why, without its value."""
    first = problem.errors(include_url=False, include_input=False, include_context=False)[0]
    at = ".".join(str(part) for part in first["loc"] if isinstance(part, str))[:100]
    return f"{at}: {first['msg']}" if at else str(first["msg"])
