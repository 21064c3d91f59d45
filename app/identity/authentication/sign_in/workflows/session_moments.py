"""Sessions as workflows judge them."""

from __future__ import annotations

from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.pending_sign_in import channel_for
from app.identity.authentication.sign_in.sessions import session_workflows
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.sign_in.workflows.sign_in_moment import SignInMoment
from app.identity.authentication.sign_in.workflows.sign_in_target import SignInTarget
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context


def moment_of(context: Context, account: Account, session: BrowserSession, target: SignInTarget) -> SignInMoment:
    """Return the sign-in of a session, for this target."""
    authentication = Authentication(session.methods, channel=channel_for(session.methods))
    return SignInMoment(
        context, account, authentication, target, began_at=session.authenticated_at, is_earlier=True,
        passed_factors=session_workflows.of(context, session).factors,
    )  # fmt: skip
