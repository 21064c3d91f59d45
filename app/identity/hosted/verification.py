"""Check your mail, or your phone: an attempt that waits until an address or a number is proved, and what a link or a code does for it.

What the attempt keeps is the same for every address, whoever has it: pages and answers tell nobody who has an account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.contract import errors as e
from app.contract import hub_verification as contract
from app.contract.hub import Next, RelyingPartyView, Step
from app.contract.hub_models import InteractionOnly, LinkLookup, SentTo
from app.contract.second_factors.challenge import FactorKind
from app.identity.authentication.sign_in import email_verification, interactions, sessions
from app.identity.authentication.sign_in import service as sign_in
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.second_factor import Authentication
from app.identity.authentication.verification import phones
from app.identity.authentication.verification import service as verification
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.one_time_tokens.service import MAIL_CODE, OneTimeToken, Purpose
from app.identity.credentials.passkeys import store as passkeys
from app.identity.directory.accounts import identifiers, pending_accounts, store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.account_lookup import Identifier
from app.identity.directory.accounts.identifiers import EMAIL
from app.identity.hosted import first_factor_passed, identity_linking, next_step, pending_verification
from app.identity.hosted.pending_verification import MAIL, SMS, PendingVerification
from app.identity.platform.context import Context
from app.identity.protocols.oauth import views as oauth
from app.kit import randomness
from app.kit.errors import ApiError
from app.kit.limits import Rate

_TRIES = Rate(20, 600)  # per attempt, whoever's address it is
_BY_MAIL, _SMS = "otp", "sms"  # RFC 8176


def begin(
    context: Context,
    interaction: Interaction | None,
    email: str,
    account: Account | None,
    *,
    is_sent: bool,
    password_hash: str = "",
    remember: bool = False,
    by: str = MAIL,
    held: dict[str, Any] | None = None,
    passkey: str = "",
    methods: Sequence[str] = (),
) -> Next:
    """Let the attempt wait for the proof of an address or a number, and return the step that says so.

    Args:
        account: whose address it is, or whose it will be; None where there is nothing to verify.
        is_sent: whether the mail is on its way already; else it is sent, unless one went out a moment ago.
        password_hash: of the password that was shown in this browser: the account's, or the one it would have had.
        held: what was registered in this browser just now.
        passkey: the WebAuthn id of what was made or shown in this browser in the place of a password, `methods` its `amr`.
    """
    binding = None
    if interaction is None:
        interaction, binding = interactions.begin(context, next_step.RETURN, {})
    uid = account.uid if account else one_time_tokens.NOBODY
    state = PendingVerification(
        pending_verification.display(email, by), uid, 0, password_hash, remember, by, held or {}, passkey, list(methods)
    )
    before = pending_verification.pending_for(interaction)
    if before is not None and before.subject == state.subject:
        state = replace(state, sent_at=before.sent_at)
        if before.uid == uid:
            own = (passkey, state.methods) if methods else (before.passkey, before.methods)
            state = replace(state, held=held or before.held, passkey=own[0], methods=own[1])
    if is_sent or not pending_verification.seconds_left(context, state):
        state = pending_verification.send_if_due(context, interaction, state, is_sent=is_sent)
    return step(context, pending_verification.store_pending(context, interaction, state), state).model_copy(
        update={"binding": binding}
    )


def by_passkey(context: Context, interaction: Interaction | None, raw_id: str) -> Next | None:
    """Return the step of somebody who shows the passkey that they just registered with in this browser; else None.

    It is the same whether the account is there, waits, or is another's.
    """
    state = pending_verification.pending_for(interaction) if interaction is not None else None
    if interaction is None or interaction.is_done or state is None or not state.passkey or state.passkey != raw_id:
        return None
    return step(context, interaction, state)


def after_password(context: Context, interaction: Interaction | None, account: Account | None, remember: bool) -> Next:
    """Return the step of somebody whose password is right and whose address is not verified; raises 970 without one."""
    if account is None or not account.email:
        raise e.EmailUnverified
    known = account.password_hash or ""
    return begin(context, interaction, account.email, account, is_sent=False, password_hash=known, remember=remember)


def repeat_sign_in(
    context: Context, interaction: Interaction | None, identifier: Identifier, password: str
) -> Next | None:
    """Return the step of somebody who signs in where they just registered, with what they typed there; else None.

    It is the same whether the account is there, waits, or is another's: only this browser learns that it waits, and
    nothing more. Costs one hash where the attempt waits for this address.
    """
    state = pending_verification.pending_for(interaction) if interaction is not None else None
    if interaction is None or state is None or identifier.kind != EMAIL or not state.password_hash:
        return None
    if identifiers.normalize(EMAIL, identifier.value) != state.subject:
        return None
    account = store.by_uid(context, state.uid)
    if account is not None and verification.is_verified(account, state.email):
        return None
    context.spend("verification_try", _TRIES, randomness.digest(interaction.interaction_id))
    context.work.release_connection()
    return step(context, interaction, state) if context.hashing.is_match(state.password_hash, password) else None


def after_password_by_phone(
    context: Context, interaction: Interaction | None, account: Account | None, remember: bool
) -> Next:
    """Return the step of somebody whose password is right and whose number is not verified; raises 1066 without one."""
    if account is None or not account.phone:
        raise e.PhoneUnverified
    known = account.password_hash or ""
    return begin(
        context, interaction, account.phone, account, is_sent=False, password_hash=known, remember=remember, by=SMS
    )


def step(context: Context, interaction: Interaction, state: PendingVerification) -> Next:
    """Return the step of an attempt that waits."""
    return Next(
        step=Step.CHECK_MAIL,
        attempt=interaction.interaction_id,
        attempt_lifetime_seconds=max(1, int((interaction.expires_at - context.now).total_seconds())),
        sent_to=state.email,
        resend_in_seconds=pending_verification.seconds_left(context, state),
        problem=state.by,
        can_change=bool(state.held),
    )


@contract.read_link.implements
def read_link(context: Context, req: LinkLookup) -> contract.VerificationLinkView:
    proof = verification.find_link(context, req.token)
    if proof is None:
        return contract.VerificationLinkView(state="unknown")
    context.audit.record("verification.link_looked_at", uid=proof.uid, by="machine" if req.is_machine else "browser")
    account = store.by_uid(context, proof.uid)
    if account is not None and verification.is_verified(account, proof.subject):
        return contract.VerificationLinkView(state="used", sent_to=proof.subject)
    try:
        verification.peek(context, req.token)
    except (e.ExpiredLink, e.UsedLink):
        return contract.VerificationLinkView(state="expired", sent_to=proof.subject)
    added_by = verification.masked_owner(account, proof.subject) if account is not None else ""
    return contract.VerificationLinkView(state="open", sent_to=proof.subject, added_by=added_by)


@contract.open_link.implements
def open_link(context: Context, req: contract.VerifyLinkRequest) -> Next:
    """A link that was used leads on as well, for as long as its address is confirmed: pages are reloaded."""
    interaction = interactions.find_open(context, req.attempt)
    held = verification.find_link(context, req.token)
    if held is None:
        raise e.UnknownLink
    account = store.by_uid(context, held.uid)
    if account is not None and verification.is_verified(account, held.subject):
        return _continue(context, interaction, account, held, is_new=False)
    try:
        verification.peek(context, req.token)
        is_shown = _is_password_given(context, interaction, account, held, req.password)
        proof = verification.spend_link(context, req.token)
    except e.UsedLink:
        raise e.ExpiredLink from None
    after = _confirmed(context, interaction, account, proof, is_shown=is_shown)
    return _continue(context, interaction, after, proof, is_new=True)


@contract.renew_link.implements
def renew_link(context: Context, req: contract.VerifyLinkRequest) -> Next:
    held = verification.find_link(context, req.token)
    if held is None:
        raise e.UnknownLink
    interaction, account = (
        interactions.find_open(context, req.attempt),
        store.by_uid(context, held.uid) or pending_accounts.extend(context, held.uid),
    )
    if account is None:
        raise e.ClosedLink
    if verification.is_verified(account, held.subject):
        return _continue(context, interaction, account, held, is_new=False)
    typed = [str(one["Value"]) for one in account.emails if identifiers.normalize_email(one["Value"]) == held.subject]
    if not typed:
        raise e.ClosedLink
    return begin(context, interaction, typed[0], account, is_sent=False)


@contract.enter_code.implements
def enter_code(context: Context, req: contract.OptionalCodeRequest) -> Next:
    interaction = next_step.open_interaction(context, req.attempt)
    if isinstance(interaction, Next):
        return interaction
    state, session = pending_verification.pending_for(interaction), sessions.current(context)
    if state is None:
        return next_step.advance(context, interaction, session)
    try:
        context.spend("verification_try", _TRIES, randomness.digest(interaction.interaction_id))
        if state.by == SMS:
            return _verify_by_sms(context, interaction, state, req.code)
        if not req.code:
            return _verified_elsewhere(context, interaction, state)
        proof = one_time_tokens.spend_code(
            context, Purpose.EMAIL, state.uid, req.code, subject=state.subject, errors=MAIL_CODE,
            identifier=Identifier(EMAIL, state.email),
        )  # fmt: skip
        account = store.by_uid(context, proof.uid)
        if _is_contested(context, interaction, account, proof):
            raise e.ClosedLink
        return _continue(context, interaction, _confirmed(context, interaction, account, proof), proof, is_new=True)
    except ApiError as refusal:
        raise with_page(context, refusal, state) from None


@contract.mail_again.implements
def mail_again(context: Context, req: InteractionOnly) -> Next:
    interaction = next_step.open_interaction(context, req.attempt)
    if isinstance(interaction, Next):
        return interaction
    state, session = pending_verification.pending_for(interaction), sessions.current(context)
    if state is None:
        return next_step.advance(context, interaction, session)
    if left := pending_verification.seconds_left(context, state):
        raise with_page(context, e.TooManyRequests(retry_after_seconds=left), state)
    try:
        state = pending_verification.resend(context, interaction, state)
    except pending_verification.SEND_ERRORS as refusal:
        raise with_page(context, refusal, state) from None
    return step(context, pending_verification.store_pending(context, interaction, state), state)


def _verify_by_sms(context: Context, interaction: Interaction, state: PendingVerification, code: str) -> Next:
    """Prove the number by the code, and sign in where the password was shown in this browser."""
    proof = phones.spend_code(context, state.uid, state.subject, code, name=Identifier("phone", state.subject))
    account = phones.confirm(
        context,
        proof,
        knows_password=_has_first_factor(
            context, interaction, proof, _hash_of(context, store.by_uid(context, state.uid), state.uid)
        ),
    )
    known = _has_first_factor(context, interaction, proof, account.password_hash)
    authentication = Authentication(
        (sign_in.PASSWORD, _SMS), "phone", remember=first_factor_passed.can_remember(context, state.remember)
    )
    entered = first_factor_passed.try_sign_in(context, interaction, account, authentication) if known else None
    return entered or Next(step=Step.LOGIN, attempt=interaction.interaction_id)


def _confirmed(
    context: Context,
    interaction: Interaction | None,
    account: Account | None,
    proof: OneTimeToken,
    *,
    is_shown: bool = False,
) -> Account:
    """Confirm, and say whether who holds the mailbox is known to have the password, too: shown here, or signed in here."""
    session = sessions.current(context)
    is_own = session is not None and session.uid == proof.uid
    knows = is_shown or is_own or _has_first_factor(context, interaction, proof, _hash_of(context, account, proof.uid))
    after = verification.confirm(context, proof, knows_password=knows)
    email_verification.end_sessions_if_configured(context, after)
    return after


def _has_first_factor(
    context: Context, interaction: Interaction | None, proof: OneTimeToken, password_hash: str | None
) -> bool:
    """Return whether the account's password was shown in the browser of this attempt, which waits for the proof, or what
    stands in its place: a passkey that was made there, a provider that it came from."""
    state = pending_verification.pending_for(interaction) if interaction is not None else None
    if state is None or (state.uid, state.subject) != (proof.uid, proof.subject):
        return False
    is_typed = bool(password_hash) and state.password_hash == password_hash
    return is_typed or _has_passkey(context, state) or identity_linking.is_proof_for(context, interaction, proof.uid)


def _has_passkey(context: Context, state: PendingVerification) -> bool:
    held = passkeys.by_account(context, state.uid) if state.passkey else ()
    return any(one.facts["id"] == state.passkey for one in held)


def _hash_of(context: Context, account: Account | None, uid: str) -> str | None:
    return account.password_hash if account is not None else pending_accounts.password_hash(context, uid)


def _is_contested(
    context: Context, interaction: Interaction | None, account: Account | None, proof: OneTimeToken
) -> bool:
    """Return whether more than one registered with the address, and this browser may have been neither of them."""
    if proof.kind is not Purpose.EMAIL or not pending_accounts.is_contested(context, proof.subject):
        return False
    return not _has_first_factor(context, interaction, proof, _hash_of(context, account, proof.uid))


def _is_password_given(
    context: Context, interaction: Interaction | None, account: Account | None, proof: OneTimeToken, password: str
) -> bool:
    """Return whether the password was typed with the link, which it must be where the link does not tell whose account its
    click would make real: PasswordMissing, WrongCredentials."""
    if not _is_contested(context, interaction, account, proof):
        return False
    if not password:
        raise e.PasswordMissing
    context.spend("verification_try", _TRIES, randomness.digest(f"{proof.uid} {proof.subject}"))
    password_hash = _hash_of(context, account, proof.uid)
    context.work.release_connection()
    if not context.hashing.is_match(password_hash, password):
        context.audit.record("verification.refused", uid=proof.uid, reason="password")
        raise e.WrongCredentials
    return True


def _verified_elsewhere(context: Context, interaction: Interaction, state: PendingVerification) -> Next:
    account = store.by_uid(context, state.uid)
    if account is None or not verification.is_verified(account, state.email):
        raise e.EmailUnverified
    if account.private.get(pending_accounts.WAS_PENDING):
        return Next(step=Step.EMAIL_CONFIRMED, attempt=interaction.interaction_id, problem="before")
    held = OneTimeToken(Purpose.EMAIL, account.uid, state.subject, {}, context.now)
    return _continue(context, interaction, account, held, is_new=False)


def _continue(
    context: Context, interaction: Interaction | None, account: Account, proof: OneTimeToken, *, is_new: bool
) -> Next:
    """Sign in where the password was shown in this browser, or where the tenant wants it; else say that it is done."""
    state = pending_verification.pending_for(interaction) if interaction is not None else None
    if identity_linking.pending_for(interaction) is not None:
        store.lock(
            context, account.uid
        )  # of two who come at once, who claims the account and who made it, the second sees the first
    knows = _has_first_factor(context, interaction, proof, account.password_hash)
    may_enter = knows or (is_new and context.tenant.settings.login_on_email_verification)
    remember = first_factor_passed.can_remember(context, knows and state is not None and state.remember)
    known = tuple(state.methods) if state is not None and state.methods else (sign_in.PASSWORD,)
    authentication = (
        Authentication(known, remember=remember) if knows else Authentication((_BY_MAIL,), channel=FactorKind.EMAIL)
    )
    if (
        may_enter
        and (entered := first_factor_passed.try_sign_in(context, interaction, account, authentication)) is not None
    ):
        return entered
    asked = str(proof.facts.get("attempt") or "")
    return Next(
        step=Step.EMAIL_CONFIRMED,
        attempt=interaction.interaction_id if interaction is not None else asked or None,
        relying_party=_relying_party_of(context, asked) if interaction is None and asked else None,
        problem=None if is_new else "before",
    )


def _relying_party_of(context: Context, interaction_id: str) -> RelyingPartyView | None:
    """Return the application of an attempt that another browser began: to its home alone this one may be led."""
    client = context.application(client_id=interactions.client_id_for(context, interaction_id))
    return oauth.relying_party(client, None) if client is not None else None


def with_page(context: Context, refusal: ApiError, state: PendingVerification) -> ApiError:
    """Return the refusal with what the page shows."""
    left = pending_verification.seconds_left(context, state)
    shown = SentTo(sent_to=state.email, resend_in_seconds=left, by=state.by, can_change=bool(state.held))
    return pending_verification.with_page_data(refusal, shown)
