"""Accepts the posted answers of SAML providers: the pending request or, where it is switched on, an answer without request.

A posted answer comes from the provider's site, so without our cookies. What the gate accepted of it is kept for the browser that
began, if it is the one that posted: that comes back by the redirect after the post, with its cookies and a code which no other
browser got. Whoever begins a sign-in and lets somebody else answer it gets nothing. Nothing of a refused answer is kept but its
trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from app.contract.federation.connection_checks import ConnectionCheck
from app.identity.authentication.federation import federated_sign_in, offered_connections, provider_clients
from app.identity.authentication.federation.offered_connections import OfferedConnection
from app.identity.authentication.federation.saml.saml_upstream import SamlUpstream, refused, request_id_of
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.saml import bindings, spent_messages
from app.identity.platform.saml.saml_checks import SamlCheck
from app.identity.platform.saml.saml_rules import SamlRefusal
from app.kit import randomness
from app.kit.clock import aware

ANSWERED: Final = "answered"
"""The state of a pending request whose answer was accepted, and waits for its browser."""
SHARED: Final = "saml"
"""The connection in traces of answers that came to a shared address and name no request."""
CONFIRMATION_LIFETIME: Final = timedelta(minutes=10)


@dataclass(frozen=True)
class AcceptedAnswer:
    """Where the browser goes on: with the state of its request, or to the question of an answer without request."""

    state: str = ""
    code: str = ""
    """What the browser that posted the answer has, and the one that began need not."""
    path: str = ""
    """Where the browser of the state goes on."""
    unsolicited: str = ""


def accept(
    context: Context,
    connection: OfferedConnection | None,
    path: str,
    messages: Sequence[str],
    relay_states: Sequence[str],
) -> AcceptedAnswer:
    """Accept a posted answer once. Raises ConnectionBroken, which left a trace.

    Args:
        connection: that of the address at which it arrived: its keys alone are trusted. None for an address that the tenant's
            providers share: there, the pending request says whose answer it awaits.
        path: of the address, as it is registered at the provider.
        messages, relay_states: all values of the form's parameters.
    """
    name = connection.name if connection is not None else SHARED
    try:
        relay_state = _relay_state(relay_states)
        token = _pending(context, relay_state)
        if token is None:
            found = AcceptedAnswer(unsolicited=_accept_unsolicited(context, connection, path, messages, relay_state))
        else:
            expected = _connection_of(context, token, connection)
            name = expected.name
            code = _accept_requested(context, expected, path, messages, token)
            found = AcceptedAnswer(state=relay_state, code=code, path=expected.callback)
    except SamlRefusal as refusal:
        raise federated_sign_in.broken(context, name, refused(refusal)) from None
    except ProviderUnavailable as problem:
        raise federated_sign_in.broken(context, name, problem) from None
    return found


def _relay_state(values: Sequence[str]) -> str:
    """Return the RelayState of a form; empty without one. Raises SamlRefusal."""
    return bindings.posted("SAMLResponse", [""], values).relay_state


def _pending(context: Context, relay_state: str) -> ContinuationToken | None:
    """Return the pending request that the RelayState names; None where it names none."""
    interaction_id, _, text = relay_state.rpartition(".")
    token = continuation_tokens.find(context, ContinuationPurpose.CONNECTION, text)
    return token if token is not None and token.facts["attempt"] == interaction_id else None


def _connection_of(
    context: Context, token: ContinuationToken, connection: OfferedConnection | None
) -> OfferedConnection:
    """Return the connection of a pending request. Raises ProviderUnavailable for a request that is over or of another address."""
    name = str(token.facts["connection"])
    is_shared = offered_connections.is_of_saml_provider(name)
    if (connection is None and not is_shared) or (connection is not None and connection.name != name):
        raise ProviderUnavailable(
            "the answer came to the address of another connection",
            check=ConnectionCheck.STATE,
            expected=name,
            received=connection.name if connection is not None else "an address that all SAML providers share",
        )
    if token.is_expired(context.now):
        raise ProviderUnavailable(
            "the request is over",
            check=ConnectionCheck.STATE,
            expected="an answer within an hour",
            received="a later one",
        )
    return connection or federated_sign_in.offered(context, name)


def _provider(context: Context, connection: OfferedConnection) -> SamlUpstream:
    provider = provider_clients.for_website(context, connection.name, connection.record)
    if not isinstance(provider, SamlUpstream):
        raise ProviderUnavailable(
            "the connection isn’t a SAML connection any more", check=ConnectionCheck.CONFIGURATION
        )
    context.work.release_connection()
    return provider


def _accept_requested(
    context: Context, connection: OfferedConnection, path: str, messages: Sequence[str], token: ContinuationToken
) -> str:
    """Keep the identity of an answer with its request, which is answered once. Return the code for the browser that posted it."""
    provider = _provider(context, connection)
    assertion = provider.accept(
        messages,
        acs_url=f"{context.issuer}{path}",
        request_id=request_id_of(str(token.facts["nonce"])),
        now=context.now,
    )
    requested_at = aware(token.created_at) if token.facts["again"] else None
    identity = provider.identity(assertion, requested_at)
    spent_messages.spend(context, assertion)
    is_open, code = token.state == continuation_tokens.OPEN, randomness.token()
    facts = {"identity": identity.to_facts(), "code_hash": randomness.digest(code)}
    if not is_open or not continuation_tokens.change_state(context, token, ANSWERED, **facts):
        raise ProviderUnavailable(
            "the request was answered before",
            check=SamlCheck.REPLAY,
            expected="the first answer",
            received="another one",
        )
    return code


def _accept_unsolicited(
    context: Context, connection: OfferedConnection | None, path: str, messages: Sequence[str], relay_state: str
) -> str:
    """Keep the identity of an answer without request until the person confirms it. Return the text that names it.

    Any site can post such an answer through any browser, with an account of its own (login CSRF).
    """
    if connection is None or not connection.is_idp_initiated:
        raise ProviderUnavailable(
            "no request waits for the answer",
            check=SamlCheck.CONDITIONS,
            expected="the RelayState of a request, or IsIDPInitiated",
            received="a RelayState that names no request",
        )
    provider = _provider(context, connection)
    assertion = provider.accept(messages, acs_url=f"{context.issuer}{path}", request_id=None, now=context.now)
    identity = provider.identity(assertion, None)
    spent_messages.spend(context, assertion)
    facts = {"connection": connection.name, "identity": identity.to_facts(), "relay_state": relay_state}
    text = randomness.token()
    continuation_tokens.issue(
        context, ContinuationPurpose.UNSOLICITED, NO_ACCOUNT, lifetime=CONFIRMATION_LIFETIME, facts=facts, text=text
    )
    return text


def unsolicited(context: Context, text: str) -> tuple[ContinuationToken, OfferedConnection, ProviderIdentity] | None:
    """Return an accepted answer without request that waits for its confirmation; None where there is none any more."""
    token = continuation_tokens.find(context, ContinuationPurpose.UNSOLICITED, text)
    if token is None or token.is_expired(context.now):
        return None
    name = str(token.facts["connection"])
    if not offered_connections.is_active(context, name):
        return None
    connection = offered_connections.find_any(context, name)
    if not connection.is_idp_initiated:  # switched off since the answer was accepted
        return None
    return token, connection, ProviderIdentity.from_facts(token.facts["identity"])
