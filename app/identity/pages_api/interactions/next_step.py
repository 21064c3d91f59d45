"""Decides the next step of a visitor, whose page the hub shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.contract.accounts.models import ReauthenticationOptions
from app.contract.accounts.pages.reauthentication_pages import RequiredReauthentication
from app.contract.oauth.models import RelyingPartyView
from app.contract.sessions.models import SwitchAccountStep
from app.contract.step_reasons import RefusedPart
from app.contract.steps import (
    ApproveProgramStep,
    ApproveSignInStep,
    BackupCodesStep,
    ForgotStep,
    LoginStep,
    PinStep,
    ProfileStep,
    RedirectStep,
    RefusedStep,
    RegisterStep,
    RequiredAction,
    StartAgainStep,
    StepResponse,
)
from app.identity.authentication.sign_in import interactions, reauthentication_rules, required_actions
from app.identity.authentication.sign_in.interaction_state import InteractionState
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.sign_in.workflows import denials, first_page, interaction_runs
from app.identity.authentication.sign_in.workflows.sign_in_target import SignInTarget
from app.identity.authentication.workflows import workflow_choice
from app.identity.credentials.tokens import tokens
from app.identity.credentials.tokens.tokens import TokenGrant
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import active_policies, branding
from app.identity.directory.tenants.urls.allowed_urls import (
    is_allowed,
    is_own,
    is_registered_page,
    with_query,
)
from app.identity.pages_api.interactions import (
    accept_invitation,
    cross_device_approval,
    earlier_answers,
    interaction_handoff,
    jwt_redirect,
    return_codes,
)
from app.identity.platform.context import Context
from app.identity.platform.token_claims import TokenClaims
from app.identity.protocols.oauth import oauth_views
from app.identity.protocols.oauth.authorize import authorization_endpoint
from app.kit.web.urls import redirect_origin

_FIRST_STEPS: Final[Mapping[str, type[LoginStep | RegisterStep | ForgotStep]]] = {
    "register": RegisterStep,
    "forgotpassword": ForgotStep,
}
"""The first step of each action of a visit; LOGIN for the others."""
START_AGAIN = StepResponse(
    step=StartAgainStep()
)  # the interaction is gone; the hub knows the relying party from its cookie


def open_interaction(context: Context, interaction_id: str) -> Interaction | StepResponse:
    """Return the interaction of this tab, or the step for a request after its end."""
    interaction = interactions.find(context, interaction_id)
    if interaction is None:
        return START_AGAIN
    if not interaction.is_done:
        return interaction
    return earlier_answers.step(interaction) or after_end(sessions.current(context))


def advance(context: Context, interaction: Interaction, session: BrowserSession | None) -> StepResponse:
    """Return the interaction's next step for this session.

    A PIN is a credential: an account whose password alone does not suffice reauthenticates before setting one.
    """
    if (unsaved := unsaved_codes(context, interaction, session)) is not None:
        return unsaved
    if (question := switch_question(context, interaction, session)) is not None:
        return question
    response = _with_person(context, _advance(context, interaction, session), session)
    step = response.step
    if isinstance(step, LoginStep) and interaction.state.denial is not None:
        denial = denials.text_of(context, interaction.state.denial)
        return response.model_copy(update={"step": step.model_copy(update={"denial": denial})})
    if not isinstance(step, PinStep) or session is None or (step.can_skip and not interaction.state.pin_chosen):
        return response
    account = account_store.by_uid(context, session.uid)
    if account is None:
        return response
    required = reauthentication_rules.required_reauthentication(context, session, account)
    if required is not RequiredReauthentication.STRONGER:
        return response
    options = ReauthenticationOptions(person=oauth_views.person(account))
    return response.model_copy(update={"step": LoginStep(reauthentication=options)})


def _with_person(context: Context, response: StepResponse, session: BrowserSession | None) -> StepResponse:
    """Add the account to a step whose page shows it."""
    step = response.step
    if (
        not isinstance(step, RequiredAction | ApproveSignInStep | ApproveProgramStep)
        or step.person is not None
        or session is None
    ):
        return response
    account = account_store.by_uid(context, session.uid)
    if account is None:
        return response
    return response.model_copy(update={"step": step.model_copy(update={"person": oauth_views.person(account)})})


def unsaved_codes(context: Context, interaction: Interaction, session: BrowserSession | None) -> StepResponse | None:
    """Return the step that saves backup codes, if this sign-in enrolled a factor and the tenant requires saving them."""
    settings = context.tenant.settings.second_factors
    is_required = settings.backup_codes and not settings.skip_backup_codes and not interaction.is_done
    if not is_required or session is None or interaction.state.unsaved_codes != session.uid:
        return None
    return StepResponse(step=BackupCodesStep(), interaction_id=interaction.interaction_id)


def switch_question(context: Context, interaction: Interaction, session: BrowserSession | None) -> StepResponse | None:
    """Return the open question whether a provider's answer may replace the session; None where there is none."""
    uid, asked = interaction.state.switches_to, interaction.state.switches_from
    if uid is None or session is None or session.session_id != asked or interaction.is_done:
        return None
    other, current = account_store.by_uid(context, uid), account_store.by_uid(context, session.uid)
    if other is None or current is None:
        return None
    step = SwitchAccountStep(current=oauth_views.person(current).label, other=oauth_views.person(other).label)
    return StepResponse(step=step, interaction_id=interaction.interaction_id)


def _advance(context: Context, interaction: Interaction, session: BrowserSession | None) -> StepResponse:
    if interaction.kind in (InteractionKind.AUTHORIZE, InteractionKind.DEVICE):
        return authorization_endpoint.resume_request(context, interaction, session)
    if session is None:
        return StepResponse(step=_step_without_session(context, interaction), interaction_id=interaction.interaction_id)
    if (required := required_actions.find_first(context, session)) is not None:
        return StepResponse(step=required, interaction_id=interaction.interaction_id)
    if cross_device_approval.is_of(interaction):
        return cross_device_approval.step(context, interaction)
    if (handoff := interaction.state.handoff) is not None:
        return interaction_handoff.with_session(context, interaction, session, handoff)
    if (app := interaction.state.jwt_app) is not None:
        return jwt_redirect.with_session(context, interaction, session, app)
    if (request := interaction.state.saml) is not None:
        from app.identity.protocols.saml import login_endpoint  # noqa: PLC0415 - loads lxml and signxml

        return login_endpoint.with_session(context, interaction, session, request)
    if (refused := accept_invitation.accept(context, interaction, session)) is not None:
        return refused
    interactions.finish(context, interaction)
    return to_return_url(context, session, interaction.state.return_url)


def _step_without_session(context: Context, interaction: Interaction) -> LoginStep | RegisterStep:
    """Return the step of a visitor who has not signed in; one whom a workflow refused can sign in otherwise."""
    state = interaction.state
    if state.denial is not None or state.invitation is not None:
        return LoginStep()
    return first_page.first_step(context, SignInTarget(named=state.page_workflow))


def to_return_url(context: Context, session: BrowserSession, return_url: str | None) -> StepResponse:
    """Return the end of a visit without an application: an allowed return address, else the profile page."""
    if return_url and is_allowed(context, return_url):
        return StepResponse(step=RedirectStep(address=_with_token(context, session, return_url)))
    return StepResponse(step=ProfileStep(is_return_refused=bool(return_url)))


def _with_token(context: Context, session: BrowserSession, return_url: str) -> str:
    """Return the address with a code or an access token, if the tenant configured that.

    The token ends with the browser session. Only an exact whitelist entry gets one, because an origin may have an open redirect;
    our own pages know the session.
    """
    settings = context.tenant.settings
    is_configured = settings.code_in_return_url or settings.token_in_return_url
    if is_own(context, return_url) or not is_configured or not is_registered_page(context, return_url):
        return return_url
    if settings.code_in_return_url:
        return with_query(return_url, code=return_codes.issue(context, session))
    ends_at = int(session.expires_at.timestamp())
    claims = TokenClaims(provider="Email", agent=context.agent, address=context.ip_address, ends_at=ends_at)
    access, _ = active_policies.shortest_lifetimes_of(context, session.uid)
    grant = TokenGrant(
        uid=session.uid,
        claims=claims,
        session_id=session.session_id,
        access_seconds=access,
        has_refresh_token=False,
    )
    issued = tokens.issue(context, grant)
    return with_query(return_url, token=issued.access_token)


def open_return(
    context: Context,
    return_url: str | None,
    session: BrowserSession | None,
    *,
    action: str = "login",
    organization: str | None = None,
    workflow: str | None = None,
) -> StepResponse:
    """Begin a visit at the page of the action; a signed-in user without required actions is redirected at once.

    A visit that names a workflow which is not offered is refused.
    """
    if workflow is not None and not workflow_choice.is_offered(context, None, workflow):
        return StepResponse(step=RefusedStep(error="invalid_request", part=RefusedPart.REQUEST))
    look = branding.branding_of_name(context, organization)
    required = required_actions.find_first(context, session) if session is not None else None
    if session is not None and required is None:
        sessions.touch(context, session)
        return to_return_url(context, session, return_url)
    state = InteractionState(
        return_url=return_url or None,
        action=action,
        page_workflow=workflow,
        **interaction_runs.for_new(context),
    )
    interaction, binding = interactions.start(context, InteractionKind.RETURN, state)
    relying_party, target = return_target(context, return_url), SignInTarget(named=workflow)
    step = _FIRST_STEPS[action]() if action in _FIRST_STEPS else first_page.first_step(context, target)
    if isinstance(step, LoginStep) and step.reason is None and look is not None and look.requires_connection:
        step = LoginStep(connection=look.connections[0].connection if len(look.connections) == 1 else None)
    return StepResponse(
        step=required or step,
        interaction_id=interaction.interaction_id,
        binding=binding,
        relying_party=relying_party,
        organization=look,
        workflow=first_page.display(context, target),
    )


def after_invited_verification(
    context: Context, interaction: Interaction | None, account: Account
) -> StepResponse | None:
    """Return the next step of a signed-in account that verified its address in order to join an organization; None for others."""
    session = sessions.current(context) if accept_invitation.is_of(interaction) else None
    is_own = session is not None and session.uid == account.uid
    return advance(context, interaction, session) if is_own and interaction is not None else None


def return_target(context: Context, return_url: str | None) -> RelyingPartyView | None:
    """Return the target of a visit without an application, for the pages' `form-action`; None for no allowed address."""
    origin = redirect_origin(return_url) if return_url and is_allowed(context, return_url) else None
    return RelyingPartyView(name="", client_id="", redirect_origin=origin) if origin else None


def target_of(context: Context, interaction: Interaction) -> RelyingPartyView | None:
    """Return what the pages of an interaction without an OAuth request show of its target."""
    if (request := interaction.state.saml) is not None:
        from app.identity.protocols.saml import saml_clients  # noqa: PLC0415 - as above

        app = saml_clients.find(context, request.app)
        return saml_clients.view_of(app, request.acs_url) if app is not None else None
    return return_target(context, interaction.state.return_url)


def relying_party_of(context: Context, interaction_id: str) -> RelyingPartyView | None:
    """Return the application of an interaction of any browser; another browser may be redirected only to its home."""
    client = (
        context.application(client_id=interactions.client_id_for(context, interaction_id)) if interaction_id else None
    )
    return oauth_views.relying_party(context, client, None) if client is not None else None


def at_application(context: Context, response: StepResponse, interaction_id: str) -> StepResponse:
    """Return the step of a browser that signed in by another browser's link: the application's home, not the profile."""
    application = relying_party_of(context, interaction_id) if isinstance(response.step, ProfileStep) else None
    if application is None or not application.home:
        return response
    return response.model_copy(update={"step": RedirectStep(address=application.home)})


def after_end(session: BrowserSession | None) -> StepResponse:
    """Return the step for Back, reload and a second submit after the end: the profile if signed in, else start again."""
    return StepResponse(step=ProfileStep()) if session else START_AGAIN
