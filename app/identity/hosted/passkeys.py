"""Passkeys on our pages: sign-in by button and autofill, the account page, the offer after a sign-in, recovery."""

from __future__ import annotations

from typing import Literal

from app.contract import errors as e
from app.contract import hub_passkeys as contract
from app.contract.groups import Posted
from app.contract.hub_account import SessionRenewal
from app.contract.hub_models import LinkLookup, LinkToken, LinkView, NoParameters
from app.contract.steps import PasskeyOfferStep, StepResponse
from app.identity.authentication.recovery.handlers import spend_limits
from app.identity.authentication.sign_in import eligibility, identifiers, interactions, second_factor, sessions
from app.identity.authentication.sign_in import service as sign_in_service
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.passkeys import management, recovery
from app.identity.authentication.sign_in.passkeys import sign_in as signing_in
from app.identity.authentication.sign_in.passkeys.sign_in import require_enabled
from app.identity.authentication.sign_in.second_factor import Authentication
from app.identity.credentials.authenticators.passkey import user_entity
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.passkeys import ceremonies, options, store
from app.identity.credentials.passkeys.ceremonies import CeremonyUse
from app.identity.credentials.passkeys.options import DISCOVERABLE, DISCOVERABLE_ON_THIS_DEVICE
from app.identity.credentials.store import Credential
from app.identity.directory.accounts import account_lookup
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.tenants import webauthn_origins
from app.identity.hosted import (
    account_settings,
    first_factor_passed,
    next_step,
    passkey_offers,
    reauthentication,
    verification,
    views,
)
from app.identity.platform.context import Context
from app.identity.protocols.oauth import views as oauth_views
from app.kit.clock import iso

LOCAL = "passkey_here"
"""The member of an interaction's request that records a local offer."""


@contract.begin_sign_in.implements
def begin_sign_in(context: Context, req: NoParameters) -> contract.PasskeyOptions:  # noqa: ARG001 - it has no parameters
    require_enabled(context)
    return contract.PasskeyOptions(options=ceremonies.begin_authentication(context, CeremonyUse.AUTOFILL))


@contract.sign_in.implements
def sign_in(context: Context, req: contract.PasskeySignIn) -> StepResponse:
    """Sign in, unless the account may not; after another device's passkey, offer one of this device."""
    require_enabled(context)
    interaction = interactions.find(context, req.interaction_id) if req.interaction_id else None
    if req.interaction_id and interaction is None:
        return next_step.START_AGAIN
    try:
        account, assertion, methods = signing_in.verify(context, CeremonyUse.AUTOFILL, req.credential)
    except e.PasskeyRefused:
        if (pending := verification.by_passkey(context, interaction, req.credential.raw_id)) is None:
            raise
        context.work.rollback()
        return pending
    authentication = Authentication(methods, remember=first_factor_passed.can_remember(context, req.remember))
    one_time_tokens.refuse_locked(context, account)
    refusal = eligibility.refusal(context, account, "email")
    if isinstance(refusal, e.EmailUnverified) and account.email:
        unfinished = interaction if interaction is not None and not interaction.is_done else None
        return verification.begin(
            context, unfinished, account.email, account, is_sent=False, remember=authentication.remember,
            passkey=assertion.credential.facts["id"], methods=authentication.methods,
        )  # fmt: skip
    if refusal is not None:
        raise refusal
    is_complete = second_factor.MFA in authentication.methods
    if is_complete and assertion.is_elsewhere and passkey_offers.is_due_here(context, account):
        return _offer_local(context, interaction, account, authentication)
    step = first_factor_passed.try_sign_in(context, interaction, account, authentication)
    if step is None:
        raise e.AccountBlocked
    return step


@contract.read_own.implements
def read_own(context: Context, req: NoParameters) -> contract.OwnPasskeys:  # noqa: ARG001 - the session identifies the account
    require_enabled(context)
    session, account = account_settings.require_account(context)
    stored = store.by_account(context, account.uid)
    owner = user_entity(account)
    sessions.touch(context, session)
    return contract.OwnPasskeys(
        person=views.person(context, account),
        passkeys=[_own(item) for item in stored],
        accepted=contract.AcceptedCredentials(
            rp_id=webauthn_origins.rp_id(context),
            user_id=options.user_handle(account.uid),
            name=owner.name,
            display_name=owner.display_name or owner.name,
            ids=[item.facts["id"] for item in stored],
        ),
        needs_password=context.now - session.authenticated_at > reauthentication.REAUTHENTICATION_LIFETIME,
        must_confirm=reauthentication.must_confirm(context, session, account),
        has_password=account.password_hash is not None,
        obstacle=_obstacle(context, account, len(stored)),
    )


def _obstacle(context: Context, account: Account, count: int) -> Literal["", "email", "connection", "limit"]:
    if not webauthn_origins.supports_passkeys(context):
        return "connection"
    if not account.email:
        return "email"
    return "limit" if count >= store.MAX_PASSKEYS else ""


def _own(passkey: Credential) -> contract.OwnPasskey:
    transports = set(passkey.facts.get("transports") or ())
    return contract.OwnPasskey(
        **store.to_listed(passkey).model_dump(),
        used_at=iso(passkey.used_at),
        is_synced=bool(passkey.facts.get("synced")),
        is_security_key=bool(transports) and not transports & {"internal", "hybrid"},
    )


@contract.begin_own.implements
def begin_own(context: Context, req: contract.BeginOwnRequest) -> contract.PasskeyOptions:
    require_enabled(context)
    _, account = account_settings.require_account(context)
    preferences = DISCOVERABLE_ON_THIS_DEVICE if req.local else DISCOVERABLE
    return contract.PasskeyOptions(options=management.begin_adding(context, account, preferences))


@contract.add.implements
def add(context: Context, req: contract.AddPasskeyRequest) -> SessionRenewal:
    require_enabled(context)
    confirmed = account_settings.reauthenticate(context, req)
    management.add(context, confirmed.account, req.credential, req.name)
    passkey_offers.accept(context, confirmed.account)
    return account_settings.renew_session(context, confirmed)


@contract.rename.implements
def rename(context: Context, req: contract.RenamePasskeyRequest) -> Posted:
    _, account = account_settings.require_account(context)
    management.rename(context, account, req.id, req.name)
    return Posted()


@contract.read_offer.implements
def read_offer(context: Context, req: contract.PasskeyOfferRequest) -> contract.PasskeyOffer:
    session, account = account_settings.require_account(context)
    interaction = interactions.find_open(context, req.interaction_id)
    if req.interaction_id and interaction is None:
        return contract.PasskeyOffer(next=next_step.after_end(session))
    is_local = bool(interaction and interaction.request.get(LOCAL))
    return contract.PasskeyOffer(is_local=is_local, person=oauth_views.person(account))


@contract.answer_offer.implements
def answer_offer(context: Context, req: contract.PasskeyOfferAnswer) -> StepResponse:
    """Add the offered passkey without a reauthentication, if the sign-in is recent; later the offer is skipped."""
    session, account = account_settings.require_account(context)
    interaction = interactions.find_open(context, req.interaction_id)
    is_fresh = context.now - session.authenticated_at <= reauthentication.REAUTHENTICATION_LIFETIME
    if req.credential is not None and is_fresh:
        require_enabled(context)
        management.add(context, account, req.credential)
        passkey_offers.accept(context, account)
    elif req.credential is None:
        passkey_offers.decline(context, account, is_local=bool(interaction and interaction.request.get(LOCAL)))
    if interaction is None:
        return next_step.after_end(session)
    return next_step.advance(context, interaction, session)


@contract.lost.implements
def forgot(context: Context, req: contract.LostPasskeyRequest) -> Posted:
    """Mail a link, with the same response for identifiers with and without passkeys."""
    require_enabled(context)
    spend_limits(context)
    identifier = identifiers.guess(context.tenant.settings, req.identifier)
    lookup = account_lookup.find(context, identifier, is_hidden=True)
    recovery.send_from_page(context, lookup, req.interaction_id)
    return Posted()


@contract.read_lost.implements
def read_lost(context: Context, req: LinkLookup) -> LinkView:
    stored = one_time_tokens.find_link(context, recovery.KIND, req.token)
    account = accounts.by_uid(context, stored.uid) if stored is not None else None
    if stored is None or account is None:
        return LinkView(state="unknown")
    context.audit.record("passkey.link_looked_at", uid=stored.uid, by="machine" if req.is_machine else "browser")
    label = str(stored.facts.get("email") or "")
    try:
        recovery.peek(context, req.token)
    except e.UsedLink:
        return LinkView(state="used", label=label)
    except (e.ExpiredLink, e.AccountBlocked):
        return LinkView(state="expired", label=label)
    return LinkView(state="open", label=label)


@contract.begin_lost.implements
def begin_lost(context: Context, req: LinkToken) -> contract.PasskeyOptions:
    return contract.PasskeyOptions(options=recovery.begin_with_link(context, req.token, DISCOVERABLE))


@contract.finish_lost.implements
def finish_lost(context: Context, req: contract.FinishReplacementRequest) -> StepResponse:
    """Store the new passkey without a session; the user signs in with it next."""
    recovery.finish_with_link(context, req.token, req.credential)
    return next_step.open_return(context, None, None).model_copy(update={"ends_session": True})


def _offer_local(
    context: Context, interaction: Interaction | None, account: Account, authentication: Authentication
) -> StepResponse:
    if interaction is None or interaction.is_done:
        return first_factor_passed.try_sign_in(context, interaction, account, authentication) or next_step.START_AGAIN
    if (limited := first_factor_passed.method_step(context, interaction, account, authentication)) is not None:
        return limited
    if not sign_in_service.try_complete_sign_in(context, account, authentication.kind):
        raise e.AccountBlocked
    interaction = interactions.add_facts(context, interaction, **{LOCAL: True})
    return first_factor_passed.begin_session(context, interaction, account, authentication, step=PasskeyOfferStep())
