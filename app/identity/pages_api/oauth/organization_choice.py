"""The page that chooses an organization at sign-in."""

from __future__ import annotations

from app.contract.organizations.pages import account_organization_pages
from app.contract.steps import StepResponse
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interactions import InteractionKind
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.pages_api.interactions import next_step
from app.identity.platform.context import Context
from app.identity.protocols.oauth.authorize import authorization_endpoint


@account_organization_pages.choose.implements
def choose(context: Context, req: account_organization_pages.ChooseOrganizationRequest) -> StepResponse:
    interaction, session = interactions.find(context, req.interaction_id), sessions.current(context)
    if interaction is None:
        return next_step.START_AGAIN
    if interaction.kind not in (InteractionKind.AUTHORIZE, InteractionKind.DEVICE):
        return next_step.after_end(session)
    if (unsaved := next_step.unsaved_codes(context, interaction, session)) is not None:
        return unsaved
    return authorization_endpoint.choose_organization(context, interaction, session, req.organization)
