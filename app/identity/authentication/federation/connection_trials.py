"""Tries a connection of the set-up guide: a sign-in at the provider that makes no account, session or membership here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from app.contract.federation.connection_checks import ConnectionCheck, Diagnosis
from app.contract.federation.pages.connection_pages import callback_path
from app.contract.organizations.setup_operations import TRIAL_STATE
from app.identity.authentication.federation import connection_traces
from app.identity.authentication.federation.providers import organization_openid
from app.identity.authentication.federation.providers.organization_openid import OrganizationOpenIdProvider
from app.identity.directory.identity_provider import (
    AuthenticationRequest,
    PostedRequest,
    ProviderDenied,
    ProviderIdentity,
)
from app.identity.directory.organizations.connections import sign_in_connections
from app.identity.directory.organizations.setup import setup_draft
from app.identity.directory.organizations.setup.setup_draft import SetupDraft
from app.identity.directory.organizations.setup.setup_link_store import SetupLinkRecord
from app.identity.directory.organizations.setup.setup_products import SAML
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.identity.platform.outbound.findings import MASKED, Finding, UpstreamRefusal, shown, shown_claim
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit import randomness
from app.kit.clock import iso
from app.kit.limits.rate_limits import Rate

if TYPE_CHECKING:
    from app.identity.authentication.federation.saml.saml_upstream import SamlUpstream

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
OUTCOME: Final = "outcome"
"""The fact of a trial whose answer was posted, with what came of it: the browser that began comes for it."""
CLAIMS: Final = "claims"
"""The fact of a session with the claims of its last trial: another session of the link does not see their values."""


@dataclass(frozen=True)
class TrialResult:
    """What the provider answered.

    Attributes:
        claims: with their values as they are shown.
        sources: of the members of the mapping, those that another claim fills than the mapped one, which is missing.
    """

    claims: tuple[tuple[str, str], ...] = ()
    identity: ProviderIdentity | None = None
    refusal: UpstreamRefusal | None = None
    sources: Mapping[str, str] = field(default_factory=dict)


def begin(context: Context, link: SetupLinkRecord, session: ContinuationToken) -> str | PostedRequest:
    """Return where the browser signs in; empty where the provider cannot be asked, which is recorded as a refused trial.

    Raises SetupIncomplete, ClosedSetupLink, TooManyRequests.
    """
    draft = setup_draft.of_link(context, link)
    draft.as_connection(context, link)
    context.count_against("setup.trial", _TRIALS, link.link_id)
    text = randomness.token()
    request = _request(context, link, draft, f"{TRIAL_STATE}.{text}", randomness.token(16), randomness.token(48))
    language = context.visit.language if context.visit else ""
    context.work.release_connection()
    try:
        provider = _provider(context, link, draft)
        url = provider.authorization_url(request, hint="", is_reauthentication=False, language=language)
    except ProviderUnavailable as problem:
        refused = TrialResult(refusal=traced(context, link, problem, [draft.secret]))
        _save(context, link, session, outcome(context, link, draft.version, refused))
        return ""
    facts = {
        "link": link.link_id, "version": draft.version, "session": session.token_hash, "nonce": request.nonce,
        "verifier": request.code_verifier, "protocol": draft.protocol,
    }  # fmt: skip
    continuation_tokens.issue(
        context, ContinuationPurpose.SETUP_TRIAL, NO_ACCOUNT, lifetime=_LIFETIME, facts=facts, text=text
    )
    return url


def finish(context: Context, link: SetupLinkRecord, session: ContinuationToken, parameters: Mapping[str, str]) -> None:
    """Record what the provider answered, unless the connection changed since. Raises ClosedSetupLink."""
    draft = setup_draft.of_link(context, link)
    token = _spent(context, link, session, parameters)
    if token is None:
        refusal = ProviderDenied("", check=ConnectionCheck.STATE, expected="the state of this browser’s test, once")
        refused = TrialResult(refusal=traced(context, link, refusal, []))
        _save(context, link, session, outcome(context, link, draft.version, refused))
        return
    if token.facts["version"] != draft.version:  # another provider would receive the code and its verifier
        return
    if token.facts["protocol"] == SAML:
        _save(context, link, session, token.facts[OUTCOME])
        return
    request = _request(context, link, draft, parameters["state"], token.facts["nonce"], token.facts["verifier"])
    secrets = [*request.secrets, parameters.get("code", ""), draft.secret]
    result = _ask(context, link, draft, request, parameters)
    if result.refusal is not None:
        result = replace(result, refusal=traced(context, link, result.refusal, secrets))
    _save(context, link, session, outcome(context, link, draft.version, result))


def _ask(
    context: Context,
    link: SetupLinkRecord,
    draft: SetupDraft,
    request: AuthenticationRequest,
    parameters: Mapping[str, str],
) -> TrialResult:
    """Exchange the code and map the claims. Holds no connection of the database meanwhile."""
    provider = organization_openid.client_of(context, draft.as_connection(context, link), draft.secret)
    context.work.release_connection()
    try:
        claims, _ = provider.fetch_claims(request, parameters, context.now)
    except UpstreamRefusal as refusal:
        return TrialResult(refusal=refusal)
    seen = shown_claims({name: value for name, value in claims.items() if name not in _OF_PROTOCOL})
    try:
        return judged(draft, TrialResult(seen, provider.identity_of(claims)))
    except UpstreamRefusal as refusal:
        return TrialResult(seen, refusal=refusal)


def judged(draft: SetupDraft, result: TrialResult) -> TrialResult:
    """Return the result with the refusal of an identity that nobody could sign in with."""
    identity = result.identity
    if identity is None or (identity.email and identity.email_verified):
        return result
    expected = f"{draft.mapping['Email']}: an email address that the provider doesn’t call unverified"
    received = "an unverified address" if identity.email else "no address"
    return replace(
        result, refusal=ProviderDenied("", check=ConnectionCheck.EMAIL, expected=expected, received=received)
    )


def _provider(context: Context, link: SetupLinkRecord, draft: SetupDraft) -> OrganizationOpenIdProvider | SamlUpstream:
    """Return the provider of the draft. Raises ProviderUnavailable."""
    connection = draft.as_connection(context, link)
    if draft.protocol != SAML:
        return organization_openid.client_of(context, connection, draft.secret)
    from app.identity.authentication.federation.saml import organization_saml  # noqa: PLC0415 - few tenants have any

    return organization_saml.client_of(context, connection, draft.secrets)


def _request(
    context: Context, link: SetupLinkRecord, draft: SetupDraft, state: str, nonce: str, verifier: str
) -> AuthenticationRequest:
    """Return a request whose answer comes to the address that the connection will have."""
    callback = callback_path(link.address_key, is_saml=draft.protocol == SAML)
    return AuthenticationRequest(state, nonce, verifier, f"{context.issuer}{callback}", context.now)


def _spent(
    context: Context, link: SetupLinkRecord, session: ContinuationToken, parameters: Mapping[str, str]
) -> ContinuationToken | None:
    """Use up the state of a trial that this session began with this link; None for any other."""
    token = find(context, parameters.get("state", ""))
    if token is None or (token.facts["link"], token.facts["session"]) != (link.link_id, session.token_hash):
        return None
    if token.facts["protocol"] == SAML and not _brings_answer(token, parameters.get("code", "")):
        return None
    with context.work.separate_transaction() as work:
        return token if continuation_tokens.spend(context.within(work), token) else None


def find(context: Context, state: str) -> ContinuationToken | None:
    """Return the trial that a state names, unless it is over."""
    token = continuation_tokens.find(context, ContinuationPurpose.SETUP_TRIAL, state.rpartition(".")[2])
    return token if token is not None and not token.is_expired(context.now) else None


def _brings_answer(token: ContinuationToken, code: str) -> bool:
    """Return whether the browser is the one that posted the accepted answer of a SAML provider."""
    return OUTCOME in token.facts and randomness.digest(code) == token.facts["code_hash"]


def traced(context: Context, link: SetupLinkRecord, refusal: UpstreamRefusal, secrets: list[str]) -> UpstreamRefusal:
    """Leave a trace under the link's ID, by which an operator finds it; return the refusal without secrets."""
    connection_traces.record(context, link.link_id, refusal, secrets=[text for text in secrets if text])
    return refusal


def outcome(context: Context, link: SetupLinkRecord, version: int, result: TrialResult) -> dict[str, Any]:
    """Return what is stored of a result: `trial` in the draft, and `seen`, the values of claims, with the session alone."""
    identity = result.identity
    email = (identity.email if identity is not None else None) or ""
    trial: dict[str, Any] = {
        "version": version,
        "is_accepted": result.refusal is None,
        "at": iso(context.now),
        "claims": [name for name, _ in result.claims],
        "has_foreign_email": bool(email) and not sign_in_connections.owns_email(context, link.org_id, email),
    }
    if result.refusal is not None:
        finding = result.refusal.finding
        diagnosis = _diagnosis(finding)
        trial |= {
            "problem": diagnosis.problem, "advice": diagnosis.advice, "expected": finding.expected, "received": finding.received,
        }  # fmt: skip
    groups = [shown(text)[:_MAX_TEXT] for text in (identity.groups or ())[:_MAX_GROUPS]] if identity is not None else []
    seen = {"version": version, "claims": list(result.claims), "email": email, "groups": groups}
    return {"trial": trial, "seen": seen, "sources": dict(result.sources)}


def _diagnosis(finding: Finding) -> Diagnosis:
    """Return what a refusal means to a customer's administrator."""
    from app.contract.organizations.setup_diagnoses import SETUP_DIAGNOSES  # noqa: PLC0415 - with the first refused trial

    return SETUP_DIAGNOSES.get(finding.check) or connection_traces.diagnosis_of(finding.check, finding.cause)


def _save(context: Context, link: SetupLinkRecord, session: ContinuationToken, found: Mapping[str, Any]) -> None:
    """Store an outcome, unless the connection changed since. Raises ClosedSetupLink."""

    def tried(draft: SetupDraft) -> SetupDraft:
        if draft.version != found["trial"]["version"]:
            return draft
        return replace(draft, trial=found["trial"], attributes={**draft.attributes, **found["sources"]})

    setup_draft.change(context, link, tried)
    continuation_tokens.add_facts(context, session, **{CLAIMS: found["seen"]})


def shown_claims(claims: Mapping[str, Any], subject: tuple[str, str] | None = None) -> tuple[tuple[str, str], ...]:
    """Return claims about the person as pages show them, after the subject, which is no secret, however random it looks."""
    first = ((subject[0], shown(subject[1])[:_MAX_TEXT]),) if subject is not None else ()
    return (*first, *(one for one in _shown(claims) if one[0] not in dict(first)))[:_MAX_CLAIMS]


def _shown(claims: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield claims, members of objects as `a.b`, with their values in a line; secret-like ones are masked."""
    for name, value in claims.items():
        whole = f"{prefix}{name}"
        if isinstance(value, dict) and not prefix:
            yield from _shown(value, f"{name}.")
        elif len(whole) <= _MAX_NAME and whole.isprintable():
            text = shown(shown_claim(value))
            is_secret = _SECRET_NAME.search(whole) or _OPAQUE.fullmatch(text)
            yield whole, MASKED if is_secret else text[:_MAX_TEXT]
