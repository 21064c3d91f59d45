"""The response to a service provider, as a form that the browser posts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.contract.saml.service_provider_diagnoses import ServiceProviderCheck
from app.contract.steps import FormPostStep, StepResponse
from app.identity.authentication.sign_in.interaction_state import SamlRequest
from app.identity.authentication.sign_in.sessions import session_ends, sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.saml.expectations import SamlNameId
from app.identity.platform.saml_writing import message_bindings, response_writer
from app.identity.platform.saml_writing.response_writer import AssertionContents, ResponseForm
from app.identity.platform.saml_writing.xml_signing import SigningKey
from app.identity.protocols.saml import assertions, name_ids, saml_clients
from app.identity.protocols.saml.refusals import SamlCode, SamlProblem
from app.identity.protocols.saml.saml_clients import SamlApp
from app.identity.protocols.saml.sp_messages import RELAY_STATE, RESPONSE

_STATUS: Final = "urn:oasis:names:tc:SAML:2.0:status:"
RESPONDER: Final = f"{_STATUS}Responder"
NO_PASSIVE: Final = f"{_STATUS}NoPassive"
NO_CONTEXT: Final = f"{_STATUS}NoAuthnContext"
WRONG_NAME_ID: Final = f"{_STATUS}InvalidNameIDPolicy"


@dataclass(frozen=True)
class Assertable:
    """A session that may be asserted to a service provider."""

    session: BrowserSession
    account: Account
    context_class: str


def signing_key(app: SamlApp) -> SigningKey:
    return SigningKey(app.current.certificate, app.current.private_key)


def respond(context: Context, app: SamlApp, request: SamlRequest, person: Assertable) -> StepResponse:
    """Return the form with the assertion, and remember that the service provider takes part in the session. Raises SamlProblem."""
    session = person.session
    name_format = name_ids.format_for(app, request.name_id_format, is_requested=request.request_id is not None)
    if name_format is None:
        return refuse(context, app, request, WRONG_NAME_ID)
    name_id = name_ids.name_id(context, app, person.account, session, name_format)
    if name_id is None:
        expected = "a verified email address"
        raise SamlProblem(SamlCode.CLAIMS, ServiceProviderCheck.CLAIMS, expected=expected, received="none")
    contents = _contents(context, app, request, person, name_id)
    form = _form(context, app, request, _encryption_certificate(context, app))
    try:
        written = response_writer.written_response(contents, form, signing_key(app), context.now)
    except ValueError:
        received = "a control character"
        raise SamlProblem(
            SamlCode.CLAIMS, ServiceProviderCheck.CLAIMS, expected="texts of XML", received=received
        ) from None
    context.cost.signatures += app.client.sign_assertion + app.client.sign_response
    participant = session_ends.participant_of(app.name)
    sessions.add_relying_party(context, session, participant, f"{name_id.name_format} {name_id.value}")
    context.audit.record("saml.issued", uid=session.uid, app=app.name, format=name_format)
    return _posted(app, request, written)


def _contents(
    context: Context, app: SamlApp, request: SamlRequest, person: Assertable, name_id: SamlNameId
) -> AssertionContents:
    """Return what the assertion says. Raises SamlProblem for a client that gets none any more."""
    lifetime = app.lifetime(context.now)
    if lifetime.total_seconds() <= 0:
        expected = "NotOnOrAfter in the future"
        raise SamlProblem(SamlCode.CONFIGURATION, ServiceProviderCheck.CLIENT, expected=expected, received="the past")
    return AssertionContents(
        name_id=name_id,
        audiences=app.audiences or (request.acs_url,),
        authenticated_at=person.session.authenticated_at,
        context_class=person.context_class,
        session_index=name_ids.session_index(context, app, person.session.session_id),
        lifetime=lifetime,
        session_expires_at=person.session.expires_at,
        attributes=assertions.attributes_of(app, person.account),
    )


def refuse(context: Context, app: SamlApp, request: SamlRequest, status: str) -> StepResponse:
    """Return the form with a response that says why there is no assertion, as SAML demands it of a request that is understood."""
    form = _form(context, app, request)
    written = response_writer.written_refusal(form, signing_key(app), context.now, status=RESPONDER, detail=status)
    context.audit.record("saml.refused", app=app.name, error=status.rpartition(":")[2])
    return _posted(app, request, written)


def _encryption_certificate(context: Context, app: SamlApp) -> str | None:
    """Return the certificate that an assertion is encrypted for, if it is. Raises SamlProblem if none can be used."""
    if not app.client.encrypt_assertion:
        return None
    found = app.encryption_certificate(context.now)
    if found is None:
        expected, received = "a certificate of the service provider with an RSA key that is valid now", "none"
        raise SamlProblem(SamlCode.CONFIGURATION, ServiceProviderCheck.CLIENT, expected=expected, received=received)
    return found


def _form(
    context: Context, app: SamlApp, request: SamlRequest, encryption_certificate: str | None = None
) -> ResponseForm:
    client = app.client
    return ResponseForm(
        issuer=saml_clients.entity_id(context),
        acs_url=request.acs_url,
        request_id=request.request_id,
        signs_assertion=client.sign_assertion,
        signs_response=client.sign_response,
        encryption_certificate=encryption_certificate,
    )


def _posted(app: SamlApp, request: SamlRequest, written: bytes) -> StepResponse:
    fields = message_bindings.form_fields(RESPONSE, written)
    if request.relay_state:
        fields[app.client.relay_state_parameter or RELAY_STATE] = request.relay_state
    step = FormPostStep(address=request.acs_url, fields=fields)
    return StepResponse(step=step, relying_party=saml_clients.view_of(app, request.acs_url))
