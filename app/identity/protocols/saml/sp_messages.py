"""Reads what browsers bring from service providers, by the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import parse_qsl

from app.contract.saml.saml_operations import SamlMessage
from app.contract.saml.service_provider_diagnoses import ServiceProviderCheck
from app.identity.authentication.sign_in.interaction_state import SamlRequest
from app.identity.platform.context import Context
from app.identity.platform.saml import bindings, spent_messages
from app.identity.platform.saml.bindings import SamlEnvelope
from app.identity.platform.saml.request_gate import (
    AcceptedLogoutRequest,
    SamlPeer,
    accept_authn_request,
    accept_logout_request,
    accept_logout_response,
)
from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule
from app.identity.platform.saml.trusted_keys import TrustedKeys
from app.identity.protocols.saml import authentication_contexts, saml_clients
from app.identity.protocols.saml.refusals import SamlCode, SamlProblem
from app.identity.protocols.saml.saml_clients import SamlApp

REQUEST, RESPONSE, RELAY_STATE, APP = "SAMLRequest", "SAMLResponse", "RelayState", "appname"
_SIGNATURE_RULES: Final = frozenset({SamlRule.SIGNATURE_FORM, SamlRule.ALGORITHM, SamlRule.KEY, SamlRule.VERIFIED})
_MAX_PARAMETERS: Final = 100
_MAX_NAME_LENGTH: Final = 100
_MAX_RELAY_STATE: Final = 2_048


@dataclass(frozen=True)
class BrowserMessage:
    """The parameters of a visit; those of a posted form come before those of its address."""

    query: str
    fields: Sequence[tuple[str, str]] | None

    @classmethod
    def of(cls, message: SamlMessage) -> BrowserMessage:
        return cls(message.query, message.fields)

    @property
    def is_post(self) -> bool:
        return self.fields is not None

    @cached_property
    def _pairs(self) -> list[tuple[str, str]]:
        """All parameters, none of an address with more than a request has."""
        try:
            own = parse_qsl(self.query, keep_blank_values=True, errors="replace", max_num_fields=_MAX_PARAMETERS)
        except ValueError:
            own = []
        return [*(self.fields or ()), *own]

    def values(self, name: str) -> list[str]:
        """Return the values of a parameter, whose name may be in any letter case."""
        return [value for key, value in self._pairs if key.lower() == name.lower()]

    def value(self, name: str, max_length: int = _MAX_NAME_LENGTH) -> str:
        return next(iter(self.values(name)), "")[:max_length]

    def relay_state(self, app: SamlApp) -> str:
        """Return the state for a sign-in that begins here, under SAML's name or the client's."""
        found = self.value(RELAY_STATE, _MAX_RELAY_STATE) or self.value(
            app.client.relay_state_parameter, _MAX_RELAY_STATE
        )
        return found if found.isprintable() else ""

    def has(self, name: str) -> bool:
        return bool(self.values(name))

    def envelope(self, name: str) -> SamlEnvelope:
        """Return the message of this name, decoded. Raises SamlRefusal."""
        if self.fields is None:
            return bindings.redirected(name, self.query)
        posted = [[value for key, value in self.fields if key == wanted] for wanted in (name, RELAY_STATE)]
        return bindings.posted(name, *posted)


def read_authn_request(context: Context, app: SamlApp, message: BrowserMessage) -> SamlRequest:
    """Return the accepted request; a signed one is spent. Raises SamlProblem."""
    if not app.entity_id:
        raise SamlProblem(
            SamlCode.CONFIGURATION, ServiceProviderCheck.CLIENT, expected="IssuerUrl", received="no value"
        )
    peer = peer_of(app)
    try:
        accepted = accept_authn_request(
            message.envelope(REQUEST),
            {app.entity_id: peer}.get,
            address=saml_clients.login_url(context, app),
            now=context.now,
        )
        if accepted.is_signed:
            spent_messages.spend(context, accepted)
    except SamlRefusal as refusal:
        raise problem_of(refusal) from refusal
    return SamlRequest(
        app=app.name,
        acs_url=accepted.acs_url,
        request_id=accepted.request_id,
        relay_state=accepted.relay_state,
        name_id_format=accepted.name_id_format,
        must_reauthenticate=accepted.must_reauthenticate,
        is_passive=accepted.is_passive,
        context_classes=authentication_contexts.to_keep(accepted.context_classes),
        comparison=accepted.comparison,
    )


def read_logout_request(context: Context, app: SamlApp, message: BrowserMessage) -> AcceptedLogoutRequest:
    """Return the accepted request, which is spent. Raises SamlProblem."""
    peer = _signing_peer(app)
    try:
        accepted = accept_logout_request(
            message.envelope(REQUEST),
            {app.entity_id: peer}.get,
            address=saml_clients.logout_url(context, app),
            now=context.now,
        )
        spent_messages.spend(context, accepted)
    except SamlRefusal as refusal:
        raise problem_of(refusal) from refusal
    return accepted


def is_signed_out(context: Context, app: SamlApp, message: BrowserMessage, request_id: str) -> bool:
    """Return whether a service provider answered our request by a success. Raises SamlProblem."""
    peer = _signing_peer(app)
    address = saml_clients.logout_url(context, app)
    try:
        envelope = message.envelope(RESPONSE)
        accepted = accept_logout_response(envelope, peer, request_id=request_id, address=address, now=context.now)
    except SamlRefusal as refusal:
        raise problem_of(refusal) from refusal
    return accepted.is_success


def peer_of(app: SamlApp) -> SamlPeer:
    """Return what is registered of a service provider; with a certificate, it must sign."""
    keys = TrustedKeys(app.sp_certificates) if app.sp_certificates else None
    return SamlPeer(entity_id=app.entity_id, keys=keys, acs_urls=app.acs_urls, must_sign=keys is not None)


def _signing_peer(app: SamlApp) -> SamlPeer:
    """Return the peer of logout messages. Raises SamlProblem for a client without a certificate, whose messages nothing verifies."""
    if not (app.entity_id and app.sp_certificates):
        raise SamlProblem(SamlCode.SIGNATURE, SamlRule.KEY, expected="IssuerUrl and SpCertificate of the client")
    return peer_of(app)


def problem_of(refusal: SamlRefusal) -> SamlProblem:
    """Return the refusal of the gate with its code."""
    code = SamlCode.SIGNATURE if refusal.rule in _SIGNATURE_RULES else SamlCode.CONFIGURATION
    received = f"{refusal} {refusal.received}".strip()
    return SamlProblem(code, refusal.rule, expected=refusal.expected, received=received)
