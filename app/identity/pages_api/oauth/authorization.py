"""The authorization endpoint on the pages: open a request, answer its consent, switch its account."""

from __future__ import annotations

from dataclasses import replace

from app.contract.applications.client_protocol import ClientProtocol
from app.contract.oauth.pages import authorization_pages
from app.contract.sessions.pages import account_choice_pages
from app.contract.sessions.pages.account_choice_pages import SwitchAccountRequest
from app.contract.steps import StepResponse
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interactions import InteractionKind
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.pages_api.interactions import next_step, pending_identities
from app.identity.platform.context import Context
from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.authorize import account_choice, authorization_endpoint
from app.identity.protocols.oauth.logout import session_end


@authorization_pages.authorize.implements
def open_authorization(context: Context, req: authorization_pages.AuthorizeRequest) -> StepResponse:
    return authorization_endpoint.open_request(
        context, ClientProtocol.of_segment(req.protocol), req.app, req.parameters
    )


@authorization_pages.consent.implements
def answer_consent(context: Context, req: authorization_pages.ConsentRequest) -> StepResponse:
    interaction, session = interactions.find(context, req.interaction_id), sessions.current(context)
    if interaction is None:
        return next_step.START_AGAIN
    if interaction.kind != InteractionKind.AUTHORIZE:
        return next_step.after_end(session)
    if (unsaved := next_step.unsaved_codes(context, interaction, session)) is not None:
        return unsaved
    if session is not None and req.account != session.uid:  # the page asked another account
        return next_step.advance(context, interaction, session)
    return authorization_endpoint.answer_consent(context, interaction, session, req.allow, req.refused)


@account_choice_pages.switch_account.implements
def switch_account(context: Context, req: SwitchAccountRequest) -> StepResponse:
    """End the session of the page's account, or let the person choose another one of the browser's (decision 0238)."""
    interaction, session = interactions.find(context, req.interaction_id), sessions.current(context)
    if interaction is not None and interaction.state.pending_link is not None and not interaction.is_done:
        return next_step.advance(context, pending_identities.cancel_link(context, interaction), session)
    if interaction is not None and session is not None and req.account not in ("", session.uid):
        return next_step.advance(context, interaction, session)
    if req.chooses and session is not None and interaction is not None and account_choice.may_choose(interaction):
        interaction = interactions.save(context, interaction, account_choice.with_request(context, interaction.state))
        return next_step.advance(context, interaction, session)
    ended = session_end.end(context, session) if session is not None else []
    update = {"ends_session": True, "frames": session_end.frames(context, ended)}
    if interaction is None or interaction.is_done:
        return next_step.START_AGAIN.model_copy(update=update)
    if interaction.state.second_factor_token_hash:  # the sign-in of the account that is left
        state = replace(interaction.state, second_factor_token_hash=None, reauthenticated_session_id=None)
        interaction = interactions.save(context, interaction, state)
    return next_step.advance(context, interaction, None).model_copy(update=update)


@authorization_pages.hub_client.implements
def read_own_client(context: Context, req: authorization_pages.HubClientRequest) -> authorization_pages.HubClient:
    return issuers.hub_client(context, req.name)
