"""Step-up: tokens for an account that reauthenticated while signed in."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from app.contract.second_factors.step_up_operations import StepUpMethod, ValidationToken
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts.account import Account
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.kit.clock import iso

LIFETIME: Final = timedelta(minutes=5)


def issue(context: Context, account: Account, by: StepUpMethod) -> ValidationToken:
    """Return a new validation token, and record the step-up on the caller's access token."""
    tokens.record_reauthentication(context, context.token_holder)
    token = continuation_tokens.issue(
        context, ContinuationPurpose.STEP_UP, account.uid, lifetime=LIFETIME, facts={"by": by.value}
    )
    context.audit.record("step_up.passed", uid=account.uid, by=by.value)
    return ValidationToken(second_factor_validation_token=token.text, expire_in=iso(token.expires_at) or "")


def spend(context: Context, account: Account, text: str, by: StepUpMethod) -> bool:
    """Use a validation token if it belongs to the account and was issued for that method. Return whether it did; of concurrent
    calls one returns True.
    """
    token = continuation_tokens.find(context, ContinuationPurpose.STEP_UP, text)
    is_own = token is not None and token.uid == account.uid and token.facts["by"] == by.value
    is_usable = account.is_active and not account.is_deleted
    return token is not None and is_own and is_usable and continuation_tokens.spend(context, token)
