"""Single logout (SAML V2.0 Profiles, section 4.4): the session ends here first, then the browser visits each service provider.

The visit goes by redirects or posted forms, one service provider after the other. One that answers by something else makes the
sign-out partial and does not stop it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

from app.contract.saml.saml_operations import LOGOUT_PATH, SamlMessage
from app.contract.saml.service_provider_diagnoses import ServiceProviderCheck
from app.contract.steps import AnyStep, FormPostStep, RedirectStep, SignedOutStep, StepResponse
from app.identity.authentication.sign_in.sessions import browser_sessions, session_ends, sessions
from app.identity.authentication.sign_in.sessions.session_ends import EndedSession
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.platform.context import Context
from app.identity.platform.saml.expectations import SamlNameId
from app.identity.platform.saml.saml_names import PERSISTENT_FORMAT, POST
from app.identity.platform.saml_writing import message_bindings, request_writer
from app.identity.protocols.oauth.authorize import account_choice
from app.identity.protocols.oauth.logout import session_end
from app.identity.protocols.saml import logout_chain, name_ids, refusals, responses, saml_clients, sp_messages
from app.identity.protocols.saml.logout_chain import LogoutChain, LogoutDemand, Participant
from app.identity.protocols.saml.refusals import SamlCode, SamlProblem
from app.identity.protocols.saml.saml_clients import SamlApp
from app.identity.protocols.saml.sp_messages import APP, RELAY_STATE, REQUEST, RESPONSE, BrowserMessage

CHAIN: Final = "chain"
"""The parameter with the token of a sign-out under way."""
_SIGN_OUT_PAGE: Final = "/logout"


def begin(context: Context, ended: Collection[EndedSession], end: AnyStep) -> AnyStep:
    """Return the step that leads the browser to the service providers of sessions that ended, and then where `end` leads."""
    left = logout_chain.participants_of(ended)
    if not any(_logout_url(context, participant) for participant in left):
        return end
    onward = end.address if isinstance(end, RedirectStep) else ""
    return _to_chain(context, logout_chain.with_participants(LogoutChain(onward=onward), left))


def open_message(context: Context, received: SamlMessage) -> StepResponse:
    """Return the next step of a sign-out: of a request, an answer, a token of ours, or our page that asks.

    Raises:
        TooManyRequests: the browser's address sent too many requests.
    """
    context.count_request("saml.logout", context.tenant.settings.limits.authorize_per_minute_per_address)
    message = BrowserMessage.of(received)
    if message.has(CHAIN):
        chain = logout_chain.take(context, message.value(CHAIN))
        return _continue(context, chain) if chain is not None else _signed_out(context)
    app = saml_clients.find(context, message.value(APP))
    if app is None:
        expected, name = "an active client", message.value(APP)
        problem = SamlProblem(SamlCode.CONFIGURATION, ServiceProviderCheck.CLIENT, expected=expected, received=name)
        return refusals.page(context, "", problem)
    try:
        if message.has(RESPONSE):
            return _answered(context, app, message)
        if message.has(REQUEST):
            return _demanded(context, app, message)
    except SamlProblem as problem:
        return refusals.page(context, app.name, problem, saml_clients.view_of(app, None))
    query = urlencode({"return_url": app.client.after_logout_url}) if app.client.after_logout_url else ""
    return StepResponse(step=RedirectStep(address=f"{_SIGN_OUT_PAGE}?{query}".rstrip("?")))


def _demanded(context: Context, app: SamlApp, message: BrowserMessage) -> StepResponse:
    """Return the step of a service provider's request; of a posted one, after a redirect that has the cookies. Raises SamlProblem."""
    accepted = sp_messages.read_logout_request(context, app, message)
    demand = LogoutDemand(
        app=app.name,
        request_id=accepted.request_id,
        name_id=accepted.name_id.value,
        session_indexes=accepted.session_indexes,
        relay_state=accepted.relay_state,
    )
    chain = LogoutChain(demand=demand, is_demand_open=True)
    return StepResponse(step=_to_chain(context, chain)) if message.is_post else _continue(context, chain)


def _answered(context: Context, app: SamlApp, message: BrowserMessage) -> StepResponse:
    """Return the next step after a service provider's answer. Raises SamlProblem for one that nobody awaits."""
    text = message.value(RELAY_STATE)
    chain = logout_chain.find(context, text)
    if chain is None or chain.asked_app != app.name or logout_chain.take(context, text) is None:
        raise SamlProblem(SamlCode.CONFIGURATION, "request", expected="an answer that is awaited, with its RelayState")
    try:
        is_success = sp_messages.is_signed_out(context, app, message, chain.asked_request_id)
    except SamlProblem as problem:
        refusals.record(context, app.name, problem)
        is_success = False
    return _next(context, replace(chain, is_partial=chain.is_partial or not is_success))


def _continue(context: Context, chain: LogoutChain) -> StepResponse:
    """Return the next step of a chain that begins, or whose service provider came back without an answer."""
    if chain.demand is None or not chain.is_demand_open:
        return _next(context, replace(chain, is_partial=chain.is_partial or bool(chain.asked_app)))
    ended, update = _end_sessions(context, chain.demand)
    found = logout_chain.participants_of(ended, but=chain.demand.app)
    rest = logout_chain.with_participants(replace(chain, is_demand_open=False), found)
    if not update.get("frames"):
        return _next(context, rest).model_copy(update=update)
    return StepResponse(step=_to_chain(context, rest), **update)


def _end_sessions(context: Context, demand: LogoutDemand) -> tuple[list[EndedSession], dict[str, Any]]:
    """End the sessions of this browser that a service provider demands; return them, and the changes of cookies.

    A session without the service provider, or with another NameID, stays: it is none of its business.
    """
    app = saml_clients.find(context, demand.app)
    current = sessions.current(context)
    live = [item.session for item in browser_sessions.all_sessions(context)]
    named = [session for session in live if app is not None and _is_named(context, app, demand, session)]
    ended = [one for session in named for one in session_end.end(context, session, "rp_logout")]
    gone = {session.session_id for session in named}
    stays = current.uid if current is not None and current.session_id not in gone else ""
    others = browser_sessions.others(context, stays) if context.visit and context.visit.others else None
    context.audit.record("saml.logout", app=demand.app, sessions=len(ended))
    return ended, {
        "frames": session_end.frames(context, ended),
        "ends_session": current is not None and not stays,
        "other_sessions": others,
    }


def _is_named(context: Context, app: SamlApp, demand: LogoutDemand, session: BrowserSession) -> bool:
    stored = dict(session.issuers).get(session_ends.participant_of(app.name), "")
    if not stored or stored.partition(" ")[2] != demand.name_id:
        return False
    indexes = demand.session_indexes
    return not indexes or session.session_id in {name_ids.session_id_of(context, app, index) for index in indexes}


def _next(context: Context, chain: LogoutChain) -> StepResponse:
    """Return the step to the next service provider that takes part in single logout, or the end."""
    for position, participant in enumerate(chain.left):
        app = saml_clients.find(context, participant.app)
        if app is not None and app.client.sp_logout_url:
            rest = replace(chain, left=chain.left[position + 1 :])
            return _ask(context, app, app.client.sp_logout_url, participant, rest)
        chain = replace(chain, is_partial=True)
    return _end(context, chain)


def _ask(context: Context, app: SamlApp, url: str, participant: Participant, rest: LogoutChain) -> StepResponse:
    name_format, _, value = participant.name_id.partition(" ")
    request = request_writer.logout_request(
        entity_id=saml_clients.entity_id(context),
        destination=url,
        name_id=_qualified(context, app, SamlNameId(value=value, name_format=name_format)),
        session_indexes=[name_ids.session_index(context, app, participant.session_id)],
        now=context.now,
    )
    asked = replace(rest, asked_app=app.name, asked_request_id=str(request.get("ID")))
    return StepResponse(step=_sent(app, url, request, logout_chain.store(context, asked)))


def _qualified(context: Context, app: SamlApp, name_id: SamlNameId) -> SamlNameId:
    """Return the NameID as it was asserted."""
    if name_id.name_format != PERSISTENT_FORMAT:
        return name_id
    return replace(name_id, name_qualifier=saml_clients.entity_id(context), sp_name_qualifier=app.entity_id)


def _end(context: Context, chain: LogoutChain) -> StepResponse:
    """Return the response to the service provider that demanded the sign-out, the address of ours, or the page at its end."""
    demand = chain.demand
    app = saml_clients.find(context, demand.app) if demand is not None else None
    if demand is None or app is None:
        return StepResponse(step=RedirectStep(address=chain.onward)) if chain.onward else _signed_out(context)
    if (url := app.client.sp_logout_url) is None:
        address = app.client.after_logout_url
        return StepResponse(step=RedirectStep(address=address)) if address else _signed_out(context)
    response = request_writer.logout_response(
        entity_id=saml_clients.entity_id(context),
        destination=url,
        request_id=demand.request_id,
        now=context.now,
        is_complete=not chain.is_partial,
    )
    return StepResponse(
        step=_sent(app, url, response, demand.relay_state), relying_party=saml_clients.view_of(app, url)
    )


def _sent(app: SamlApp, url: str, message: Any, relay_state: str) -> RedirectStep | FormPostStep:
    """Return the step that carries a message, signed, in the binding of the client."""
    key = responses.signing_key(app)
    if app.client.default_request_binding == POST:
        return FormPostStep(address=url, fields=message_bindings.posted_fields(message, key, relay_state))
    return RedirectStep(address=message_bindings.redirect_url(message, url, key, relay_state))


def _to_chain(context: Context, chain: LogoutChain) -> RedirectStep:
    return RedirectStep(address=f"{LOGOUT_PATH}?{urlencode({CHAIN: logout_chain.store(context, chain)})}")


def _signed_out(context: Context) -> StepResponse:
    return StepResponse(step=SignedOutStep(accounts=account_choice.options_left(context)))


def _logout_url(context: Context, participant: Participant) -> str | None:
    app = saml_clients.find(context, participant.app)
    return app.client.sp_logout_url if app is not None else None
