"""Opens and resumes interactions whose page is loaded again, restarted or reopened."""

from __future__ import annotations

from app.contract.sign_in import sign_in_pages
from app.contract.steps import LoginStep, StepResponse
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interactions import InteractionKind
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.workflows import first_page
from app.identity.pages_api.interactions import next_step, pending_verification, reauthentication_methods
from app.identity.pages_api.registration import begin_verification
from app.identity.pages_api.sign_in import account_confirmation, second_factor
from app.identity.platform.context import Context
from app.identity.protocols.oauth.authorize import authorization_endpoint


@sign_in_pages.open_return.implements
def open_return(context: Context, req: sign_in_pages.ReturnRequest) -> StepResponse:
    session = sessions.current(context)
    return next_step.open_return(
        context, req.return_url, session, action=req.action, organization=req.organization, workflow=req.workflow
    )


@sign_in_pages.resume.implements
def resume(context: Context, req: sign_in_pages.InteractionRequest) -> StepResponse:
    interaction = next_step.open_interaction(context, req.interaction_id)
    if isinstance(interaction, StepResponse):
        return interaction
    session = sessions.current(context)
    if session is None and (pending := second_factor.step(context, interaction)) is not None:
        return pending
    state = pending_verification.pending_for(context, interaction)
    if state is not None and (
        session is None or pending_verification.needs_verification_to_join(context, interaction, session)
    ):
        return begin_verification.step(context, interaction, state)
    if (confirmation := account_confirmation.step(context, interaction)) is not None:
        return confirmation
    response = next_step.advance(context, interaction, session)
    return reauthentication_methods.with_methods(context, response)


@sign_in_pages.reopen.implements
def reopen(context: Context, req: sign_in_pages.InteractionRequest) -> StepResponse:
    """Return what the pages of the interaction show, if this browser began it; an expired one restarts from its request.

    It lives as long as a new one from here on, because the hub's cookie does. Nothing is decided here: the restarted request
    passes its checks again at each step.
    """
    interaction = interactions.find_retained(context, req.interaction_id)
    if interaction is None:
        return next_step.START_AGAIN
    if interaction.expires_at <= context.now:
        # A second request may have restarted or ended it meanwhile.
        interaction = interactions.lock(context, interaction)
    if interaction.expires_at <= context.now and not interaction.is_done:
        interaction = interactions.restart(context, interaction, authorization_endpoint.to_restart(interaction))
        context.audit.record("sign_in.restarted", client_id=interaction.state.client_id)
    else:
        interactions.extend(context, interaction)
    shown = authorization_endpoint.opened(context, interaction)
    if interaction.kind == InteractionKind.RETURN:
        shown["relying_party"] = next_step.target_of(context, interaction)
    workflow = first_page.display_of(context, interaction)
    return StepResponse(step=LoginStep(), interaction_id=interaction.interaction_id, workflow=workflow, **shown)
