"""Verifies an address or number on our pages by a link or a code, and continues the sign-in or registration.

The interaction stores the same for every address, so that pages and responses do not reveal which accounts exist.
"""

from __future__ import annotations

from app.contract import errors
from app.contract.page_models import InteractionOnly, LinkLookup
from app.contract.second_factors.challenge import FactorKind
from app.contract.steps import EmailConfirmedStep, LoginStep, StepResponse
from app.contract.verification import verification_pages
from app.identity.authentication.sign_in import interactions, password_sign_in
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.interaction_state import PendingVerification
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.revocation import end_after_email_verification
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.verification import email_verification, phone_verification
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.codes import MAIL_CODE
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.credentials.passkeys import passkey_store
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.identifiers import EMAIL
from app.identity.directory.accounts.login_attempts.account_lookup import TypedIdentifier
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.pages_api.interactions import (
    link_handoff,
    next_step,
    page_sign_in,
    pending_identities,
    pending_verification,
)
from app.identity.pages_api.interactions.pending_verification import SMS
from app.identity.pages_api.registration.begin_verification import TRIES, begin, step
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.operations.errors import ApiError

_BY_MAIL, _SMS = "otp", "sms"  # RFC 8176


@verification_pages.read_link.implements
def read_link(context: Context, req: LinkLookup) -> verification_pages.VerificationLinkView:
    token = email_verification.find_link(context, req.token)
    if token is None:
        return verification_pages.VerificationLinkView(state="unknown")
    context.audit.record("verification.link_looked_at", uid=token.uid, by="machine" if req.is_machine else "browser")
    account = account_store.by_uid(context, token.uid)
    if account is not None and is_verified(account, token.subject):
        return verification_pages.VerificationLinkView(state="used", sent_to=token.subject)
    try:
        email_verification.peek(context, req.token)
    except (errors.ExpiredLink, errors.UsedLink):
        return verification_pages.VerificationLinkView(state="expired", sent_to=token.subject)
    view = verification_pages.VerificationLinkView(state="open", sent_to=token.subject)
    view.added_by = email_verification.masked_owner(account, token.subject) if account is not None else ""
    view.is_awaited = link_handoff.waiting(context, token) is not None
    own = None if view.added_by or req.is_machine else link_handoff.own(context, token)
    view.is_own = _has_first_factor(context, own, token, _hash_of(context, account, token.uid))
    return view


@verification_pages.open_link.implements
def open_link(context: Context, req: verification_pages.VerifyLinkRequest) -> StepResponse:
    """Verify by a link, or by a used one while its address is verified; the number lets a page in another browser continue."""
    interaction = interactions.find_open(context, req.interaction_id)
    stored = email_verification.find_link(context, req.token)
    if stored is None:
        raise errors.UnknownLink
    account = account_store.by_uid(context, stored.uid)
    if account is not None and is_verified(account, stored.subject):
        return _continue(context, interaction, account, stored, is_new=False)
    try:
        email_verification.peek(context, req.token)
        waiting = link_handoff.check(context, stored, req.number)
        is_shown = _is_password_given(context, interaction, account, stored, req.password)
        token = email_verification.spend_link(context, req.token)
    except errors.UsedLink:
        raise errors.ExpiredLink from None
    verified = _confirmed(context, interaction, account, token, is_shown=is_shown)
    if waiting is not None:
        link_handoff.approve(context, waiting, verified)
    return _continue(context, interaction, verified, token, is_new=True)


@verification_pages.renew_link.implements
def renew_link(context: Context, req: verification_pages.VerifyLinkRequest) -> StepResponse:
    stored = email_verification.find_link(context, req.token)
    if stored is None:
        raise errors.UnknownLink
    interaction = interactions.find_open(context, req.interaction_id)
    account = account_store.by_uid(context, stored.uid) or pending_accounts.extend(context, stored.uid)
    if account is None:
        raise errors.ClosedLink
    if is_verified(account, stored.subject):
        return _continue(context, interaction, account, stored, is_new=False)
    found = account.email_list.find(stored.subject)
    if found is None:
        raise errors.ClosedLink
    return begin(context, interaction, PendingVerification(found.value, account.uid), is_sent=False)


@verification_pages.enter_code.implements
def enter_code(context: Context, req: verification_pages.OptionalCodeRequest) -> StepResponse:
    interaction = next_step.open_interaction(context, req.interaction_id)
    if isinstance(interaction, StepResponse):
        return interaction
    state, session = pending_verification.pending_for(context, interaction), sessions.current(context)
    if state is None:
        return next_step.advance(context, interaction, session)
    try:
        context.count_against("verification_try", TRIES, randomness.digest(interaction.interaction_id))
        if state.by == SMS:
            return _verify_by_sms(context, interaction, state, req.code)
        if not req.code:
            return _after_verified_link(context, interaction, state, session)
        token = one_time_tokens.spend_code(
            context, Purpose.EMAIL, state.uid, req.code, subject=state.subject, errors=MAIL_CODE,
            identifier=TypedIdentifier(EMAIL, state.email),
        )  # fmt: skip
        account = account_store.by_uid(context, token.uid)
        if _is_contested(context, interaction, account, token):
            raise errors.ClosedLink
        return _continue(context, interaction, _confirmed(context, interaction, account, token), token, is_new=True)
    except ApiError as refusal:
        raise pending_verification.with_page(context, interaction, refusal, state) from None


@verification_pages.mail_again.implements
def mail_again(context: Context, req: InteractionOnly) -> StepResponse:
    interaction = next_step.open_interaction(context, req.interaction_id)
    if isinstance(interaction, StepResponse):
        return interaction
    state, session = pending_verification.pending_for(context, interaction), sessions.current(context)
    if state is None:
        return next_step.advance(context, interaction, session)
    if seconds := pending_verification.seconds_left(context, state):
        refusal = errors.TooManyRequests(retry_after_seconds=seconds)
        raise pending_verification.with_page(context, interaction, refusal, state)
    try:
        state = pending_verification.resend(context, interaction, state)
    except pending_verification.SEND_ERRORS as refusal:
        raise pending_verification.with_page(context, interaction, refusal, state) from None
    return step(context, pending_verification.store_pending(context, interaction, state), state)


def _verify_by_sms(context: Context, interaction: Interaction, state: PendingVerification, code: str) -> StepResponse:
    """Verify the number by the code, and sign in if the password was typed in this browser."""
    token = phone_verification.spend_code(
        context, state.uid, state.subject, code, name=TypedIdentifier("phone", state.subject)
    )
    account = phone_verification.confirm(
        context,
        token,
        knows_password=_has_first_factor(
            context, interaction, token, _hash_of(context, account_store.by_uid(context, state.uid), state.uid)
        ),
    )
    has_password = _has_first_factor(context, interaction, token, account.password_hash)
    authentication = Authentication(
        (password_sign_in.PASSWORD, _SMS), "phone", remember=page_sign_in.can_remember(context, state.remember)
    )
    next_page = (
        page_sign_in.try_after_first_factor(context, interaction, account, authentication) if has_password else None
    )
    return next_page or StepResponse(step=LoginStep(), interaction_id=interaction.interaction_id)


def _confirmed(
    context: Context,
    interaction: Interaction | None,
    account: Account | None,
    token: OneTimeToken,
    *,
    is_shown: bool = False,
) -> Account:
    """Verify the address; keep the credentials only if this browser has the password or a session of the account."""
    session = sessions.current(context)
    is_own = session is not None and session.uid == token.uid
    has_first_factor = (
        is_shown or is_own or _has_first_factor(context, interaction, token, _hash_of(context, account, token.uid))
    )
    verified = email_verification.confirm(context, token, knows_password=has_first_factor)
    end_after_email_verification(context, verified)
    return verified


def _has_first_factor(
    context: Context, interaction: Interaction | None, token: OneTimeToken, password_hash: str | None
) -> bool:
    """Return whether this browser gave the account's first factor: its password, a new passkey, or a provider's identity."""
    state = pending_verification.pending_for(context, interaction) if interaction is not None else None
    is_awaited = state is not None and (state.uid, state.subject) == (token.uid, token.subject)
    if state is None or not is_awaited or not pending_verification.is_recent(context, state):
        return False
    is_typed = bool(password_hash) and state.password_hash == password_hash
    return (
        is_typed
        or _has_passkey(context, state)
        or pending_identities.has_federated_login_for(context, interaction, token.uid)
    )


def _has_passkey(context: Context, state: PendingVerification) -> bool:
    stored = passkey_store.by_account(context, state.uid) if state.passkey else ()
    return any(entry.facts["id"] == state.passkey for entry in stored)


def _hash_of(context: Context, account: Account | None, uid: str) -> str | None:
    return account.password_hash if account is not None else pending_accounts.password_hash(context, uid)


def _is_contested(
    context: Context, interaction: Interaction | None, account: Account | None, token: OneTimeToken
) -> bool:
    """Return whether several accounts registered with the address, and this browser identifies none of them."""
    if token.purpose is not Purpose.EMAIL or not pending_accounts.is_contested(context, token.subject):
        return False
    return not _has_first_factor(context, interaction, token, _hash_of(context, account, token.uid))


def _is_password_given(
    context: Context, interaction: Interaction | None, account: Account | None, token: OneTimeToken, password: str
) -> bool:
    """Return whether the password was typed with the link, which a contested address requires.

    Raises PasswordMissing, WrongCredentials.
    """
    if not _is_contested(context, interaction, account, token):
        return False
    if not password:
        raise errors.PasswordMissing
    context.count_against("verification_try", TRIES, randomness.digest(f"{token.uid} {token.subject}"))
    password_hash = _hash_of(context, account, token.uid)
    context.work.release_connection()
    if not context.hashing.is_match(password_hash, password):
        context.audit.record("verification.refused", uid=token.uid, reason="password")
        raise errors.WrongCredentials
    return True


def _after_verified_link(
    context: Context, interaction: Interaction, state: PendingVerification, session: BrowserSession | None
) -> StepResponse:
    """Continue after the link was opened in this browser, or in another browser with this page's number; else ask to sign in."""
    if session is not None:
        return next_step.advance(context, interaction, session)
    account = account_store.by_uid(context, state.uid)
    if account is None or not is_verified(account, state.email):
        raise errors.EmailUnverified
    verified, interaction = link_handoff.take(context, interaction, Purpose.EMAIL)
    if verified is None or verified.uid != account.uid or account.private.get(pending_accounts.WAS_PENDING):
        return StepResponse(
            step=EmailConfirmedStep(was_confirmed_before=True), interaction_id=interaction.interaction_id
        )
    stored = OneTimeToken(Purpose.EMAIL, account.uid, state.subject, {}, context.now)
    return _continue(context, interaction, account, stored, is_new=False)


def _continue(
    context: Context, interaction: Interaction | None, account: Account, token: OneTimeToken, *, is_new: bool
) -> StepResponse:
    """Sign in if this browser gave the first factor, or the tenant configured it; else return the confirmation page."""
    state = pending_verification.pending_for(context, interaction) if interaction is not None else None
    if pending_identities.pending_for(context, interaction) is not None:
        account_store.lock_unread(context, account.uid)  # serializes a claim of the account with its registration
    has_first_factor = _has_first_factor(context, interaction, token, account.password_hash)
    can_sign_in = has_first_factor or (is_new and context.tenant.settings.login_on_email_verification)
    remember = page_sign_in.can_remember(context, has_first_factor and state is not None and state.remember)
    methods = tuple(state.methods) if state is not None and state.methods else (password_sign_in.PASSWORD,)
    authentication = (
        Authentication(methods, remember=remember)
        if has_first_factor
        else Authentication((_BY_MAIL,), channel=FactorKind.EMAIL)
    )
    signed_in = (
        page_sign_in.try_after_first_factor(context, interaction, account, authentication) if can_sign_in else None
    )
    if (next_page := signed_in or next_step.after_invited_verification(context, interaction, account)) is not None:
        return next_page
    interaction_id = str(token.facts.get("attempt") or "")
    return StepResponse(
        step=EmailConfirmedStep(was_confirmed_before=not is_new),
        interaction_id=interaction.interaction_id if interaction is not None else interaction_id or None,
        relying_party=next_step.relying_party_of(context, interaction_id) if interaction is None else None,
    )
