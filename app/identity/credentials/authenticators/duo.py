"""Duo: proved at Duo's own page, to which the browser is led and from which it comes back (decisions/0105)."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlencode

from app.contract import errors as e
from app.contract.configuration import TenantSettings
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import store
from app.identity.credentials.authenticators.duo_client import DuoClient, DuoDenied, DuoPrompt, DuoUnavailable
from app.identity.credentials.authenticators.protocol import (
    AccountFactors,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.directory.accounts import store as accounts
from app.identity.directory.tenants import allowed_addresses, tenant_secrets
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.kit import randomness
from app.kit.web_addresses import is_web_address

log = logging.getLogger("gatehouse.identity")

LIFETIME: Final = timedelta(minutes=10)
CALLBACK: Final = "/second-factor/duo"
"""Where browsers come back to on our own pages."""
ACCOUNT_CALLBACK: Final = "/second-factors/duo"
"""And where those of people who add it to their account."""
_MAX_LENGTH: Final = 1_000


class Duo:
    """One state for each prompt: of one account and one sign-in, used once."""

    kind = FactorKind.DUO
    methods = ("mca",)
    off = e.DuoOff
    missing = e.DuoNotEnrolled
    wrong = ()  # what is guessed is 122 bits; Duo counts by itself

    def is_on(self, settings: TenantSettings) -> bool:
        return settings.second_factors.duo

    def is_enrolled(self, person: AccountFactors) -> bool:
        return bool(person.enrolled(self.kind))

    def hint(self, person: AccountFactors) -> str | None:  # noqa: ARG002 - the protocol's signature
        return None

    def recall(self, context: Context, person: AccountFactors) -> FactorChallenge:  # noqa: ARG002 - the protocol's signature
        return FactorChallenge()

    def begin(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:
        return self.challenge(context, person, options)

    def enrol(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        name = _verified_username(context, person, answer)
        uid = person.account.uid
        accounts.change(context, uid, {})  # everybody locks the account first, and its credentials after it
        if store.by_kind(context, uid, self.kind):
            raise e.WrongDuoState
        store.add(context, uid, self.kind, facts={"name": name}, is_enrolled=True)

    def challenge(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:
        """Return where the browser is led. Raises DuoMisconfigured, MalformedDuoRedirect, DuoRedirectRefused."""
        client, back = _client(context), _redirect_uri(context, options)
        asked = DuoPrompt(_duo_username(person), back, randomness.guid(), randomness.guid())
        facts = {**_binding(person), "name": asked.name, "back": back, "nonce": asked.nonce}
        uid = person.account.uid
        continuation_tokens.issue(
            context, ContinuationPurpose.DUO, uid, lifetime=LIFETIME, facts=facts, text=asked.state
        )
        return FactorChallenge(address=client.address(asked, context.now))

    def verify(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        name = _verified_username(context, person, answer)
        if name != _duo_username(person):
            raise e.DuoFailed
        accounts.change(context, person.account.uid, {})


def _verified_username(context: Context, person: AccountFactors, answer: FactorResponse) -> str:
    """Use up the state, and have Duo say who passed its prompt; returns by which name."""
    client, ticket = _client(context), _find_state(context, person, answer.state)
    if not 0 < len(answer.code) <= _MAX_LENGTH:
        raise e.DuoFailed
    with context.work.separate_transaction() as own:
        if not continuation_tokens.spend(replace(context, work=own), ticket):
            raise e.WrongDuoState
    asked = DuoPrompt(ticket.facts["name"], ticket.facts["back"], answer.state, ticket.facts["nonce"])
    context.work.release_connection()
    try:
        client.confirm(asked, answer.code, context.now)
    except DuoDenied as reason:
        log.info("duo refused: %s", reason)
        raise e.DuoFailed from None
    except DuoUnavailable as problem:
        log.warning("duo: %s", problem)
        raise e.DuoMisconfigured from None
    return asked.name


def _find_state(context: Context, person: AccountFactors, state: str) -> ContinuationToken:
    found = continuation_tokens.find(context, ContinuationPurpose.DUO, state)
    if found is None or found.is_over(context.now):
        raise e.WrongDuoState
    if found.uid != person.account.uid or not _binding(person).items() <= found.facts.items():
        raise e.WrongDuoState
    return found


def _binding(person: AccountFactors) -> dict[str, Any]:
    """What a prompt is for: what proves it enrols nothing, once it was removed, and the other way round."""
    return {"for": person.sign_in, "enrols": not person.enrolled(FactorKind.DUO)}


def _duo_username(person: AccountFactors) -> str:
    """By which name Duo knows somebody: the one with which they enrolled, whatever their address is now."""
    held, account = person.enrolled(FactorKind.DUO), person.account
    return str(held[0].facts["name"]) if held else account.email or account.username or account.uid


def _client(context: Context) -> DuoClient:
    settings = context.tenant.settings.duo
    secret = tenant_secrets.secrets_of(context.services.encryption, context.tenant, "duo").get("client_secret")
    if settings is None or not (settings.client_id and settings.api_host and secret):
        raise e.DuoMisconfigured
    return DuoClient(settings.client_id, secret, context.services.settings.duo_url or f"https://{settings.api_host}")


def _redirect_uri(context: Context, options: ChallengeOptions) -> str:
    """Return where the browser comes back to: our own page of the attempt or of the account, or the address that a program states."""
    if options.is_own:
        return f"{context.issuer}{ACCOUNT_CALLBACK}"
    if options.interaction_id:
        return f"{context.issuer}{CALLBACK}?{urlencode({'attempt': options.interaction_id})}"
    stated, settings = options.duo_redirect_uri or "", context.tenant.settings.duo
    if len(stated) > _MAX_LENGTH or not is_web_address(stated) or "#" in stated:
        raise e.MalformedDuoRedirect
    if not (settings and stated in settings.redirect_uris) and not allowed_addresses.is_allowed(context, stated):
        raise e.DuoRedirectRefused
    return stated
