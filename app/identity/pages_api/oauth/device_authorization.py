"""Operations of the page on which a person allows a device without a browser."""

from __future__ import annotations

from app.contract.oauth.pages import device_pages
from app.contract.page_models import InteractionDecision
from app.contract.steps import StepResponse
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interactions import InteractionKind
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.pages_api.interactions import next_step
from app.identity.platform.context import Context
from app.identity.protocols.oauth.authorize import device_verification


@device_pages.begin.implements
def begin(context: Context, req: device_pages.UserCode) -> StepResponse:
    return device_verification.begin(context, req.user_code, sessions.current(context))


@device_pages.decide.implements
def decide(context: Context, req: InteractionDecision) -> StepResponse:
    interaction, session = interactions.find(context, req.interaction_id), sessions.current(context)
    if interaction is None:
        return next_step.START_AGAIN
    if interaction.kind != InteractionKind.DEVICE:
        return next_step.after_end(session)
    if (unsaved := next_step.unsaved_codes(context, interaction, session)) is not None:
        return unsaved
    if session is not None and req.account != session.uid:  # the page asked another account
        return next_step.advance(context, interaction, session)
    return device_verification.decide(context, interaction, session, req.allow)
