"""Takes the results with which visitors come back from a page of the tenant."""

from __future__ import annotations

from app.contract.shared_responses import Posted
from app.contract.workflows import result_pages
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.workflows import redirect_results
from app.identity.platform.context import Context


@result_pages.accept_result.implements
def accept_result(context: Context, req: result_pages.ReturnedResult) -> Posted:
    """Store the result; the next request of the browser goes on, so that no transaction waits for another server of the tenant."""
    interaction, session = interactions.find(context, req.interaction_id), sessions.current(context)
    if interaction is not None and session is not None:
        redirect_results.accept(context, interaction, session, req.state, req.result)
    return Posted()
