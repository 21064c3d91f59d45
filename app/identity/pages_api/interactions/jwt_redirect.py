"""The return of a browser to an app that gets a JWT."""

from __future__ import annotations

from urllib.parse import urlencode

from app.contract import errors
from app.contract.oauth.models import RelyingPartyView
from app.contract.step_reasons import RefusedPart
from app.contract.steps import FormPostStep, ProfileStep, RedirectStep, RefusedStep, StepResponse
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interaction_state import JwtRequest
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts import account_store
from app.identity.directory.tenants.urls.allowed_urls import is_registered_page, with_query
from app.identity.platform.context import Context
from app.identity.protocols.jwt_sign_on import signing
from app.identity.protocols.jwt_sign_on.signing import JwtApp
from app.kit.web.urls import redirect_origin

_FRAGMENT, _POST = "fragment", "post"


def view_of(app: JwtApp, redirect_uri: str) -> RelyingPartyView:
    """Return the app as pages show it."""
    origin = redirect_origin(redirect_uri)
    return RelyingPartyView(name=app.client.app_name, client_id="", home=app.client.login_url, redirect_origin=origin)


def with_session(
    context: Context, interaction: Interaction, session: BrowserSession, request: JwtRequest
) -> StepResponse:
    """End an interaction with a session; of two tabs of one interaction, one gets the JWT."""
    if not interactions.finish(context, interaction):
        return StepResponse(step=ProfileStep())
    return redirect_with_jwt(context, session, request)


def redirect_with_jwt(context: Context, session: BrowserSession, request: JwtRequest) -> StepResponse:
    """Return the step that takes the JWT to the app, in the client's way. The address is checked again, with the present whitelist."""
    account = account_store.by_uid(context, session.uid)
    try:
        app = signing.find(context, request.app)
        is_ready = account is not None and is_registered_page(context, request.redirect_uri)
        signed = signing.sign(context, app, account, request.nonce) if is_ready and account is not None else None
    except (errors.JwtConfigurationInvalid, errors.JwtAppNameMissing):
        return StepResponse(step=RefusedStep(error="1180", part=RefusedPart.CLIENT))
    if signed is None:
        return StepResponse(step=RefusedStep(error="invalid_request", part=RefusedPart.REDIRECT_URI))
    name, view = app.client.query_string_parameter, view_of(app, request.redirect_uri)
    if app.client.response_mode == _POST:
        return StepResponse(step=FormPostStep(address=request.redirect_uri, fields={name: signed}), relying_party=view)
    if app.client.response_mode == _FRAGMENT:
        address = f"{request.redirect_uri.partition('#')[0]}#{urlencode({name: signed})}"
        return StepResponse(step=RedirectStep(address=address))
    return StepResponse(step=RedirectStep(address=with_query(request.redirect_uri, **{name: signed})))
