"""The call of a token hook, by the rules of the calls of workflows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.contract.workflows.http_calls import CalledAccount, TokenHookRequest, TokenHookResponse, WorkflowSignIn
from app.contract.workflows.token_hook import TokenHook
from app.identity.authentication.workflows import http_calls
from app.identity.authentication.workflows.http_calls import CallOutcome, CallSettings


@dataclass(frozen=True)
class TokenHookCall:
    """A `ServerCall` of `http_calls.py`."""

    hook: TokenHook

    @property
    def settings(self) -> CallSettings:
        return self.hook

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.hook,)

    def body(self, call_id: str, time: str, account: CalledAccount, sign_in: WorkflowSignIn) -> TokenHookRequest:
        return TokenHookRequest(id=call_id, time=time, account=account, sign_in=sign_in)

    def outcome(self, answer: bytes) -> CallOutcome:
        """Raises ValidationError, and CallFailed for claims that the hook doesn't name."""
        read = TokenHookResponse.model_validate_json(answer)
        http_calls.check_claims(read.claims, self.hook.claims)
        return CallOutcome(read.action, claims=read.claims)
