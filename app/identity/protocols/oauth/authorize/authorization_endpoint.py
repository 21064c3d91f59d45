"""The authorization endpoint (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2): the checks, then the decision."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from app.contract.applications.client_protocol import ClientProtocol
from app.contract.organizations.settings import MethodLimit
from app.contract.organizations.views import OrganizationBranding
from app.contract.step_reasons import LoginReason
from app.contract.steps import (
    AuthorizationPage,
    DeviceStep,
    LoginStep,
    RefusedStep,
    SelectOrganizationStep,
    StartAgainStep,
    StepResponse,
)
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interaction_state import InteractionState
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.sign_in.workflows import first_page, interaction_runs
from app.identity.directory.organizations import branding
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import oauth_views, rate_limits, refusal_log
from app.identity.protocols.oauth.authorize import (
    account_choice,
    authorization_checks,
    device_verification,
    pushed,
    request_object,
    workflow_sessions,
)
from app.identity.protocols.oauth.authorize.decision import Decision
from app.identity.protocols.oauth.authorize.openid_parameters import max_age, prompt
from app.identity.protocols.oauth.authorize.request import (
    CheckedRequest,
    RefusedByRedirect,
    RefusedOnPage,
    UncheckedRequest,
)
from app.identity.protocols.oauth.authorize.responses import jarm, response, untrusted_redirects
from app.identity.protocols.oauth.consents import application_consents

_NOTHING_CHOSEN = {"org_id": None, "org_uid": None}


def open_request(
    context: Context, protocol: ClientProtocol, app: str | None, parameters: list[tuple[str, str]]
) -> StepResponse:
    """Check the request and return the next step; store an interaction only where a page must be shown.

    Raises:
        TooManyRequests: the browser's address sent too many requests.
    """
    rate_limits.count_authorization_request(context)
    unchecked = UncheckedRequest(context, protocol, app, parameters)
    try:
        for check in authorization_checks.CLIENT_CHECKS:
            check(unchecked)
    except RefusedOnPage as refusal:
        return _error_page(context, unchecked, refusal)
    jarm.create_missing_keys(context, unchecked.client)
    try:
        for check in authorization_checks.PARAMETER_CHECKS:
            check(unchecked)
    except RefusedByRedirect as refusal:
        context.audit.record("authorize.refused", client_id=unchecked.client.client_id, error=refusal.error)
        if untrusted_redirects.needs_page(context, unchecked.client, sessions.current(context)):
            return untrusted_redirects.page(context, unchecked.client, refusal)
        return response.error(context, unchecked.client, unchecked.issuer.url, unchecked.accepted, refusal)
    request = unchecked.to_checked_request()
    answer = _first_step(context, unchecked.client, request)
    if not isinstance(answer.step, AuthorizationPage):
        return answer
    pushed.hold(context, request.pushed)
    state = InteractionState(request.to_store(), **interaction_runs.for_new(context))
    interaction, binding = interactions.start(context, InteractionKind.AUTHORIZE, state)
    look = branding.branding_of_name(context, request.organization)
    update: dict[str, Any] = {"interaction_id": interaction.interaction_id, "binding": binding, "organization": look}
    update["workflow"] = first_page.display(context, workflow_sessions.target_of(unchecked.client, request))
    if isinstance(answer.step, LoginStep):
        update |= {"step": _leading(answer.step, request, unchecked.home_realm_limit)}
    return answer.model_copy(update=update)


def _leading(step: LoginStep, request: CheckedRequest, limit: MethodLimit | None) -> LoginStep:
    """Return the step with the connection that the request leads to, or with the several that its hints lead to."""
    if limit is None or step.reason is not None:
        return step.model_copy(update={"connection": request.connection})
    return step.model_copy(update={"reason": LoginReason.METHOD, "method_limit": limit})


def _first_step(context: Context, client: Application, request: CheckedRequest) -> StepResponse:
    """Return the first step for the browser's current session, or for another of its sessions that a hint names.

    Any site can send a browser here with a hint. The hinted session serves this response only: the current session
    stays current, and the person chooses the account before any page (decision 0238).
    """
    signed_in, named = sessions.signed_in(context), account_choice.hinted(context, client, request)
    session, account = (signed_in.session, signed_in.account) if signed_in is not None else (None, None)
    if named is not None and (session is None or named.session.uid != session.uid):
        answer = Decision(context, request, client, named.session, None).decide()
        if not isinstance(answer.step, AuthorizationPage):
            chosen = {"uid": named.session.uid, "session": named.session.session_id}
            context.audit.record("session.chosen", **chosen, by="hint", client_id=client.client_id)
            return answer
    return Decision(context, request, client, session, None, account).decide()


def offer_accounts(context: Context, interaction: Interaction) -> StepResponse:
    """Return the page with the browser's accounts."""
    if interaction.kind == InteractionKind.DEVICE:
        return device_verification.resume_request(context, interaction, None)
    request, client = _load(context, interaction)
    if client is None:
        return start_again(context, interaction)
    return Decision(context, request, client, sessions.current(context), interaction).offer_accounts()


def resume_request(context: Context, interaction: Interaction, session: BrowserSession | None) -> StepResponse:
    """Return the next step of an interaction: a page, or the redirect with a code or an error."""
    if interaction.kind == InteractionKind.DEVICE:
        return device_verification.resume_request(context, interaction, session)
    request, client = _load(context, interaction)
    if client is None:
        return start_again(context, interaction)
    if interaction.is_done:
        return Decision(context, request, client, session, interaction).repeat()
    return Decision(context, request, client, session, interaction).decide()


def answer_consent(
    context: Context,
    interaction: Interaction,
    session: BrowserSession | None,
    allow: bool,
    refused: Collection[str] = (),
) -> StepResponse:
    """Store the user's answer and return the next step; the session is checked again.

    Args:
        refused: scopes that the user declined; scopes that are not optional for the client are granted all the same.
    """
    request, client = _load(context, interaction)
    if client is None:
        return start_again(context, interaction)
    decision = Decision(context, request, client, session, interaction)
    if interaction.is_done:
        is_same_answer = allow or (interaction.state.ended is not None and interaction.state.ended.problem is not None)
        return decision.repeat() if is_same_answer else start_again(context, interaction)
    try:
        before = decision.step_before_consent()
    except RefusedByRedirect as refusal:
        return decision.end_with_error(refusal)
    if session is None or before is not None:
        return before or start_again(context, interaction)
    if not allow:
        context.audit.record("consent.refused", uid=session.uid, client_id=client.client_id)
        return decision.end_with_error(RefusedByRedirect("access_denied", "The user denied access."))
    declined = decision.optional.intersection(refused)
    agreed = [name for name in request.agreed if name not in declined]
    application_consents.grant(context, session.uid, client.client_id, agreed, declined)
    facts: dict[str, Any] = {"scope": " ".join(agreed)}
    facts |= {"refused": " ".join(sorted(declined))} if declined else {}
    facts |= (
        {"types": [detail["type"] for detail in request.authorization_details]} if request.authorization_details else {}
    )
    context.audit.record("consent.given", uid=session.uid, client_id=client.client_id, **facts)
    return replace(decision).finish(session)  # `replace` drops the cached consent


def choose_organization(
    context: Context, interaction: Interaction, session: BrowserSession | None, org_id: str
) -> StepResponse:
    """Store the chosen organization (empty: the personal account) and return the next step.

    An organization without a membership of the account shows the page again; a different choice after the end starts again.
    """
    interaction = interactions.lock(context, interaction)
    if interaction.is_done:
        is_same = interaction.state.authorization.get("org_id") == org_id
        return resume_request(context, interaction, session) if is_same else start_again(context, interaction)
    if session is not None:
        authorization = {**interaction.state.authorization, "org_id": org_id, "org_uid": session.uid}
        interaction = interactions.save(context, interaction, replace(interaction.state, authorization=authorization))
    answer = resume_request(context, interaction, session)
    if isinstance(answer.step, SelectOrganizationStep) or not isinstance(answer.step, AuthorizationPage | DeviceStep):
        return answer
    look = branding.branding_of_name(context, org_id) or OrganizationBranding()
    return answer.model_copy(update={"organization": look})


def to_restart(interaction: Interaction) -> InteractionState:
    """Return the request of an expired interaction, without the choices of an earlier visitor."""
    if interaction.kind != InteractionKind.AUTHORIZE:
        return interaction.state
    request = CheckedRequest.model_validate(interaction.state.authorization)
    return InteractionState(request.model_copy(update=_NOTHING_CHOSEN).to_store())


def opened(context: Context, interaction: Interaction) -> dict[str, Any]:
    """Return the data of the request that every page of the interaction shows."""
    if interaction.kind != InteractionKind.AUTHORIZE:
        return {}
    request, client = _known(context, interaction)
    return {
        "relying_party": oauth_views.relying_party(context, client, request.redirect_uri) if client else None,
        "ui_locales": request.ui_locales,
        "brand": request.brand,
        "login_hint": request.login_hint,
        "display": request.display,
        "organization": branding.branding_of_name(context, request.organization),
    }


def start_again(context: Context, interaction: Interaction) -> StepResponse:
    """Return the relying party of an interaction that has ended, where the user may start again."""
    _, client = _known(context, interaction)
    return StepResponse(
        step=StartAgainStep(),
        relying_party=oauth_views.relying_party(context, client, None) if client else None,
    )


def _load(context: Context, interaction: Interaction) -> tuple[CheckedRequest, Application | None]:
    """Return the interaction's request and its client; None for a client that may no longer send the request."""
    request, client = _known(context, interaction)
    if client is None or not all(recheck(context, client, request) for recheck in authorization_checks.RECHECKS):
        return request, None
    now = {"prompt": prompt.demanded(client, request.prompt), "max_age": max_age.demanded(client, request.max_age)}
    return request.model_copy(update=now), client


def _known(context: Context, interaction: Interaction) -> tuple[CheckedRequest, Application | None]:
    """Return the interaction's request and its client; None for an inactive client."""
    request = CheckedRequest.model_validate(interaction.state.authorization)
    client = context.application(client_id=request.client_id)
    return request, client if client is not None and client.settings.is_active else None


def _error_page(context: Context, request: UncheckedRequest, refusal: RefusedOnPage) -> StepResponse:
    client = getattr(request, "client", None)
    context.audit.record(
        "authorize.refused",
        client_id=client.client_id if client else None,
        error=refusal.error,
        problem=refusal.part.value,
    )
    sent = request.values
    refusal_log.log(
        refusal.error,
        refusal.description,
        client_id=sent.get("client_id"),
        redirect_uri=sent.get("redirect_uri") or request_object.unverified(request, "redirect_uri"),
    )
    return StepResponse(
        step=RefusedStep(error=refusal.error, description=refusal.description, part=refusal.part),
        relying_party=oauth_views.relying_party(context, client, None) if client else None,
    )
