"""The operation that tries a draft of a workflow."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from app.contract import errors
from app.contract.configuration_model import instant
from app.contract.workflows import workflow_trials
from app.contract.workflows.workflow_trials import DEFAULT_DAYS, MAX_SIGN_INS, TryWorkflow, WorkflowTrial
from app.identity.administration.workflows.drafts import read_draft
from app.identity.administration.workflows.rehearsal import rehearsal
from app.identity.administration.workflows.rehearsal.rehearsal import Rehearsal, Span
from app.identity.authentication.workflows.workflow import NotRunnable
from app.identity.platform import powers
from app.identity.platform.context import Context
from app.identity.platform.powers import Power
from app.kit.limits.rate_limits import Rate

_FIRST: Final = datetime(1970, 2, 1, tzinfo=UTC)
_RATE: Final = Rate(20, 60)
_READS_ACCOUNTS: Final = Power("profile:read", "a draft that compares facts of accounts")


@workflow_trials.try_workflow.implements
def try_workflow(context: Context, req: TryWorkflow) -> WorkflowTrial:
    try:
        draft = read_draft(req.data)
    except NotRunnable as problem:
        raise errors.BadField(f"Data: expected {problem}.") from None
    if rehearsal.compares_accounts(draft):
        powers.require_powers(context, [_READS_ACCOUNTS])
    span = _span(context.now, req)
    context.count_against("workflow_trial", _RATE)
    return Rehearsal(context, draft, req.assume_calls).run(span)


def _span(now: datetime, req: TryWorkflow) -> Span:
    """Return the time of the sign-ins, as far as it can have any. Raises BadField for one that ends before it begins."""
    until = min(instant(req.until), now) if req.until is not None else now
    if until <= _FIRST:
        raise errors.BadField("Until: expected a moment after 1970.")
    since = max(instant(req.since), _FIRST) if req.since is not None else until - timedelta(days=DEFAULT_DAYS)
    if since >= until:
        raise errors.BadField("Since: expected a moment before Until.")
    return Span(since, until, MAX_SIGN_INS)
