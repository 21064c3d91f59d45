"""Whom a SAML provider signed in, for as long as the session: a sign-out at the provider names the person as it did."""

from __future__ import annotations

from dataclasses import replace

from app.identity.authentication.sign_in.sessions import session_store
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken


def remember(context: Context, session: BrowserSession, identity: ProviderIdentity, *, is_new: bool) -> None:
    """Store the name of an identity that a SAML provider signed in; nothing for any other.

    Args:
        is_new: whether the session has just begun, so that nothing is stored of it.
    """
    if not identity.upstream_name:
        return
    purpose, lifetime = ContinuationPurpose.SAML_SESSION, session.expires_at - context.now
    facts = {"name": list(identity.upstream_name), "index": identity.upstream_session}
    if is_new:
        continuation_tokens.issue(
            context, purpose, session.uid, lifetime=lifetime, facts=facts, text=session.session_id
        )
    else:
        continuation_tokens.renew(context, purpose, session.uid, session.session_id, lifetime, facts)


def continue_session(context: Context, session: BrowserSession, identity: ProviderIdentity) -> BrowserSession:
    """Return the account's session, which a silent sign-in by an organization's provider now belongs to, too."""
    upstream = session_store.upstream_value(identity)
    session_store.change(context, session.session_hash, {"upstream": upstream})
    remember(context, session, identity, is_new=False)
    return replace(session, upstream=upstream)


def of_session(context: Context, session_id: str) -> ContinuationToken | None:
    """Return what was stored of a session."""
    return continuation_tokens.find(context, ContinuationPurpose.SAML_SESSION, session_id)
