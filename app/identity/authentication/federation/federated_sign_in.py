"""Federated sign-in: the redirect to a provider and back, and links between accounts and identities of providers.

One state token binds the callback to the interaction, the tenant and the connection.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

from app.contract import errors
from app.contract.federation.connection_checks import NEVER_ASKED, UNAVAILABLE, ConnectionCheck
from app.contract.federation.connection_completion import can_sign_in
from app.contract.federation.pages.connection_pages import CALLBACK
from app.contract.messages.models import MailKind
from app.contract.step_reasons import LoginReason
from app.identity.authentication.federation import (
    connection_traces,
    jwt_providers,
    offered_connections,
    provider_clients,
)
from app.identity.authentication.federation.offered_connections import OfferedConnection
from app.identity.credentials import notifications
from app.identity.credentials.ldap import ldap_directories
from app.identity.directory.accounts import linked_identities, provider_tokens
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.linked_identities import Identity
from app.identity.directory.identity_provider import (
    AuthenticationRequest,
    PostedRequest,
    ProviderDenied,
    ProviderIdentity,
    ProviderTokens,
)
from app.identity.messaging.message import MessageFacts
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.identity.platform.outbound.findings import UpstreamRefusal, error_name
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit import randomness
from app.kit.clock import aware

log = logging.getLogger("gatehouse.identity")

LIFETIME: Final = timedelta(hours=1)
"""How long a person may stay at the provider: some create an account there first."""

_CLIENT_ERRORS: Final = frozenset({"invalid_client", "unauthorized_client"})
"""Errors by which a token endpoint refuses the tenant's client (RFC 6749 section 5.2)."""


class ConnectionFailed(Exception):
    """A sign-in at a provider failed; `reason` is what the page may tell."""

    def __init__(self, reason: LoginReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class ConnectionRefused(ConnectionFailed):
    """The visitor declined at the provider, or the provider refused the sign-in."""


class ConnectionBroken(ConnectionFailed):
    """The provider does not respond, or its response is invalid."""


class UnknownState(Exception):
    """The state was never issued, expired, was used, or belongs to another tenant."""


def active_names(context: Context) -> tuple[str, ...]:
    """Return the providers of identities that can sign in now, on pages or in apps."""
    from app.identity.authentication.federation import saml_providers  # noqa: PLC0415 - few tenants have any

    settings = context.tenant.settings.connections
    return (
        *(name for name, setting in settings.items() if can_sign_in(name, setting)),
        *jwt_providers.active_names(context),
        *(directory.name for directory in ldap_directories.active(context)),
        *saml_providers.active_names(context),
    )


def begin(
    context: Context,
    connection: OfferedConnection,
    interaction_id: str,
    *,
    reauthenticate: bool = False,
    hint: str = "",
    scope: str = "",
) -> str | PostedRequest:
    """Return the provider's authorization URL for the browser, or the form that it posts.

    Args:
        reauthenticate: whether the provider must authenticate the user again, even with a session there.
        hint: the expected account's identifier.
        scope: scopes to request beside those of the connection.

    Raises:
        ConnectionBroken: the provider's metadata names no authorization endpoint.
    """
    text, nonce, verifier = randomness.token(), randomness.token(16), randomness.token(48)
    callback, scopes = f"{context.issuer}{connection.callback}", tuple(scope.split())
    request = AuthenticationRequest(
        f"{interaction_id}.{text}", nonce, verifier, callback, context.now, further_scopes=scopes
    )
    language = context.visit.language if context.visit else ""
    try:
        provider = provider_clients.for_website(context, connection.name, connection.record)
        context.work.release_connection()
        lead = provider.authorization_url(request, hint=hint, is_reauthentication=reauthenticate, language=language)
    except ProviderUnavailable as problem:
        raise broken(context, connection.name, problem) from None
    facts = {
        "attempt": interaction_id,
        "connection": connection.name,
        "nonce": request.nonce,
        "verifier": request.code_verifier,
        "again": reauthenticate,
        **({"posted": True} if connection.is_saml else {}),
    }
    continuation_tokens.issue(
        context,
        ContinuationPurpose.CONNECTION,
        NO_ACCOUNT,
        lifetime=LIFETIME,
        facts=facts,
        text=text,
    )
    return lead


def finish(
    context: Context,
    state: str,
    token: ContinuationToken | None,
    parameters: Mapping[str, str],
    *,
    callback: str = CALLBACK,
) -> tuple[ProviderIdentity, OfferedConnection]:
    """Use up the state, and return the identity that the provider authenticated.

    The returned connection trusts the address only where the provider owns mailboxes of its domain.

    Args:
        token: of the state, as it is stored; None for an unknown state.
        parameters: those of the callback.
        callback: the path at which they came; another connection's is refused (RFC 9700 section 4.4).

    Raises:
        UnknownState, ConnectionRefused, ConnectionBroken.
    """
    token = _spend(context, token, state, parameters.get("code", ""))
    name = str(token.facts["connection"])
    connection = offered(context, name)
    requested_at = aware(token.created_at) if token.facts["again"] else None
    if connection.callback != callback:
        text = "the answer came to the address of another connection"
        raise broken(
            context,
            name,
            ProviderUnavailable(text, check=ConnectionCheck.STATE, expected=connection.callback, received=callback),
        )
    if connection.is_saml:  # its answer was posted and accepted before
        return ProviderIdentity.from_facts(token.facts["identity"]), connection
    redirect_uri = f"{context.issuer}{connection.callback}"
    request = AuthenticationRequest(
        state, token.facts["nonce"], token.facts["verifier"], redirect_uri, aware(token.created_at), requested_at
    )
    identity, tokens = _fetched(context, connection, request, parameters)
    connection = offered(context, name)  # again, because the provider decides how long its answer takes
    if tokens is not None:
        identity = provider_tokens.store_pending(context, identity, tokens)
    trusts_email = connection.trusts_email and identity.gives_email
    return identity, replace(connection, trusts_email=trusts_email)


def _fetched(
    context: Context, connection: OfferedConnection, request: AuthenticationRequest, parameters: Mapping[str, str]
) -> tuple[ProviderIdentity, ProviderTokens | None]:
    """Return the identity for the parameters of a callback. Raises ConnectionRefused, ConnectionBroken."""
    secrets, name = [*request.secrets, parameters.get("code", "")], connection.name
    try:
        provider = provider_clients.for_website(context, name, connection.record)
        secrets.append(provider.secret)
        context.work.release_connection()
        return provider.fetch_identity(request, parameters, context.now)
    except ProviderDenied as reason:
        connection_traces.record(context, name, reason, secrets=secrets)
        log.info("connection %s refused: %s", name, reason)
        raise ConnectionRefused(_reason_of(reason)) from None
    except ProviderUnavailable as problem:
        raise broken(context, name, problem, secrets) from None


def link(context: Context, account: Account, identity: ProviderIdentity) -> Account:
    """Link an identity, as `linked_identities.link` does, and notify the account.

    An identity of a provider that registered the account does not notify, except one of a JWT, which another site may have sent.
    """
    before = {linked.key for linked in linked_identities.of(account)}
    changed = linked_identities.link(context, account, identity)
    key = (identity.provider, identity.subject)
    is_first = not before and account.private.get(linked_identities.REGISTERED_BY) == identity.provider
    is_first = is_first and not offered_connections.is_of_jwt_provider(
        identity.provider
    )  # another site may have sent the JWT
    if key not in before and not is_first:
        _notify(context, MailKind.IDENTITY_LINKED, changed, identity.provider)
    return changed


def unlink(context: Context, account: Account, identity: Identity) -> Account:
    """Unlink an identity, as `linked_identities.unlink` does, and notify the account (decision 0061)."""
    changed = linked_identities.unlink(context, account, identity.provider, identity.subject)
    _notify(context, MailKind.IDENTITY_UNLINKED, changed, identity.provider)
    return changed


def _notify(context: Context, kind: MailKind, account: Account, provider: str) -> None:
    facts = MessageFacts(provider=offered_connections.title_for(context, provider))
    notifications.notify_with_alert_link(context, kind, account.email, account, facts)


def _spend(context: Context, token: ContinuationToken | None, state: str, code: str) -> ContinuationToken:
    if token is None:
        raise UnknownState
    if token.state == continuation_tokens.OPEN and token.facts.get("posted"):
        raise UnknownState  # the answer of a SAML provider is posted first
    if token.is_expired(context.now) or token.facts["attempt"] != state.rpartition(".")[0]:
        _record_wrong_state(context, token, "a state that expired, or of another sign-in")
        raise UnknownState
    if token.facts.get("posted") and token.facts.get("code_hash") != randomness.digest(code):
        _record_wrong_state(context, token, "a state whose answer another browser posted")
        raise UnknownState  # else whoever begins a sign-in and lets somebody else answer it would be signed in as them
    with context.work.separate_transaction() as work:
        if not continuation_tokens.spend(context.within(work), token):
            raise UnknownState
    return token


def record_other_browser(context: Context, state: str) -> None:
    """Record that a state came back in another browser than began the sign-in; nothing for a state that is not open."""
    token = continuation_tokens.find(context, ContinuationPurpose.CONNECTION, state.rpartition(".")[2])
    if token is not None:
        _record_wrong_state(context, token, "a state of another browser, or of one that lost its cookies")


def _record_wrong_state(context: Context, token: ContinuationToken, received: str) -> None:
    """Record that a state of a connection is refused, unless the caller's network began too many sign-ins.

    The state stays open, so that sending it again and again would displace the connection's other traces.
    """
    try:
        context.count_request("connection", context.tenant.settings.limits.federation_starts_per_minute_per_address)
    except errors.TooManyRequests:
        return
    refusal = ProviderDenied(
        received, check=ConnectionCheck.STATE, expected="the state of this browser’s sign-in, within an hour"
    )
    connection_traces.record(context, str(token.facts["connection"]), refusal)


def offered(context: Context, name: str) -> OfferedConnection:
    """Return the connection of a state token. Raises ConnectionBroken where it was removed or turned off since."""
    try:
        return offered_connections.find_any(context, name)
    except (errors.UnknownConnection, errors.ConnectionNotConfigured):
        removed = ProviderUnavailable(
            "it was removed or turned off", check=ConnectionCheck.CONFIGURATION, expected="a connection that is active"
        )
        raise broken(context, name, removed) from None


def broken(context: Context, name: str, problem: ProviderUnavailable, secrets: Iterable[str] = ()) -> ConnectionBroken:
    """Record why a provider's answer is refused, and return the error."""
    connection_traces.record(context, name, problem, secrets=secrets)
    log.warning("connection %s: %s", name, problem)
    return ConnectionBroken(_reason_of(problem))


def _reason_of(refusal: UpstreamRefusal) -> LoginReason:
    """Return what the page may tell: whether the person left, a later try can help, or another way must; nothing of the checks."""
    finding = refusal.finding
    if finding.check is ConnectionCheck.AUTHORIZATION_ANSWER:
        return LoginReason.DENIED
    if finding.cause in UNAVAILABLE:
        return LoginReason.BROKEN
    is_set_up_wrong = finding.check is ConnectionCheck.CONFIGURATION or finding.cause in NEVER_ASKED
    is_client_refused = isinstance(refusal, ProviderUnavailable) and refusal.error in _CLIENT_ERRORS
    return LoginReason.UNUSABLE if is_set_up_wrong or is_client_refused else LoginReason.UNVERIFIED_ANSWER


def provider_response(problem: ProviderUnavailable) -> str | None:
    """Return a summary of the provider's response; None if it did not answer. Its text may contain secrets."""
    if problem.error:
        return error_name(problem.error)
    return f"HTTP {problem.status}" if problem.status is not None else None
