"""The token hook in force for an application, which is asked before the application gets tokens of a person."""

from __future__ import annotations

from typing import Any

from app.contract.workflows.http_calls import CONTINUE
from app.contract.workflows.token_hook import TokenHook
from app.identity.authentication.sign_in.workflows.sign_in_moment import SignInMoment
from app.identity.authentication.workflows import http_calls
from app.identity.authentication.workflows.token_hook_call import TokenHookCall
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application


class TokenHookDenied(Exception):
    """The tenant's server denies the tokens, or didn't answer where the hook says to deny then."""


def hook_in_force(context: Context, client: Application) -> TokenHook | None:
    """Return the application's hook, else the tenant's."""
    return client.settings.token_hook or context.tenant.settings.token_hook


def ask(hook: TokenHook, moment: SignInMoment) -> dict[str, Any]:
    """Return the claims of tokens of this account for this application. A new answer leaves an audit entry, as does each denial.

    Raises TokenHookDenied.
    """
    answer = http_calls.call(moment.context, TokenHookCall(hook), moment.account, moment.called)
    decision = hook.on_failure if answer.failure else answer.decision
    is_denied = decision != CONTINUE
    if is_denied or not answer.is_cached:
        failed = {"failure": f"{answer.failure}: {answer.problem}"} if answer.failure else {}
        moment.context.audit.record(
            "token_hook.run",
            uid=moment.account.uid,
            client_id=moment.called.client_id,
            outcome="denied" if is_denied else "passed",
            milliseconds=answer.milliseconds,
            **failed,
        )
    if is_denied:
        raise TokenHookDenied
    return dict(answer.claims)
