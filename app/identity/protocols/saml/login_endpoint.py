"""Single sign-on of service providers: from a request, or a start here, to the response (SAML V2.0 Profiles, section 4.1)."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Final
from urllib.parse import urlencode

from pydantic import TypeAdapter

from app.contract.accounts.models import ReauthenticationOptions
from app.contract.saml import saml_operations
from app.contract.saml.saml_operations import SamlMessage
from app.contract.saml.service_provider_diagnoses import ServiceProviderCheck
from app.contract.steps import AnyStep, LoginStep, ProfileStep, ReauthenticationStep, RedirectStep, StepResponse
from app.identity.authentication.sign_in import interactions, required_actions
from app.identity.authentication.sign_in.interaction_state import InteractionState, SamlRequest
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.authentication.sign_in.pending_sign_in import channel_for
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession, SignedIn
from app.identity.authentication.sign_in.workflows import first_page, interaction_runs, sign_in_target
from app.identity.credentials.second_factors import second_factors
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account, can_sign_in
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.identity.protocols.oauth import oauth_views
from app.identity.protocols.oauth.authorize import account_choice
from app.identity.protocols.saml import authentication_contexts, refusals, responses, saml_clients, sp_messages
from app.identity.protocols.saml.refusals import SamlCode, SamlProblem
from app.identity.protocols.saml.responses import Assertable
from app.identity.protocols.saml.saml_clients import SamlApp
from app.identity.protocols.saml.sp_messages import APP, REQUEST, BrowserMessage

STORED: Final = "request"
"""The parameter with the token of a request that was posted: the redirect to a GET has the browser's cookies."""
_STORED_LIFETIME: Final = timedelta(minutes=10)
_ADAPTER: Final = TypeAdapter(SamlRequest)


def open_request(context: Context, received: SamlMessage) -> StepResponse:
    """Return the response for a browser that is signed in, the first page for another one, or the error page.

    A posted request is stored, and the browser redirected: a POST from another site has no cookies of the hub.

    Raises:
        TooManyRequests: the browser's address sent too many requests.
    """
    context.count_request("saml.login", context.tenant.settings.limits.authorize_per_minute_per_address)
    message = BrowserMessage.of(received)
    app = saml_clients.find(context, message.value(APP))
    if app is None:
        problem = SamlProblem(
            SamlCode.CONFIGURATION,
            ServiceProviderCheck.CLIENT,
            expected="an active client",
            received=message.value(APP),
        )
        return refusals.page(context, "", problem)
    try:
        request = _request(context, app, message)
        return _stored(context, app, request) if message.is_post else _first_step(context, app, request)
    except SamlProblem as problem:
        return refusals.page(context, app.name, problem, saml_clients.view_of(app, None))


def _request(context: Context, app: SamlApp, message: BrowserMessage) -> SamlRequest:
    """Return the request of a message, one that was posted before, or one that begins here. Raises SamlProblem."""
    if not app.acs_urls:
        raise SamlProblem(
            SamlCode.NO_ACS, ServiceProviderCheck.ACS, expected="AssertionConsumerService.Location by HTTP-POST"
        )
    if message.has(REQUEST):
        return sp_messages.read_authn_request(context, app, message)
    if message.has(STORED):
        token = continuation_tokens.find(context, ContinuationPurpose.SAML_REQUEST, message.value(STORED))
        request = _ADAPTER.validate_python(token.facts) if token and not token.is_expired(context.now) else None
        if request is None or request.app != app.name or request.acs_url not in app.acs_urls:
            raise SamlProblem(
                SamlCode.NO_REQUEST, ServiceProviderCheck.UNSOLICITED, expected="a request of the last ten minutes"
            )
        return request
    if not app.client.is_idp_initiated:
        raise SamlProblem(
            SamlCode.NO_REQUEST, ServiceProviderCheck.UNSOLICITED, expected=REQUEST, received="no request"
        )
    return SamlRequest(app=app.name, acs_url=app.acs_urls[0], relay_state=message.relay_state(app))


def _stored(context: Context, app: SamlApp, request: SamlRequest) -> StepResponse:
    token = continuation_tokens.issue(
        context, ContinuationPurpose.SAML_REQUEST, NO_ACCOUNT, lifetime=_STORED_LIFETIME, facts=asdict(request)
    )
    query = urlencode({APP: app.name, STORED: token.text})
    return StepResponse(step=RedirectStep(address=f"{saml_operations.LOGIN_PATH}?{query}"))


def _first_step(context: Context, app: SamlApp, request: SamlRequest) -> StepResponse:
    """Return the response, or the first page of a new interaction. Raises SamlProblem."""
    signed_in = sessions.signed_in(context)
    answer = _next(context, app, request, signed_in, None)
    if isinstance(answer, StepResponse):
        if signed_in is not None:
            sessions.touch(context, signed_in.session)
        return answer
    state = InteractionState(saml=request, **interaction_runs.for_new(context))
    interaction, binding = interactions.start(context, InteractionKind.RETURN, state)
    target = sign_in_target.of_interaction(context, interaction)
    is_plain = isinstance(answer, LoginStep) and answer.reauthentication is None
    return StepResponse(
        step=first_page.first_step(context, target) if is_plain else answer,
        interaction_id=interaction.interaction_id,
        binding=binding,
        workflow=first_page.display(context, target),
        relying_party=saml_clients.view_of(app, request.acs_url),
    )


def with_session(
    context: Context, interaction: Interaction, session: BrowserSession, request: SamlRequest
) -> StepResponse:
    """Return the next step of a signed-in browser: a page, or the response, which ends the interaction.

    The client is looked at again: one that was switched off meanwhile gets nothing, nor does an address that it lost. Of two
    submits of a form, the browser follows the last one, so that both get a response.
    """
    app = saml_clients.find(context, request.app)
    if app is None or request.acs_url not in app.acs_urls:
        problem = SamlProblem(
            SamlCode.CONFIGURATION,
            ServiceProviderCheck.CLIENT,
            expected="the client of the request",
            received="changed",
        )
        return refusals.page(context, app.name if app else "", problem)
    account = account_store.by_uid(context, session.uid)
    signed_in = SignedIn(session, account) if account is not None and can_sign_in(account) else None
    try:
        answer = _next(context, app, request, signed_in, interaction)
    except SamlProblem as problem:
        return refusals.page(context, app.name, problem, saml_clients.view_of(app, None))
    if not isinstance(answer, StepResponse):
        return StepResponse(step=answer, interaction_id=interaction.interaction_id)
    if interactions.finish(context, interaction, uid=session.uid):
        return answer
    ended = interactions.find(context, interaction.interaction_id)
    is_own = ended is not None and ended.state.ended is not None and ended.state.ended.uid == session.uid
    return answer if is_own else StepResponse(step=ProfileStep())


def _next(
    context: Context, app: SamlApp, request: SamlRequest, signed_in: SignedIn | None, interaction: Interaction | None
) -> StepResponse | AnyStep:
    """Return the response to the service provider, or the page that comes before it. Raises SamlProblem."""
    page, stated = _page_or_context(context, request, signed_in, interaction)
    if page is not None and request.is_passive:
        return responses.refuse(context, app, request, responses.NO_PASSIVE)
    if page is not None or signed_in is None:
        return page or LoginStep()
    if stated is None:
        return responses.refuse(context, app, request, responses.NO_CONTEXT)
    return responses.respond(context, app, request, Assertable(signed_in.session, signed_in.account, stated))


def _page_or_context(
    context: Context, request: SamlRequest, signed_in: SignedIn | None, interaction: Interaction | None
) -> tuple[AnyStep | None, str | None]:
    """Return the page that the person must pass, and the class of the authentication context that the session meets."""
    if signed_in is None:
        return LoginStep(), None
    session, account = signed_in.session, signed_in.account
    if request.must_reauthenticate and not account_choice.is_fresh(interaction, session, context.now):
        person = oauth_views.person(account)
        return LoginStep(reauthentication=ReauthenticationOptions(person=person)), None
    stated = authentication_contexts.met(session.methods, request.context_classes, request.comparison)
    if stated is None and _can_add_factor(context, request, session, account):
        return ReauthenticationStep(), None
    return required_actions.find_first(context, session, account), stated


def _can_add_factor(context: Context, request: SamlRequest, session: BrowserSession, account: Account) -> bool:
    """Return whether a second factor, which the account has, would meet the request."""
    if not authentication_contexts.needs_two(request.context_classes, request.comparison):
        return False
    return bool(second_factors.kinds_of_account(context, account, channel_for(session.methods)))
