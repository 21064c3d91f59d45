"""Stores how far a session has come in workflows."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from app.identity.authentication.sign_in.sessions import session_store
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.workflows.workflow_run import SessionWorkflows, WorkflowRun
from app.identity.platform.context import Context

_KEY: Final = "session workflows"


def record_run(context: Context, session: BrowserSession, run: WorkflowRun) -> BrowserSession:
    """Record how far the session has come in a workflow, and return it."""
    workflows = of(context, session).with_run(run)
    if workflows != session.workflows:
        session_store.change(context, session.session_hash, {"workflows": workflows.to_stored()})
    context.remembered[f"{_KEY} {session.session_id}"] = workflows
    return replace(session, workflows=workflows)


def of(context: Context, session: BrowserSession) -> SessionWorkflows:
    """Return how far the session has come, by what this request recorded since it read the session."""
    recorded: SessionWorkflows | None = context.remembered.get(f"{_KEY} {session.session_id}")
    return recorded or session.workflows
