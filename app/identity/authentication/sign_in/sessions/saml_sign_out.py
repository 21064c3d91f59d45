"""Single logout with the SAML provider of an organization's connection, both ways (SAML V2.0 Profiles, section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from app.identity.authentication.federation import federated_sign_in
from app.identity.authentication.federation.saml import organization_saml
from app.identity.authentication.federation.saml.saml_upstream import SamlUpstream, refused
from app.identity.authentication.sign_in.sessions import session_store, sessions, upstream_names
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts import linked_identities
from app.identity.directory.identity_provider import PostedRequest
from app.identity.directory.organizations.connections import sign_in_connections
from app.identity.directory.organizations.connections.organization_connection_store import OrganizationConnectionRecord
from app.identity.directory.organizations.connections.sp_addresses import of_connection
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.saml import bindings, spent_messages
from app.identity.platform.saml.bindings import SamlEnvelope
from app.identity.platform.saml.expectations import SamlNameId
from app.identity.platform.saml.request_gate import (
    AcceptedLogoutRequest,
    SamlPeer,
    accept_logout_request,
    accept_logout_response,
)
from app.identity.platform.saml.saml_checks import SamlCheck
from app.identity.platform.saml.saml_names import POST
from app.identity.platform.saml.saml_rules import SamlRefusal
from app.identity.platform.saml_writing import message_bindings, request_writer
from app.kit import randomness
from app.kit.limits.rate_limits import Rate

if TYPE_CHECKING:
    from lxml.etree import _Element

_RATE: Final = Rate(600, 60)  # per connection and network: others must not use up what the provider needs
_REQUEST: Final = "SAMLRequest"
_ANSWER: Final = "SAMLResponse"
_ANSWER_TIME: Final = timedelta(minutes=10)
Lead = str | PostedRequest
"""Where the browser brings a message: an address that carries it, or a form."""


def end(
    context: Context,
    record: OrganizationConnectionRecord,
    *,
    query: str = "",
    messages: Sequence[str] = (),
    relay_states: Sequence[str] = (),
) -> Lead | None:
    """End the sessions that a signed LogoutRequest names, and return the address or the form with our answer.

    None where the provider has no address for answers. Sessions that are unknown here are no error: they are over.

    Args:
        query: of a redirect, as it was received; empty for a form.
        messages, relay_states: all values of a form's parameters.

    Raises:
        ConnectionBroken: the request is refused, and left a trace.
        TooManyRequests: 600 of the connection and the caller's network in a minute.
    """
    context.count_against("upstream_logout", _RATE, record.connection_id, context.network)
    try:
        envelope = _envelope(_REQUEST, query, messages, relay_states)
        provider = organization_saml.provider_of(context, record)
        context.work.release_connection()
        request = _accepted(context, record, provider, envelope)
        spent_messages.spend(context, request)
    except SamlRefusal as refusal:
        raise federated_sign_in.broken(context, record.connection_id, refused(refusal)) from None
    except ProviderUnavailable as problem:
        raise federated_sign_in.broken(context, record.connection_id, problem) from None
    for uid, session_id in _named(context, record.connection_id, request):
        if sessions.end(context, uid, session_id) is not None:
            tokens.revoke_with_session(context, uid, session_id)
            facts = {"org_id": record.org_id, "connection_id": record.connection_id}
            context.audit.record("session.ended_upstream", uid=uid, **facts)
    return _answer(context, record, provider, request)


def begin(context: Context, session: BrowserSession, after: str) -> Lead | None:
    """Return the request to sign a session's person out at the SAML provider that began it, and where the browser brings it.

    None where no SAML provider began the session, or it takes no sign-outs.

    Args:
        after: where the browser goes once the provider has answered; empty for our page.
    """
    if not session.connection_id or (known := upstream_names.of_session(context, session.session_id)) is None:
        return None
    continuation_tokens.spend(context, known)
    record = sign_in_connections.by_id(context, session.connection_id)
    if record is None or not record.is_saml or not record.content.get("idp_sign_out_url"):
        return None
    try:
        provider = organization_saml.provider_of(context, record)
    except ProviderUnavailable:  # the person is signed out here all the same
        return None
    destination = str(record.content["idp_sign_out_url"])
    value, name_format, qualifier, sp_qualifier = known.facts["name"]
    index = str(known.facts["index"])
    message = request_writer.logout_request(
        entity_id=provider.entity_id,
        destination=destination,
        name_id=SamlNameId(
            value=value, name_format=name_format, name_qualifier=qualifier, sp_name_qualifier=sp_qualifier
        ),
        session_indexes=[index] if index else [],
        now=context.now,
    )
    facts = {"connection": record.connection_id, "request": str(message.get("ID")), "after": after}
    text = randomness.token()
    continuation_tokens.issue(
        context, ContinuationPurpose.SAML_SIGN_OUT, NO_ACCOUNT, lifetime=_ANSWER_TIME, facts=facts, text=text
    )
    return _lead(record, provider, message, destination, text)


def finish(
    context: Context,
    record: OrganizationConnectionRecord,
    *,
    query: str = "",
    messages: Sequence[str] = (),
    relay_states: Sequence[str] = (),
) -> str:
    """Accept the provider's answer to our sign-out, once, and return where the browser goes; empty for our page.

    A person whom the provider did not sign out is signed out here all the same. Raises as `end` does: anyone can send what is no
    answer, and each one leaves a trace.
    """
    context.count_against("upstream_logout", _RATE, record.connection_id, context.network)
    try:
        envelope = _envelope(_ANSWER, query, messages, relay_states)
        token = _awaited(context, record, envelope.relay_state)
        provider = organization_saml.provider_of(context, record)
        context.work.release_connection()
        peer, address = (
            SamlPeer(entity_id=provider.issuer, keys=provider.keys),
            of_connection(context, record).logout_url,
        )
        request_id = str(token.facts["request"])
        accept_logout_response(envelope, peer, request_id=request_id, address=address, now=context.now)
        _spend(context, token)
    except SamlRefusal as refusal:
        raise federated_sign_in.broken(context, record.connection_id, refused(refusal)) from None
    except ProviderUnavailable as problem:
        raise federated_sign_in.broken(context, record.connection_id, problem) from None
    return str(token.facts["after"])


def _awaited(context: Context, record: OrganizationConnectionRecord, relay_state: str) -> ContinuationToken:
    """Return the sign-out at this provider that the RelayState names. Raises ProviderUnavailable."""
    token = continuation_tokens.find(context, ContinuationPurpose.SAML_SIGN_OUT, relay_state)
    is_own = token is not None and token.facts["connection"] == record.connection_id
    if token is None or not is_own or token.is_expired(context.now):
        text = "no sign-out waits for the answer"
        raise ProviderUnavailable(text, check=SamlCheck.CONDITIONS, expected="the RelayState of a sign-out")
    return token


def _spend(context: Context, token: ContinuationToken) -> None:
    """Spend a sign-out. Raises ProviderUnavailable for one that was answered concurrently."""
    if not continuation_tokens.spend(context, token):
        raise ProviderUnavailable("the sign-out was answered before", check=SamlCheck.REPLAY)


def _lead(
    record: OrganizationConnectionRecord, provider: SamlUpstream, message: _Element, destination: str, relay_state: str
) -> Lead:
    """Return where the browser brings a message, as the provider takes it."""
    if record.content.get("idp_sign_out_binding") == POST:
        return PostedRequest(destination, message_bindings.posted_fields(message, provider.signing_key, relay_state))
    return message_bindings.redirect_url(message, destination, provider.signing_key, relay_state)


def _envelope(name: str, query: str, messages: Sequence[str], relay_states: Sequence[str]) -> SamlEnvelope:
    """Return the message of a redirect, or of a form. Raises SamlRefusal."""
    return bindings.redirected(name, query) if query else bindings.posted(name, messages, relay_states)


def _accepted(
    context: Context, record: OrganizationConnectionRecord, provider: SamlUpstream, envelope: SamlEnvelope
) -> AcceptedLogoutRequest:
    peer = SamlPeer(entity_id=provider.issuer, keys=provider.keys)
    address = of_connection(context, record).logout_url

    def peer_of(issuer: str) -> SamlPeer | None:
        return peer if issuer == peer.entity_id else None

    return accept_logout_request(envelope, peer_of, address=address, now=context.now)


def _named(context: Context, name: str, request: AcceptedLogoutRequest) -> list[tuple[str, str]]:
    """Return account and id of the sessions that a request names: by their index, or all that its person began.

    An index that the provider gave to another person's session too ends only the sessions of the person with the NameID.
    """
    holder = linked_identities.find_account(context, name, request.name_id.value)
    if not request.session_indexes:
        found = list(session_store.of_connection(context, name, holder.uid)) if holder is not None else []
    else:
        found = [row for index in request.session_indexes for row in session_store.of_upstream(context, name, index)]
    return [(row.uid, row.session_id) for row in found if holder is None or row.uid == holder.uid]


def _answer(
    context: Context, record: OrganizationConnectionRecord, provider: SamlUpstream, request: AcceptedLogoutRequest
) -> Lead | None:
    content = record.content
    destination = content.get("idp_sign_out_response_url") or content.get("idp_sign_out_url")
    if not destination:
        return None
    message = request_writer.logout_response(
        entity_id=provider.entity_id, destination=destination, request_id=request.request_id, now=context.now
    )
    return _lead(record, provider, message, destination, request.relay_state)
