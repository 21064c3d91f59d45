"""Reads drafts of workflows, which are tried before they are stored."""

from __future__ import annotations

from typing import Any

from app.identity.authentication.workflows.workflow import RunnableWorkflow, read_workflow


def read_draft(data: dict[str, Any]) -> RunnableWorkflow:
    """Return the workflow of a graph. Raises NotRunnable for one that sign-ins couldn't follow."""
    return read_workflow("", {"name": "", "data": data})
