"""Finds the account that a redeemed link or code signs in to; the owner of the mailbox claims an unverified account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.contract.accounts.account_operations import EmailEntry, PinInfo
from app.identity.authentication.recovery import recipient
from app.identity.authentication.registration import account_registration, drafts, requirements
from app.identity.authentication.registration.drafts import AccountDraft
from app.identity.authentication.sign_in import locks
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.authentication.sign_in.sessions.revocation import end_sessions_and_tokens
from app.identity.authentication.verification import email_verification, phone_verification
from app.identity.credentials import credential_store
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.codes import MAIL_CODE, SMS_CODE
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.credentials.reset_messages import MAIL, is_still_recipient, unknown_subject
from app.identity.directory.accounts import account_store, accounts, identifiers, linked_identities
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.identifiers import EMAIL, PHONE
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.directory.accounts.unverified import first_verification, pending_accounts
from app.identity.directory.consents import consent_forms
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform import events
from app.identity.platform.context import NO_ACCOUNT, Context
from app.kit.operations.errors import ApiError

SOURCE = "one-touch"


@dataclass
class _RegistrationInput:
    """The registration model of a new account without a password."""

    email: list[EmailEntry] | None = None
    phone_id: str | None = None
    free: Any = None
    user_name: str | None = None
    password: str | None = None
    security_question_answer: dict[str, str] | None = None
    uid: str | None = None
    pin_info: PinInfo | None = None


def redeem_code(
    context: Context,
    lookup: AccountLookup,
    channel: str,
    code: str,
    solution: LockSolution,
    *,
    template: str | None,
) -> Account:
    """Return the account of a right code, which is used up. Where no message was sent, every code is wrong, at the same cost.

    Raises the refusals of a lock and of the code, and the errors of `redeem`.
    """
    account, errors = recipient.reachable_account(lookup, channel), MAIL_CODE if channel == MAIL else SMS_CODE
    is_lock_solved = locks.require_solved(context, lookup, solution)
    uid, subject = (account.uid, channel) if account else (NO_ACCOUNT, unknown_subject(lookup.identifier.value))
    token = one_time_tokens.spend_code(
        context, Purpose.SIGN_IN, uid, code, subject=subject, errors=errors, is_lock_solved=is_lock_solved,
        identifier=lookup.identifier if lookup.is_hidden else None,
    )  # fmt: skip
    return redeem(context, token, errors.closed, template=template)


def redeem(
    context: Context,
    token: OneTimeToken,
    closed_error: type[ApiError],
    *,
    template: str | None = None,
    identity: ProviderIdentity | None = None,
    links_identity: bool = False,
) -> Account:
    """Return the account that a redeemed one-time token signs in to.

    Args:
        closed_error: the error where no account has the address or the number any more.
        template: of the welcome mail after the first verification of an address.
        identity: the provider's identity whose claim verifies the address; a new account gets its name.
        links_identity: whether a new account gets the identity too.

    Raises:
        RegistrationOff, EmailRefused, EmailDomainRefused, PhoneLoginOff: the tenant does not register this new
        account.
        ClosedLink, EmailRegistered, PhoneTaken: another account took it concurrently.
    """
    email, phone = token.facts.get("email") or "", token.facts.get("phone") or ""
    if token.uid != NO_ACCOUNT:
        account = account_store.lock(context, token.uid)
        if account is None or not is_still_recipient(account, token):
            raise closed_error
    elif not token.facts.get("registers"):
        raise closed_error
    else:
        account = _holder(context, email, phone)
        if account is None:
            template = template or token.facts.get("welcome")
            name = token.facts.get("name") or ""
            return register(
                context,
                email=email,
                phone=phone,
                name=name,
                template=template,
                identity=identity,
                links_identity=links_identity,
            )
    if email:
        return _verify_email(context, account, email, template or token.facts.get("welcome"))
    return _verify_phone(context, account, phone)


def register(
    context: Context,
    *,
    email: str = "",
    phone: str = "",
    name: str = "",
    template: str | None = None,
    identity: ProviderIdentity | None = None,
    links_identity: bool = False,
) -> Account:
    """Create an account for a verified address or number, or with neither for an identity that is linked at once.

    Raises RegistrationOff, EmailRefused, EmailDomainRefused, PhoneLoginOff, EmailRegistered, PhoneTaken, and IdentifierTaken
    where another account got the identity concurrently.
    """
    account_registration.require_enabled(context)
    free = _profile_of(context, identity) if identity is not None else {"FirstName": name} if name else {}
    source = identity.provider if identity is not None else SOURCE
    draft = new_draft(context, source, free, email=email, phone=phone, needs_identifier=not links_identity)
    return add(
        context,
        draft,
        source,
        template=template,
        identity=identity,
        links_identity=links_identity,
        is_phone_verified=True,
    )


def _profile_of(context: Context, identity: ProviderIdentity) -> dict[str, Any]:
    from app.identity.authentication.registration import provider_fields  # noqa: PLC0415 - with the first such sign-up

    return provider_fields.at_registration(context, identity).assigned


def new_draft(
    context: Context,
    source: str,
    free: dict[str, Any],
    *,
    email: str = "",
    phone: str = "",
    needs_identifier: bool = True,
) -> AccountDraft:
    """Return the draft of an account without a password. Raises EmailRefused, EmailDomainRefused, PhoneLoginOff."""
    entries = [EmailEntry(type="Primary", value=email)] if email else None
    typed = _RegistrationInput(email=entries, phone_id=phone or None, free=free)
    draft = drafts.read(context, typed, source, needs_password=False, needs_identifier=needs_identifier)
    requirements.refuse_registrant(context, draft)
    return draft


def add(
    context: Context,
    draft: AccountDraft,
    source: str,
    *,
    template: str | None = None,
    identity: ProviderIdentity | None = None,
    links_identity: bool = False,
    is_phone_verified: bool = False,
    private: Mapping[str, Any] | None = None,
) -> Account:
    """Add the account of a draft whose address is verified. Raises as `register` does, and UsernameTaken.

    Args:
        private: further members of `private`.
    """
    emails, phone = draft.addresses.forms, (draft.phone or "") if is_phone_verified else ""
    verified = {"email_verified": bool(emails), "phone_verified": bool(phone)}
    registered_by = {linked_identities.REGISTERED_BY: identity.provider} if identity is not None else {}
    kept = {**consent_forms.at_registration(context, None), **registered_by, **(private or {})}
    account = drafts.add(context, draft, drafts.to_columns(context, draft, **verified, private=kept))
    for form in filter(None, (*emails, phone)):
        pending_accounts.remove_pending(context, form)
    context.audit.record("account.registered", uid=account.uid, source=source)
    events.emit(context, "Register", account)
    if identity is not None and links_identity:
        account = linked_identities.link(context, account, identity)
    return email_verification.send_welcome(context, account, template) if emails else account


def refuse_registration(context: Context, *, email: str = "") -> None:
    """Raise RegistrationOff, EmailRefused or EmailDomainRefused if the tenant registers no such account."""
    account_registration.require_enabled(context)
    if normalized := identifiers.normalize_email(email):
        requirements.refuse_email(context.tenant.settings.email_access, normalized)


def _holder(context: Context, email: str, phone: str) -> Account | None:
    """Return the account with the identifier; an account that never verified the number loses it."""
    holder = accounts.by_email(context, email) if email else accounts.by_phone(context, phone)
    locked = account_store.lock(context, holder.uid) if holder is not None else None
    if locked is not None and phone and not locked.phone_verified and pending_accounts.is_claimable(locked, PHONE):
        release = (
            pending_accounts.remove_replaceable
            if pending_accounts.is_replaceable(locked)
            else pending_accounts.release_phone
        )
        release(context, locked, "")
        return None
    return locked


def _verify_email(context: Context, account: Account, email: str, template: str | None) -> Account:
    """Verify the address; an account that never verified it loses its credentials."""
    form = identifiers.normalize(EMAIL, email)
    if is_verified(account, form):
        return account
    is_first = first_verification.is_first_verification(account)
    token = OneTimeToken(Purpose.EMAIL, account.uid, form, {}, context.now)
    changed = email_verification.confirm(context, token, template=template, knows_password=True)
    return _claim_account(context, changed) if is_first else changed


def _verify_phone(context: Context, account: Account, phone: str) -> Account:
    if account.phone_verified:
        return account
    token = OneTimeToken(Purpose.PHONE, account.uid, phone, {}, context.now)
    return phone_verification.confirm(context, token)


def _claim_account(context: Context, account: Account) -> Account:
    """Remove every credential from before the first verification: password, number, answers, factors, passkeys, tokens."""
    private = dict(account.private)
    values = {
        "password_hash": None,
        "password_changed_at": None,
        **first_verification.remove_unverified_credentials(context, account, private),
    }
    private.pop("password_history", None)
    changed = account_store.change(context, account.uid, {**values, "private": private}) or account
    credential_store.remove_all(context, account.uid)
    for kind in (Purpose.RESET_PASSWORD, Purpose.DELETE_ACCOUNT, Purpose.ADD_EMAIL, Purpose.ADD_PHONE):
        one_time_tokens.close(context, account.uid, kind)
    end_sessions_and_tokens(context, changed)
    context.audit.record("account.claimed", uid=account.uid)
    return changed
