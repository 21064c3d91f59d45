"""What a sign-in of a program leaves behind for the next one by PIN: `session_token` (interface user.md rows U46 and U67)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from app.contract import errors as e
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.kit.clock import iso


def issue_session(context: Context, uid: str, kind: str) -> dict[str, Any]:
    """Return the members of a login that say it; none where the tenant has no sign-ins by PIN. `kind`: as of `Way`."""
    rules = context.tenant.settings.pin
    if not (rules.is_on and rules.login):
        return {}
    lasts = timedelta(minutes=rules.session_minutes)
    made = continuation_tokens.issue(
        context, ContinuationPurpose.PIN_SESSION, uid, lifetime=lasts, facts={"kind": kind}
    )
    return {"session_token": made.text, "session_expires_in": iso(made.expires_at)}


def find_session(context: Context, token: str | None) -> ContinuationToken:
    """Return the session of that token. Raises BadParameter for none, UnknownSessionToken, ExpiredSessionToken."""
    if not token:
        raise e.BadParameter.names("session_token")
    found = continuation_tokens.find(context, ContinuationPurpose.PIN_SESSION, token)
    if found is None:
        raise e.UnknownSessionToken
    if found.is_expired(context.now):
        raise e.ExpiredSessionToken
    return found


def spend_session(context: Context, session: ContinuationToken) -> None:
    """Use a session up. Of many at once one wins; raises UnknownSessionToken."""
    if not continuation_tokens.spend(context, session):
        raise e.UnknownSessionToken
