"""Duo: the browser is redirected to Duo's prompt and returns with a code (decision 0105)."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlencode

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import credential_store
from app.identity.credentials.second_factors.authenticators.authenticator import (
    AccountFactors,
    Authenticator,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.credentials.second_factors.authenticators.duo_client import (
    DuoClient,
    DuoDenied,
    DuoPrompt,
    DuoUnavailable,
)
from app.identity.directory.accounts import account_store
from app.identity.directory.tenants.keys import tenant_secrets
from app.identity.directory.tenants.urls import allowed_urls
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.kit import randomness
from app.kit.web.urls import is_web_url

log = logging.getLogger("gatehouse.identity")

LIFETIME: Final = timedelta(minutes=10)
CALLBACK: Final = "/second-factor/duo"
"""Path of the redirect URI during a sign-in on the hosted pages."""
ACCOUNT_CALLBACK: Final = "/second-factors/duo"
"""Path of the redirect URI when a signed-in account enrols Duo."""
_MAX_LENGTH: Final = 1_000


class DuoAuthenticator(Authenticator):
    """Each prompt has its own state, bound to one account and one sign-in and used once. No attempts are counted: the state has
    122 bits, and Duo limits attempts itself."""

    kind = FactorKind.DUO
    amr = ("mca",)
    disabled_error = errors.DuoOff
    not_enrolled_error = errors.DuoNotEnrolled
    enrolled_members = ("is_duo_authenticator_verified",)

    def enrol(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        name = _verified_username(context, factors, response)
        uid = factors.account.uid
        account_store.lock(context, uid)  # lock order: the account, then its credentials
        if credential_store.by_kind(context, uid, self.kind):
            raise errors.WrongDuoState
        credential_store.add(context, uid, self.kind, facts={"name": name}, is_enrolled=True)

    def challenge(self, context: Context, factors: AccountFactors, options: ChallengeOptions) -> FactorChallenge:
        """Return the URL of Duo's prompt. Raises DuoMisconfigured, MalformedDuoRedirect, DuoRedirectRefused."""
        client, redirect_uri = _client(context), _redirect_uri(context, options)
        prompt = DuoPrompt(_duo_username(factors), redirect_uri, randomness.guid(), randomness.guid())
        facts = {**_binding(factors), "name": prompt.name, "back": redirect_uri, "nonce": prompt.nonce}
        uid = factors.account.uid
        continuation_tokens.issue(
            context, ContinuationPurpose.DUO, uid, lifetime=LIFETIME, facts=facts, text=prompt.state
        )
        return FactorChallenge(address=client.authorize_url(prompt, context.now))

    def verify(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        name = _verified_username(context, factors, response)
        if name != _duo_username(factors):
            raise errors.DuoFailed
        account_store.lock(context, factors.account.uid)


AUTHENTICATOR: Final = DuoAuthenticator()


def _verified_username(context: Context, factors: AccountFactors, response: FactorResponse) -> str:
    """Use the state, exchange the code at Duo, and return the Duo username that passed the prompt."""
    client, state = _client(context), _find_state(context, factors, response.state)
    if not 0 < len(response.code) <= _MAX_LENGTH:
        raise errors.DuoFailed
    with context.work.separate_transaction() as transaction:
        if not continuation_tokens.spend(context.within(transaction), state):
            raise errors.WrongDuoState
    prompt = DuoPrompt(state.facts["name"], state.facts["back"], response.state, state.facts["nonce"])
    context.work.release_connection()
    try:
        client.exchange_code(prompt, response.code, context.now)
    except DuoDenied as reason:
        log.info("duo refused: %s", reason)
        raise errors.DuoFailed from None
    except DuoUnavailable as problem:
        log.warning("duo: %s", problem)
        raise errors.DuoMisconfigured from None
    return prompt.name


def _find_state(context: Context, factors: AccountFactors, state: str) -> ContinuationToken:
    token = continuation_tokens.find(context, ContinuationPurpose.DUO, state)
    if token is None or token.is_expired(context.now):
        raise errors.WrongDuoState
    if token.uid != factors.account.uid or not _binding(factors).items() <= token.facts.items():
        raise errors.WrongDuoState
    return token


def _binding(factors: AccountFactors) -> dict[str, Any]:
    """Return the binding of a prompt: a verification cannot enrol after the factor was removed, nor the reverse."""
    return {"for": factors.sign_in, "enrols": not factors.enrolled(FactorKind.DUO)}


def _duo_username(factors: AccountFactors) -> str:
    """Return the account's username at Duo: the one of its enrolment, even if its address has changed."""
    enrolled, account = factors.enrolled(FactorKind.DUO), factors.account
    return str(enrolled[0].facts["name"]) if enrolled else account.email or account.username or account.uid


def _client(context: Context) -> DuoClient:
    settings = context.tenant.settings.duo
    secret = tenant_secrets.secrets_of(context.services.encryption, context.tenant, "duo").get("client_secret")
    if settings is None or not (settings.client_id and settings.api_host and secret):
        raise errors.DuoMisconfigured
    return DuoClient(settings.client_id, secret, context.services.settings.duo_url or f"https://{settings.api_host}")


def _redirect_uri(context: Context, options: ChallengeOptions) -> str:
    """Return the redirect URI: a hosted page of the interaction or of the account, or the URI that a program supplied."""
    if options.is_account_page:
        return f"{context.pages_url}{ACCOUNT_CALLBACK}"
    if options.interaction_id:
        return f"{context.pages_url}{CALLBACK}?{urlencode({'attempt': options.interaction_id})}"
    supplied, settings = options.duo_redirect_uri or "", context.tenant.settings.duo
    if len(supplied) > _MAX_LENGTH or not is_web_url(supplied) or "#" in supplied:
        raise errors.MalformedDuoRedirect
    if not (settings and supplied in settings.redirect_uris) and not allowed_urls.is_allowed(context, supplied):
        raise errors.DuoRedirectRefused
    return supplied
