"""Whom a SAML provider signed in, for as long as the session: a sign-out at the provider names the person as it did."""

from __future__ import annotations

from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken


def remember(context: Context, session: BrowserSession, identity: ProviderIdentity) -> None:
    """Store the name of an identity that a SAML provider signed in; nothing for any other."""
    if identity.upstream_name:
        continuation_tokens.renew(
            context,
            ContinuationPurpose.SAML_SESSION,
            session.uid,
            session.session_id,
            session.expires_at - context.now,
            {"name": list(identity.upstream_name), "index": identity.upstream_session},
        )


def of_session(context: Context, session_id: str) -> ContinuationToken | None:
    """Return what was stored of a session."""
    return continuation_tokens.find(context, ContinuationPurpose.SAML_SESSION, session_id)
