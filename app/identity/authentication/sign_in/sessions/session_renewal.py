"""Continues browser sessions after a reauthentication, under a new cookie."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.contract import errors
from app.identity.authentication.sign_in.sessions import session_store, sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.workflows.workflow_run import WorkflowRun
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform.context import Context
from app.kit import randomness


def renew(
    context: Context,
    session: BrowserSession,
    methods: tuple[str, ...],
    remember: bool,
    run: WorkflowRun | None = None,
    *,
    upstream: ProviderIdentity | None = None,
) -> tuple[BrowserSession, str] | None:
    """Continue a session after a reauthentication, and return it with its new cookie; None if it has ended since.

    Args:
        run: how far the reauthentication has come in its workflow.
        upstream: as in `start`; without one, what began the session stays.

    It lasts as long as a new one. Its public id stays, because relying parties know the session by it.
    """
    text, remembered = randomness.token(), remember or session.is_remembered
    renewed: dict[str, Any] = {
        "session_hash": randomness.digest(text),
        "methods": list(methods),
        "authenticated_at": context.now,
        "seen_at": context.now,
        "expires_at": context.now + sessions.lifetime_of(context, remembered),
        "is_remembered": remembered,
    }
    renewed |= {"upstream": session_store.upstream_value(upstream)} if upstream is not None else {}
    workflows = session.workflows.with_run(run) if run is not None else session.workflows
    stored = renewed if run is None else {**renewed, "workflows": workflows.to_stored()}
    if not session_store.change(context, session.session_hash, stored):
        return None
    sessions.end_in_browser(context, session.uid, except_id=session.session_id)
    return replace(session, **{**renewed, "methods": methods, "workflows": workflows}), text


def mark_reauthenticated(context: Context, session: BrowserSession, methods: tuple[str, ...] = ()) -> str:
    """Record a reauthentication in the session, and return its new cookie.

    Args:
        methods: the session's `amr` from now on, where it changes.

    The old cookie stops working; the public id stays, because relying parties know the session by it.
    Raises NotAuthenticated where the session ended meanwhile.
    """
    text = randomness.token()
    renewed: dict[str, Any] = {"session_hash": randomness.digest(text), "authenticated_at": context.now}
    renewed |= {"methods": list(methods)} if methods else {}
    if not session_store.change(context, session.session_hash, renewed):
        raise errors.NotAuthenticated
    return text
