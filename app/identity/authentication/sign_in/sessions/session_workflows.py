"""Stores how far a session has come in workflows."""

from __future__ import annotations

from dataclasses import replace

from app.identity.authentication.sign_in.sessions import session_store
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.workflows.workflow_run import WorkflowRun
from app.identity.platform.context import Context


def record_run(context: Context, session: BrowserSession, run: WorkflowRun) -> BrowserSession:
    """Record how far the session has come in a workflow, and return it."""
    workflows = session.workflows.with_run(run)
    if workflows != session.workflows:
        session_store.change(context, session.session_hash, {"workflows": workflows.to_stored()})
    return replace(session, workflows=workflows)
