"""Ends sessions when the SAML provider of an organization's connection says so (SAML V2.0 Profiles, section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.identity.authentication.federation import federated_sign_in
from app.identity.authentication.federation.saml import organization_saml
from app.identity.authentication.federation.saml.saml_upstream import SamlUpstream, refused
from app.identity.authentication.sign_in.sessions import session_store, sessions
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts import linked_identities
from app.identity.directory.identity_provider import PostedRequest
from app.identity.directory.organizations.connections.organization_connection_store import OrganizationConnectionRecord
from app.identity.directory.organizations.connections.sp_addresses import of_connection
from app.identity.platform.context import Context
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.saml import bindings, spent_messages
from app.identity.platform.saml.bindings import SamlEnvelope
from app.identity.platform.saml.request_gate import AcceptedLogoutRequest, SamlPeer, accept_logout_request
from app.identity.platform.saml.saml_names import POST
from app.identity.platform.saml.saml_rules import SamlRefusal
from app.identity.platform.saml_writing import message_bindings, request_writer
from app.kit.limits.rate_limits import Rate

_RATE: Final = Rate(600, 60)  # per connection and network: others must not use up what the provider needs
_REQUEST: Final = "SAMLRequest"


def end(
    context: Context,
    record: OrganizationConnectionRecord,
    *,
    query: str = "",
    messages: Sequence[str] = (),
    relay_states: Sequence[str] = (),
) -> str | PostedRequest | None:
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
        envelope = bindings.redirected(_REQUEST, query) if query else bindings.posted(_REQUEST, messages, relay_states)
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
) -> str | PostedRequest | None:
    content = record.content
    destination = content.get("idp_sign_out_response_url") or content.get("idp_sign_out_url")
    if not destination:
        return None
    message = request_writer.logout_response(
        entity_id=provider.entity_id, destination=destination, request_id=request.request_id, now=context.now
    )
    key, relay_state = provider.signing_key, request.relay_state
    if content.get("idp_sign_out_binding") == POST:
        return PostedRequest(destination, message_bindings.posted_fields(message, key, relay_state))
    return message_bindings.redirect_url(message, destination, key, relay_state)
