"""Returns when the account of a token last authenticated."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import bindparam, select

from app.identity.authentication.sign_in.sessions.service import FEDERATED
from app.identity.authentication.sign_in.tables import sessions
from app.identity.platform.context import Context, TokenHolder

S = sessions.c
_AUTHENTICATION_TIMES = select(S.authenticated_at, S.created_at, S.methods).where(
    S.tenant_id == bindparam("tenant"),
    S.session_id == bindparam("session"),
    S.uid == bindparam("account"),
    S.expires_at > bindparam("now"),
)


def authenticated_at(context: Context, holder: TokenHolder) -> datetime | None:
    """Return when the account behind a token last authenticated; None where it is unknown (impersonation).

    This is the latest of the sign-in that the token was issued for, a step-up with a token of its family, and a
    sign-in or step-up of its browser session. A provider may sign a browser in silently, and an application can send
    browsers there by itself; so a federated sign-in counts only where it renewed a session, which requires a new
    authentication at the provider.
    """
    claims = holder.claims
    signed_in_at = None if claims.amr == (FEDERATED,) else claims.auth_time
    times = [datetime.fromtimestamp(at, UTC) for at in (signed_in_at, claims.stepped_up_at) if at is not None]
    session_id = holder.session_id or claims.sid
    if session_id is not None:
        parameters = {
            "tenant": context.tenant.tenant_id,
            "session": session_id,
            "account": holder.uid,
            "now": context.now,
        }
        times += [
            row.authenticated_at
            for row in context.work.run(_AUTHENTICATION_TIMES, parameters)
            if row.authenticated_at > row.created_at or row.methods != [FEDERATED]
        ]
    return max(times, default=None)
