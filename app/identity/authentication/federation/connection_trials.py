"""Tries a connection of the set-up guide: a sign-in at the provider that makes no account, session or membership here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from app.contract import errors
from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.federation.pages.connection_pages import ORGANIZATION_CALLBACK
from app.contract.organizations.setup_operations import TRIAL_STATE
from app.identity.authentication.federation import connection_traces
from app.identity.authentication.federation.connection_causes import diagnosis_of
from app.identity.authentication.federation.providers import organization_openid
from app.identity.authentication.federation.providers.organization_openid import OrganizationOpenIdProvider
from app.identity.directory.identity_provider import AuthenticationRequest, ProviderDenied, ProviderIdentity
from app.identity.directory.organizations.connections import sign_in_connections
from app.identity.directory.organizations.setup import setup_draft
from app.identity.directory.organizations.setup.setup_draft import SetupDraft
from app.identity.directory.organizations.setup.setup_link_store import SetupLinkRecord
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.identity.platform.outbound.findings import MASKED, UpstreamRefusal, shown, shown_claim
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit import randomness
from app.kit.clock import iso
from app.kit.limits.rate_limits import Rate

_LIFETIME: Final = timedelta(hours=1)
_TRIALS: Final = Rate(60, 3600)
_MAX_CLAIMS: Final = 60
_MAX_TEXT: Final = 100
_MAX_NAME: Final = 100
_MAX_GROUPS: Final = 20
_OF_PROTOCOL: Final = frozenset((
    "iss", "aud", "exp", "nbf", "iat", "azp", "nonce", "at_hash", "c_hash", "auth_time", "acr", "amr", "jti", "sid", "rat", "s_hash",
    "_claim_names", "_claim_sources",
))  # fmt: skip
"""Claims that say nothing about a person."""
_SECRET_NAME: Final = re.compile(
    r"token|secret|passw|credential|apikey|api_key|private|session|otp|pin\b", re.IGNORECASE
)
_OPAQUE: Final = re.compile(r"[A-Za-z0-9+/_=.-]{60,}")
CLAIMS: Final = "claims"
"""The fact of a session with the claims of its last trial: another session of the link does not see their values."""


@dataclass(frozen=True)
class _Result:
    claims: tuple[tuple[str, str], ...] = ()
    identity: ProviderIdentity | None = None
    refusal: UpstreamRefusal | None = None


def begin(context: Context, link: SetupLinkRecord, session: ContinuationToken) -> str:
    """Return the address at which the browser signs in; empty where the provider cannot be asked, which is recorded as a refused trial.

    Raises SetupIncomplete, ClosedSetupLink, TooManyRequests.
    """
    draft = setup_draft.of_link(context, link)
    if not draft.needs_trial:
        raise errors.SetupIncomplete
    provider = _provider(context, link, draft)
    context.count_against("setup.trial", _TRIALS, link.link_id)
    text = randomness.token()
    request = _request(context, link, f"{TRIAL_STATE}.{text}", randomness.token(16), randomness.token(48))
    language = context.visit.language if context.visit else ""
    context.work.release_connection()
    try:
        url = provider.authorization_url(request, hint="", is_reauthentication=False, language=language)
    except ProviderUnavailable as problem:
        _record(context, link, session, draft.version, _Result(refusal=_traced(context, link, problem, [draft.secret])))
        return ""
    facts = {
        "link": link.link_id, "version": draft.version, "session": session.token_hash, "nonce": request.nonce,
        "verifier": request.code_verifier,
    }  # fmt: skip
    continuation_tokens.issue(
        context, ContinuationPurpose.SETUP_TRIAL, NO_ACCOUNT, lifetime=_LIFETIME, facts=facts, text=text
    )
    return url


def finish(context: Context, link: SetupLinkRecord, session: ContinuationToken, parameters: Mapping[str, str]) -> None:
    """Record what the provider answered, unless the connection changed since. Raises ClosedSetupLink."""
    draft = setup_draft.of_link(context, link)
    token = _spent(context, link, session, parameters.get("state", ""))
    if token is None:
        refusal = ProviderDenied("", check=ConnectionCheck.STATE, expected="the state of this browser’s test, once")
        _record(context, link, session, draft.version, _Result(refusal=_traced(context, link, refusal, [])))
        return
    if token.facts["version"] != draft.version:  # another provider would receive the code and its verifier
        return
    request = _request(context, link, parameters["state"], token.facts["nonce"], token.facts["verifier"])
    secrets = [*request.secrets, parameters.get("code", ""), draft.secret]
    result = _ask(context, link, draft, request, parameters)
    if result.refusal is not None:
        result = replace(result, refusal=_traced(context, link, result.refusal, secrets))
    _record(context, link, session, token.facts["version"], result)


def _ask(
    context: Context,
    link: SetupLinkRecord,
    draft: SetupDraft,
    request: AuthenticationRequest,
    parameters: Mapping[str, str],
) -> _Result:
    """Exchange the code and map the claims. Holds no connection of the database meanwhile."""
    provider = _provider(context, link, draft)
    context.work.release_connection()
    try:
        claims, _ = provider.fetch_claims(request, parameters, context.now)
    except UpstreamRefusal as refusal:
        return _Result(refusal=refusal)
    seen = tuple(_shown_claims(claims))[:_MAX_CLAIMS]
    try:
        identity = provider.identity_of(claims)
    except UpstreamRefusal as refusal:
        return _Result(seen, refusal=refusal)
    if not identity.email or not identity.email_verified:
        expected = f"{draft.mapping['Email']}: an email address that the provider doesn’t call unverified"
        received = "an unverified address" if identity.email else "no address"
        return _Result(
            seen, identity, ProviderDenied("", check=ConnectionCheck.EMAIL, expected=expected, received=received)
        )
    return _Result(seen, identity)


def _provider(context: Context, link: SetupLinkRecord, draft: SetupDraft) -> OrganizationOpenIdProvider:
    return organization_openid.client_of(context, draft.as_connection(context, link), draft.secret)


def _request(context: Context, link: SetupLinkRecord, state: str, nonce: str, verifier: str) -> AuthenticationRequest:
    """Return a request whose answer comes to the address that the connection will have."""
    callback = ORGANIZATION_CALLBACK.format(address_key=link.address_key)
    return AuthenticationRequest(state, nonce, verifier, f"{context.issuer}{callback}", context.now)


def _spent(context: Context, link: SetupLinkRecord, session: ContinuationToken, state: str) -> ContinuationToken | None:
    """Use up the state of a trial that this session began with this link; None for any other."""
    token = continuation_tokens.find(context, ContinuationPurpose.SETUP_TRIAL, state.rpartition(".")[2])
    if token is None or token.is_expired(context.now):
        return None
    if (token.facts["link"], token.facts["session"]) != (link.link_id, session.token_hash):
        return None
    with context.work.separate_transaction() as work:
        return token if continuation_tokens.spend(context.within(work), token) else None


def _traced(context: Context, link: SetupLinkRecord, refusal: UpstreamRefusal, secrets: list[str]) -> UpstreamRefusal:
    """Leave a trace under the link's ID, by which an operator finds it; return the refusal without secrets."""
    connection_traces.record(context, link.link_id, refusal, secrets=[text for text in secrets if text])
    return refusal


def _record(context: Context, link: SetupLinkRecord, session: ContinuationToken, version: int, result: _Result) -> None:
    """Store the result in the draft, and the values of claims with the session alone."""
    identity = result.identity
    email = (identity.email if identity is not None else None) or ""
    stored: dict[str, Any] = {
        "version": version,
        "is_accepted": result.refusal is None,
        "at": iso(context.now),
        "claims": [name for name, _ in result.claims],
        "has_foreign_email": bool(email) and not sign_in_connections.owns_email(context, link.org_id, email),
    }
    if result.refusal is not None:
        finding = result.refusal.finding
        diagnosis = diagnosis_of(finding.check, finding.cause)
        stored |= {
            "problem": diagnosis.problem, "advice": diagnosis.advice, "expected": finding.expected, "received": finding.received,
        }  # fmt: skip
    setup_draft.change(context, link, lambda draft: replace(draft, trial=stored) if draft.version == version else draft)
    groups = [shown(text)[:_MAX_TEXT] for text in (identity.groups or ())[:_MAX_GROUPS]] if identity is not None else []
    seen = {"version": version, "claims": list(result.claims), "email": email, "groups": groups}
    continuation_tokens.add_facts(context, session, **{CLAIMS: seen})


def _shown_claims(claims: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the claims about the person, members of objects as `a.b`, with their values in a line; secret-like ones are masked."""
    for name, value in claims.items():
        if not prefix and name in _OF_PROTOCOL:
            continue
        whole = f"{prefix}{name}"
        if isinstance(value, dict) and not prefix:
            yield from _shown_claims(value, f"{name}.")
        elif len(whole) <= _MAX_NAME and whole.isprintable():
            text = shown(shown_claim(value))
            is_secret = _SECRET_NAME.search(whole) or _OPAQUE.fullmatch(text)
            yield whole, MASKED if is_secret else text[:_MAX_TEXT]
