"""Pages of a sign-in that were left open: what the service keeps of an interaction whose cookie is gone, or which expired."""

from __future__ import annotations

from app.contract import hub
from app.contract.hub import Next, Step
from app.identity.authentication.sign_in import interactions
from app.identity.hosted import next_step
from app.identity.platform.context import Context
from app.identity.protocols.oauth import authorize


@hub.reopen.implements
def reopen(context: Context, req: hub.InteractionRequest) -> Next:
    """Return what the pages of the interaction show, if this browser began it; an expired one restarts from its request.

    Nothing is decided here: the restarted request passes its checks again at each step.
    """
    interaction = interactions.find_kept(context, req.attempt)
    if interaction is None:
        return next_step.START_AGAIN
    if interaction.expires_at <= context.now:
        interaction = interactions.restart(context, interaction, authorize.to_restart(interaction))
        context.audit.record("sign_in.restarted", client_id=interaction.request.get("client_id"))
    shown = authorize.opened(context, interaction)
    if interaction.kind == next_step.RETURN:
        shown["relying_party"] = next_step.return_target(context, interaction.request.get("return_url"))
    return Next(step=Step.LOGIN, attempt=interaction.interaction_id, **shown)
