"""Stores how far a session has come in workflows."""

from __future__ import annotations

from collections.abc import Callable
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


def change_pending(
    context: Context, session: BrowserSession, change: Callable[[WorkflowRun | None], WorkflowRun | None]
) -> bool:
    """Change the run that waits, under a lock until the commit. Return False where the session ended, or `change` returns None."""
    stored = session_store.lock_workflows(context, session.session_hash)
    current = replace(session, workflows=SessionWorkflows.from_stored(stored))
    changed = change(current.workflows.pending)
    if changed is None:
        return False
    record_run(context, current, changed)
    return True


def of(context: Context, session: BrowserSession) -> SessionWorkflows:
    """Return how far the session has come, by what this request recorded since it read the session."""
    recorded: SessionWorkflows | None = context.remembered.get(f"{_KEY} {session.session_id}")
    return recorded or session.workflows
