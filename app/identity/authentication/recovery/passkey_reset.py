"""A lost passkey is replaced by a mailed link, but never a second factor: the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.contract import errors
from app.contract.messages.models import MailKind
from app.contract.passkeys.models import PresentedCredential
from app.identity.authentication.recovery import new_password, password_reset, recipient
from app.identity.authentication.sign_in.passkeys import passkey_management
from app.identity.authentication.sign_in.passkeys.passkey_sign_in import require_enabled
from app.identity.authentication.sign_in.sessions.revocation import end_sessions_and_tokens
from app.identity.credentials import reset_messages
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.one_time_token_store import OneTimeTokenFacts, Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.credentials.passkeys import ceremonies, passkey_store
from app.identity.credentials.passkeys.ceremonies import CeremonyUse
from app.identity.credentials.passkeys.options import DEFAULT_PREFERENCES, CreationPreferences
from app.identity.credentials.second_factors.authenticators.passkey import user_entity
from app.identity.directory.accounts import account_store, identifiers
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.directory.accounts.unverified import first_verification
from app.identity.directory.tenants.urls import allowed_urls
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.platform import events
from app.identity.platform.context import NO_ACCOUNT, Context

VTYPE = "resetpasskey"
KIND = Purpose.RESET_PASSKEY


@dataclass(frozen=True)
class RecoveryOptions:
    """The caller's options for the mail."""

    url: str | None = None
    template: str | None = None
    interaction_id: str | None = None


def send_from_page(context: Context, lookup: AccountLookup, interaction_id: str | None) -> None:
    """Mail a link to our page, with the same response and cost for identifiers with and without passkeys."""
    send(
        context,
        find_recipient(context, lookup),
        lookup.identifier.value,
        RecoveryOptions(interaction_id=interaction_id),
        is_hidden=True,
    )


def begin_with_link(
    context: Context, token: str, preferences: CreationPreferences = DEFAULT_PREFERENCES
) -> dict[str, Any]:
    """Return the creation options of a new passkey for a link, which stays unused. Raises the errors of `peek`."""
    require_enabled(context)
    password_reset.count_attempt(context)
    account, link_token = peek(context, token)
    return ceremonies.begin_registration(
        context, CeremonyUse.RESET, user_entity(account), (), preferences, proof=link_token.token_id
    )


def finish_with_link(context: Context, token: str, credential: PresentedCredential) -> Account:
    """Replace all sign-in passkeys by a new one, and end every session and token. Only one of several concurrent calls succeeds."""
    require_enabled(context)
    password_reset.count_attempt(context)
    account, link_token = peek(context, token)
    new_passkey = ceremonies.verify_registration(context, CeremonyUse.RESET, credential, account.uid)
    if new_passkey.challenge_token.facts.get("proof") != link_token.token_id:
        raise errors.PasskeyRefused
    locked = new_password.lock_account(context, account, link_token)
    one_time_tokens.spend_link(context, KIND, token)
    _claim(context, locked, link_token)
    passkey_management.replace_all(context, locked, new_passkey)
    one_time_tokens.close(context, locked.uid, KIND)
    end_sessions_and_tokens(context, locked)
    return locked


def _claim(context: Context, locked: Account, link_token: OneTimeToken) -> None:
    """Claim an account that two people may have used for the owner of the mailbox, without its older credentials (decision 0064)."""
    form = identifiers.normalize("email", link_token.facts.get("email") or "")
    found = locked.email_list.find(form)
    if found is None or not first_verification.claims_account(locked, form):
        return
    private, is_first = dict(locked.private), first_verification.is_first_verification(locked)
    values = {
        **first_verification.claim(context, locked, found.value),
        **first_verification.remove_unverified_credentials(context, locked, private),
    }
    values |= {"private": private, "password_hash": None, "password_changed_at": None}
    claimed = account_store.change(context, locked.uid, values) or locked
    passkey_store.restrict_after_claim(context, locked.uid, is_first=is_first)
    context.audit.record("account.claimed", uid=locked.uid)
    if not is_verified(locked, form):
        events.emit(context, "EmailVerification", claimed)


def peek(context: Context, token: str) -> tuple[Account, OneTimeToken]:
    """Return the account and token of a link; raises UnknownLink, UsedLink, ExpiredLink, AccountBlocked."""
    link_token = one_time_tokens.peek_link(context, KIND, token)
    account = account_store.by_uid(context, link_token.uid)
    if account is None:
        raise errors.UnknownLink
    recipient.refuse_closed(account)
    if not reset_messages.is_still_recipient(account, link_token):
        raise errors.ExpiredLink
    return account, link_token


def send(context: Context, account: Account | None, name: str, options: RecoveryOptions, *, is_hidden: bool) -> None:
    """Mail a link; for an unknown account do the same work and send nothing.

    Raises MailLimitReached unless accounts are hidden.
    """
    uid, subject = (account.uid, reset_messages.MAIL) if account else (NO_ACCOUNT, reset_messages.unknown_subject(name))
    sending_context = context if account else context.without_sending()
    email = name.strip() if account is None else _spelling(account, name)
    facts: OneTimeTokenFacts = {"attempt": options.interaction_id, "email": email}
    try:
        token = one_time_tokens.new_link(
            context, KIND, uid, subject=subject, minutes=one_time_tokens.RESET_MINUTES, facts=facts
        )
        page = _link(context, token, options)
        message_facts = MessageFacts(url=page, token=token, minutes=one_time_tokens.RESET_MINUTES)
        language = context.visit.language if context.visit else None
        recipient_email = str(facts["email"])
        messaging.mail(
            sending_context,
            MailKind.PASSKEY_LOST,
            recipient_email,
            account=account,
            facts=message_facts,
            template=options.template,
            language=language,
        )
    except errors.MailLimitReached:
        if not is_hidden:
            raise
        context.work.rollback()
    context.audit.record("passkey.forgot", uid=account.uid if account else None)


def find_recipient(context: Context, lookup: AccountLookup) -> Account | None:
    """Return the account if it has passkeys to replace and its owner verified the mailbox."""
    account = recipient.reachable_account(lookup, reset_messages.MAIL)
    passkeys = passkey_store.by_account(context, account.uid if account else NO_ACCOUNT)
    is_verified = account is not None and bool(account.email) and not first_verification.is_first_verification(account)
    return account if passkeys and is_verified else None


def _spelling(account: Account, email: str) -> str:
    found = account.email_list.find(identifiers.normalize("email", email))
    return found.value if found is not None else account.email or ""


def _link(context: Context, token: str, options: RecoveryOptions) -> str:
    return allowed_urls.mailed_link(
        context, "/passkeys/reset", token, options.url, vtype=VTYPE, interaction_id=options.interaction_id
    )
