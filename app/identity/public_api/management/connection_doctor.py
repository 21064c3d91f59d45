"""The operation that lists refused answers of identity providers."""

from __future__ import annotations

from app.contract.federation import connection_trace_operations
from app.contract.federation.connection_trace_operations import RefusedAnswer, RefusedAnswers
from app.identity.authentication.federation import connection_traces
from app.identity.authentication.federation.connection_traces import ConnectionTrace
from app.identity.platform.context import Context
from app.kit.clock import iso


@connection_trace_operations.list_traces.implements
def list_traces(context: Context, req: connection_trace_operations.ConnectionTraceFilters) -> RefusedAnswers:
    """List the traces of a request, which may be of several connections, or the latest ones."""
    connection = req.connection or ""
    if req.reference is not None:
        found = connection_traces.with_reference(context.work, req.reference, context.now, connection=connection)
    else:
        found = connection_traces.latest(context.work, context.now, req.limit, connection=connection)
    return RefusedAnswers(data=[_answer(trace) for trace in found[: req.limit]])


def _answer(trace: ConnectionTrace) -> RefusedAnswer:
    return RefusedAnswer(
        date=str(iso(trace.at)),
        reference=trace.reference,
        connection=trace.connection,
        org_id=trace.org_id,
        check=trace.failed_check,
        cause=trace.cause,
        problem=trace.diagnosis.problem,
        expected=trace.expected,
        received=trace.received,
        advice=trace.diagnosis.advice,
    )
