"""Redirects to an upstream provider and back.

These are links, not forms: browsers check a page's `form-action` on every redirect that follows.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote, urlencode

from flask import Blueprint, Response

from app.contract import errors
from app.contract.federation.pages import connection_pages
from app.contract.organizations.setup_operations import ANSWER, TRIAL_STATE
from app.contract.steps import StepResponse
from app.hub import journey
from app.hub.components.carried_identifier import carried_identifier
from app.hub.components.error_pages import ErrorPage, RequestError
from app.hub.components.restore_account import offer_restore
from app.hub.components.sign_in_methods import WITH_PROVIDER, begin_method, key_of_step
from app.hub.components.sign_in_refusals import reason_for
from app.hub.pages.sign_in.login.current_page import render_after_refusal
from app.hub.web.responses import redirect_to
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit, requested_interaction_id
from app.kit.operations.errors import ApiError
from app.kit.operations.operation import Operation

views = Blueprint("connections", __name__)
_TRUE_VALUES: Final = ("true", "1", "yes")
_ORGANIZATION_CALLBACK: Final = connection_pages.ORGANIZATION_CALLBACK.format(address_key="<address_key>")
_SAML_ACS: Final = connection_pages.SAML_ACS.format(address_key="<address_key>")
_ANSWERED: Final = ("state", "code", "error", "iss", "user")
"""Parameters of a provider's response; `user` is Apple's."""
_MAX_LENGTH: Final = 4_000
_MAX_USER_LENGTH: Final = 1_000
"""Maximum length of a posted `user`, which holds two names and an email."""


@views.get(WITH_PROVIDER)
def start() -> Response:
    """Redirect to the provider of a connection."""
    journey.refuse_unknown_interaction()
    request_body = connection_pages.ConnectionStart(
        provider=current_visit().query.get("provider", "")[:100],
        interaction_id=requested_interaction_id() or None,
        login_hint=carried_identifier(),
    )
    try:
        response = api()(connection_pages.begin, request_body)
    except (errors.UnknownConnection, errors.ConnectionNotConfigured) as refusal:
        return _no_provider(refusal)
    return begin_method(journey.follow(response), response, key_of_step(response, request_body.provider))


@views.get(connection_pages.SAML_ENTITY.format(address_key="<address_key>"))
@views.get(connection_pages.ORGANIZATION_LOGIN.format(address_key="<address_key>"))
def start_for_organization(address_key: str) -> Response:
    """Redirect to the provider of an organization, for its portal or an application that links directly to it.

    The entity ID of a SAML connection is such an address, too.
    """
    query = current_visit().query
    request_body = connection_pages.OrganizationStart(
        address_key=address_key[:100],
        return_url=query.get("return_url", "")[:2_000] or None,
        login_hint=query.get("login_hint", "")[:320],
    )
    try:
        response = api()(connection_pages.begin_for_organization, request_body)
    except (errors.UnknownConnection, errors.ConnectionNotConfigured) as refusal:
        return _no_provider(refusal)
    return begin_method(journey.follow(response), response, key_of_step(response))


@views.get("/requesthandler.aspx")
def start_for_application() -> Response:
    """Redirect to a provider for an application that links directly to it, then back to the application."""
    query = {name.lower(): value for name, value in current_visit().query.items()}
    request_body = connection_pages.ConnectionHandler(
        provider=query.get("provider", "")[:100],
        social_app_name=query.get("socialappname", "")[:100] or None,
        scope=query.get("scope", "").strip()[:501],
        api_key=query.get("apikey"),
        callback=query.get("callback", "")[:2_000] or None,
        callback_type=query.get("callbacktype", "")[:20],
        is_access_token=query.get("is_access_token", "").lower() in _TRUE_VALUES,
        ac_linking=query.get("ac_linking", "").lower() in _TRUE_VALUES,
        disable_sign_up=query.get("disablesignup", "").lower() in _TRUE_VALUES,
        callback_guid=(query.get("callbackguid") or query.get("clientguid") or "")[:100] or None,
    )
    try:
        return journey.follow(api()(connection_pages.handle, request_body))
    except ApiError as refusal:
        return _no_provider(refusal)


@views.get(connection_pages.SAML_CALLBACK.lower(), defaults={"is_saml": True})
@views.get(_SAML_ACS, defaults={"is_saml": True})
@views.get(_ORGANIZATION_CALLBACK)
@views.get(connection_pages.CALLBACK)
def finish(address_key: str = "", *, is_saml: bool = False) -> Response:
    """Handle the provider's callback. The next page's address has none of its parameters."""
    visit = current_visit()
    if visit.query.get("state", "").startswith(f"{TRIAL_STATE}."):
        return redirect_to(f"{ANSWER}?{visit.query_text}")
    answer: dict[str, Any] = {name: visit.query.get(name, "")[:_MAX_LENGTH] for name in _ANSWERED}
    answer["user"] = _posted_name(visit.query.get("user", ""), answer["state"])
    if visit.interaction is None:
        if visit.is_probed:  # else the browser comes once more, and its second visit has the page
            with suppress(ApiError):
                api()(connection_pages.report_state, connection_pages.ForeignState(state=answer["state"]))
        raise journey.InteractionGone
    if any(len(visit.query.getlist(name)) > 1 for name in _ANSWERED):
        answer |= {"code": "", "error": ""}  # two readers could pick different values (RFC 6749 section 3.1)
    try:
        request_body = connection_pages.ConnectionCallback(**answer, address_key=address_key[:100], is_saml=is_saml)
        return journey.follow(api()(connection_pages.finish, request_body))
    except errors.AccountLeaving as refusal:
        return offer_restore(refusal)
    except ApiError as refusal:
        return render_after_refusal(reason_for(refusal), status=refusal.status)


@views.post(_ORGANIZATION_CALLBACK)
@views.post(connection_pages.CALLBACK)
def finish_posted(address_key: str = "") -> Response:
    """Redirect a posted callback (OAuth 2.0 Form Post Response Mode) to a GET: the cross-site POST has no cookies."""
    form, context = current_visit().form, _name_context(current_visit().form.get("state", "")[:_MAX_LENGTH])
    answer = [(name, text[:_MAX_LENGTH]) for name in _ANSWERED for text in form.getlist(name)[:2]]
    encrypt = services().cookie_cipher.encrypt
    answer = [(name, encrypt(text[:_MAX_USER_LENGTH], context) if name == "user" else text) for name, text in answer]
    of_organization = connection_pages.ORGANIZATION_CALLBACK.format(address_key=quote(address_key))
    path = of_organization if address_key else connection_pages.CALLBACK
    return redirect_to(f"{path}?{urlencode(answer)}")


@views.post(connection_pages.SAML_CALLBACK.lower(), defaults={"path": connection_pages.SAML_CALLBACK})
@views.post(connection_pages.SAML_ADFS_CALLBACK.lower(), defaults={"path": connection_pages.SAML_ADFS_CALLBACK})
@views.post(connection_pages.SAML_PROVIDER_ACS.format(provider_id="<provider_id>"))
@views.post(_SAML_ACS)
def accept_saml(path: str = "", address_key: str = "", provider_id: str = "") -> Response:
    """Let the service accept a posted SAML answer, and redirect to a GET: the cross-site POST has no cookies."""
    form = current_visit().form
    of_provider = connection_pages.SAML_PROVIDER_ACS.format(provider_id=provider_id)
    of_organization = connection_pages.SAML_ACS.format(address_key=address_key)
    request_body = connection_pages.SamlAnswer(
        path=(path or (of_provider if provider_id else of_organization))[:200],
        address_key=address_key[:100],
        provider_id=provider_id[:100],
        messages=[text[: connection_pages.MAX_SAML_LENGTH] for text in form.getlist("SAMLResponse")[:2]],
        relay_states=[text[:_MAX_LENGTH] for text in form.getlist("RelayState")[:2]],
    )
    return _follow_saml(connection_pages.accept_saml, request_body)


@views.route(connection_pages.SAML_LOGOUT.format(address_key="<address_key>"), methods=["GET", "POST"])
def end_saml_sessions(address_key: str) -> Response:
    """Let the service end the sessions that a SAML provider signs out, and bring its answer to the provider."""
    visit = current_visit()
    fields = visit.form if visit.is_post else visit.query
    name = "SAMLRequest" if "SAMLRequest" in fields else "SAMLResponse"
    request_body = connection_pages.SamlAnswer(
        path=connection_pages.SAML_LOGOUT.format(address_key=address_key)[:200],
        address_key=address_key[:100],
        query="" if visit.is_post else visit.query_text[: connection_pages.MAX_SAML_LENGTH],
        messages=[text[: connection_pages.MAX_SAML_LENGTH] for text in visit.form.getlist(name)[:2]],
        relay_states=[text[:_MAX_LENGTH] for text in visit.form.getlist("RelayState")[:2]],
        is_request=name == "SAMLRequest",
    )
    return _follow_saml(connection_pages.end_saml_sessions, request_body)


def _follow_saml(
    operation: Operation[connection_pages.SamlAnswer, StepResponse], request_body: connection_pages.SamlAnswer
) -> Response:
    try:
        return journey.follow(api()(operation, request_body))
    except (errors.UnknownConnection, errors.ConnectionNotConfigured) as refusal:
        return _no_provider(refusal)
    except errors.ProviderFailed as refusal:
        reference, detail = current_visit().reference, str(refusal.code)
        return ErrorPage(RequestError.SIGN_IN_FAILED, 403, reference, detail=detail, again="/login").render(403)


@views.get(connection_pages.SAML_METADATA.format(address_key="<address_key>"))
def saml_metadata(address_key: str) -> Response:
    """Return our metadata for a SAML connection, for its provider and the provider's administrator."""
    try:
        request_body = connection_pages.OrganizationStart(address_key=address_key[:100])
        found = api()(connection_pages.read_metadata, request_body)
    except errors.ConnectionNotConfigured as refusal:
        return _no_provider(refusal)
    return Response(found.document, mimetype="application/samlmetadata+xml")


def _posted_name(encrypted: str, state: str) -> str:
    """Return Apple's `user` that was posted with this state; empty for text that `finish_posted` did not encrypt.

    Anyone can write a link with a `user`, but only a page that knows this browser's state can post one.
    """
    return str(services().cookie_cipher.decrypt(encrypted, _name_context(state)) or "")


def _name_context(state: str) -> str:
    return f"{current_visit().tenant.name} posted user {state}"


def _no_provider(refusal: ApiError) -> Response:
    visit = current_visit()
    again = f"/login?{urlencode({'attempt': visit.interaction.id})}" if visit.interaction else "/login"
    detail = str(refusal.code)
    return ErrorPage(RequestError.NO_PROVIDER, 403, visit.reference, detail=detail, again=again).render(403)
