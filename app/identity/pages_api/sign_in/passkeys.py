"""Sign-in with a passkey on the pages, by button and autofill, and the offer of a passkey after a sign-in."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors
from app.contract.page_models import NoParameters
from app.contract.passkeys import passkey_pages
from app.contract.steps import PasskeyOfferStep, StepResponse
from app.identity.authentication.sign_in import (
    completion,
    eligibility,
    interactions,
    reauthentication_rules,
)
from app.identity.authentication.sign_in.authentication import MFA, Authentication
from app.identity.authentication.sign_in.completion import Refused
from app.identity.authentication.sign_in.interaction_state import PendingVerification
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.passkeys import passkey_management, passkey_sign_in
from app.identity.authentication.sign_in.passkeys.passkey_sign_in import require_enabled
from app.identity.credentials import account_locks
from app.identity.credentials.passkeys import ceremonies
from app.identity.credentials.passkeys.ceremonies import CeremonyUse
from app.identity.directory.accounts.account import Account
from app.identity.pages_api import signed_in_account
from app.identity.pages_api.interactions import next_step, page_sign_in, passkey_offers
from app.identity.pages_api.registration import begin_verification
from app.identity.platform.context import Context
from app.identity.protocols.oauth import oauth_views


@passkey_pages.begin_sign_in.implements
def begin_sign_in(context: Context, req: NoParameters) -> passkey_pages.PasskeyOptions:
    require_enabled(context)
    return passkey_pages.PasskeyOptions(options=ceremonies.begin_authentication(context, CeremonyUse.AUTOFILL))


@passkey_pages.sign_in.implements
def sign_in(context: Context, req: passkey_pages.PasskeySignIn) -> StepResponse:
    """Sign in, unless the account may not; after another device's passkey, offer one of this device."""
    require_enabled(context)
    interaction = interactions.find(context, req.interaction_id) if req.interaction_id else None
    if req.interaction_id and interaction is None:
        return next_step.START_AGAIN
    try:
        account, assertion, methods = passkey_sign_in.verify(context, CeremonyUse.AUTOFILL, req.credential)
    except errors.PasskeyRefused:
        if (pending := begin_verification.by_passkey(context, interaction, req.credential.raw_id)) is None:
            raise
        context.work.rollback()
        return pending
    authentication = Authentication(methods, remember=page_sign_in.can_remember(context, req.remember))
    account_locks.refuse_locked(context, account)
    refusal = eligibility.refusal(context, account, "email")
    if isinstance(refusal, errors.EmailUnverified) and account.email:
        unfinished = interaction if interaction is not None and not interaction.is_done else None
        awaited = PendingVerification(
            account.email, account.uid, remember=authentication.remember,
            passkey=assertion.credential.facts["id"], methods=list(authentication.methods),
        )  # fmt: skip
        return begin_verification.begin(context, unfinished, awaited, is_sent=False)
    if refusal is not None:
        raise refusal
    is_complete = MFA in authentication.methods
    if is_complete and assertion.is_elsewhere and passkey_offers.is_due_here(context, account):
        return _offer_local(context, interaction, account, authentication)
    step = page_sign_in.try_after_first_factor(context, interaction, account, authentication)
    if step is None:
        raise errors.AccountBlocked
    return step


@passkey_pages.read_offer.implements
def read_offer(context: Context, req: passkey_pages.PasskeyOfferRequest) -> passkey_pages.PasskeyOffer:
    session, account = signed_in_account.require_account(context)
    interaction = interactions.find_open(context, req.interaction_id)
    if req.interaction_id and interaction is None:
        return passkey_pages.PasskeyOffer(next=next_step.after_end(session))
    is_local = bool(interaction and interaction.state.passkey_here)
    return passkey_pages.PasskeyOffer(is_local=is_local, person=oauth_views.person(account))


@passkey_pages.answer_offer.implements
def answer_offer(context: Context, req: passkey_pages.PasskeyOfferAnswer) -> StepResponse:
    """Add the offered passkey without a reauthentication, if the sign-in is recent; later the offer is skipped."""
    session, account = signed_in_account.require_account(context)
    interaction = interactions.find_open(context, req.interaction_id)
    if req.credential is not None and reauthentication_rules.is_recent(context, session):
        require_enabled(context)
        passkey_management.add(context, account, req.credential)
        passkey_offers.accept(context, account)
    elif req.credential is None:
        passkey_offers.decline(context, account, is_local=bool(interaction and interaction.state.passkey_here))
    if interaction is None:
        return next_step.after_end(session)
    return next_step.advance(context, interaction, session)


def _offer_local(
    context: Context, interaction: Interaction | None, account: Account, authentication: Authentication
) -> StepResponse:
    if interaction is None or interaction.is_done:
        return (
            page_sign_in.try_after_first_factor(context, interaction, account, authentication) or next_step.START_AGAIN
        )
    outcome = completion.after_first_factor(context, account, authentication)
    if not isinstance(outcome, Refused):
        interaction = interactions.save(context, interaction, replace(interaction.state, passkey_here=True))
    return page_sign_in.present(context, interaction, outcome, first_step=PasskeyOfferStep())
