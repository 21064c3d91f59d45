"""Passwords that are right and too old: a new one comes before the session."""

from __future__ import annotations

from app.contract.hub import Next, Step
from app.identity.authentication.recovery import sending
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.second_factor import Authentication
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context

REASON = "expired"


def step(
    context: Context, account: Account, interaction: Interaction | None, authentication: Authentication
) -> Next | None:
    """Return the step of somebody whose password is too old; None where it is not."""
    if account.password_expires_at is None or account.password_expires_at > context.now:
        return None
    token = sending.create_page_token(
        context, account, reason=REASON, remember=authentication.remember, methods=list(authentication.methods)
    )
    context.audit.record("password.expired", uid=account.uid)
    return Next(step=Step.NEW_PASSWORD, attempt=interaction.interaction_id if interaction else None, address=token)
