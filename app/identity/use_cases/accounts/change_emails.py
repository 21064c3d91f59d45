"""Changes of an account's email addresses by its owner, the tenant's servers or its JWT provider. `EmailList` computes what is stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from app.contract import errors
from app.contract.messages.models import MailKind
from app.identity.authentication.registration import requirements
from app.identity.authentication.verification import email_verification
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.credentials import notifications
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.codes import MAIL_CODE
from app.identity.credentials.one_time_tokens.one_time_token_store import OneTimeTokenFacts, Purpose
from app.identity.directory.accounts import account_store, accounts, confusables, identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.email_list import MAX_EMAILS, PRIMARY, EmailAddress, EmailList
from app.identity.directory.accounts.input_checks import taken
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.directory.tenants.urls import allowed_urls
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.messaging.send_limits import CountedAs
from app.identity.platform import events
from app.identity.platform.context import Context


@dataclass(frozen=True)
class NewEmail:
    """An address to add, and how its verification email looks."""

    email: str
    type: str
    url: str | None = None  # the relying party's page; None: the hosted page
    template: str | None = None


def request_addition(context: Context, account: Account, new: NewEmail, *, hides_taken: bool) -> None:
    """Email a link and a code to a new address, which is added once it is verified.

    With `hides_taken` another account's address is answered like a free one; its owner gets an email.

    Raises:
        MalformedEmail, EmailTypeMissing.
        EmailActionRefused: there is a primary address already.
        EmailNotAddable: the account has an address that is not verified yet.
        EmailUpdateRefused: the account has the maximum number of addresses.
        EmailTaken: the account has it already. EmailRegistered: another account has it.
        EmailRefused, EmailDomainRefused, VerificationUrlRefused: the tenant's settings refuse it.
        MailLimitReached.
    """
    account = _lock(context, account)
    normalized, owner = _free(context, account, new)
    if owner is not None and not hides_taken:
        raise errors.EmailRegistered
    shown = identifiers.display_email(new.email)
    _add_pending(context, account, new)
    facts = _new_link_and_code(context, account, new, normalized)
    language = notifications.page_language(context)
    if owner is not None:
        facts = MessageFacts(url=f"{context.pages_url}/login")
        as_if_free = CountedAs(MailKind.ADD_EMAIL, account.uid)
        messaging.mail(
            context, MailKind.ACCOUNT_EXISTS, shown, account=None, facts=facts, language=language, counted_as=as_if_free
        )
    else:
        facts = replace(facts, added_by=email_verification.masked_owner(account, normalized))
        messaging.mail(
            context, MailKind.ADD_EMAIL, shown, account=account, facts=facts, template=new.template, language=language
        )
    context.audit.record("email.asked", uid=account.uid)


def token_only(context: Context, account: Account, new: NewEmail) -> str:
    """Return the token of a link that the caller delivers; raises as `request_addition` does, except MailLimitReached."""
    account = _lock(context, account)
    normalized, owner = _free(context, account, new)
    if owner is not None:
        raise errors.EmailRegistered
    _add_pending(context, account, new)
    return one_time_tokens.new_link(
        context, Purpose.ADD_EMAIL, account.uid, subject=normalized, facts=_facts(context, new)
    )


def confirm_code(context: Context, account: Account, email: str, code: str) -> Account:
    """Verify the address that the code was sent to: a new one, or an unverified one of the account.

    Raises the four refusals of a mailed code, MalformedEmail, EmailRegistered, EmailVerifiedBefore.
    """
    form = identifiers.normalize_email(email)
    if form is None:
        raise errors.MalformedEmail
    kind = one_time_tokens.purpose_of_newest_code(context, (Purpose.ADD_EMAIL, Purpose.EMAIL), account.uid, form)
    token = one_time_tokens.spend_code(context, kind, account.uid, code, subject=form, errors=MAIL_CODE)
    return email_verification.confirm(context, token, knows_password=kind is Purpose.EMAIL)


def remove(context: Context, account: Account, email: str | None, *, is_own: bool = True) -> Account:
    """Remove an address; the next one becomes primary if it was the primary one. Both get an email; the former primary
    address gets a link that reverts the change, unless the tenant's server made it (`is_own` is false).

    Raises MalformedEmail, EmailNotOnProfile, LastEmail.
    """
    normalized = identifiers.normalize_email(email or "")
    if normalized is None:
        raise errors.MalformedEmail
    fresh = _lock(context, account)
    gone = fresh.email_list.find(normalized)
    if gone is None:
        raise errors.EmailNotOnProfile
    if not fresh.email_list.is_removable(gone):
        raise errors.LastEmail
    after = _store_in_order(context, fresh, fresh.email_list.others(normalized))
    one_time_tokens.close(context, account.uid, subject=normalized)
    _end_links(context, account.uid)
    context.audit.record("email.removed", uid=account.uid)
    recipients = [None if gone.is_pending else gone.value, after.email]
    for to in recipients:
        mail = notifications.notify_with_alert_link if is_own and to == fresh.email else notifications.notify
        facts = MessageFacts(email=gone.value, change="removed")
        mail(context, MailKind.EMAIL_CHANGED, to, after, facts, before=fresh)
    events.emit(context, "RemoveEmail" if is_own else "UpdateProfile", after)
    return after


def make_primary(context: Context, account: Account, email: str) -> Account:
    """Make another verified address the primary one; the former primary address gets an email.

    Raises MalformedEmail, EmailNotOnProfile, EmailNotAddable.
    """
    normalized = identifiers.normalize_email(email)
    if normalized is None:
        raise errors.MalformedEmail
    fresh = _lock(context, account)
    chosen = fresh.email_list.find(normalized)
    if chosen is None:
        raise errors.EmailNotOnProfile
    if not fresh.email_list.is_verified(normalized):
        raise errors.EmailNotAddable
    if chosen is fresh.email_list.addresses[0]:
        return fresh
    after = _store_in_order(context, fresh, [chosen, *fresh.email_list.others(normalized)])
    _end_links(context, account.uid)
    context.audit.record("email.primary_changed", uid=account.uid)
    facts = MessageFacts(email=after.email or "", change="primary")
    notifications.notify_with_alert_link(context, MailKind.EMAIL_CHANGED, fresh.email, after, facts)
    events.emit(context, "UpdateProfile", after)
    return after


def set_by_server(context: Context, uid: str, provided: EmailList) -> Account:
    """Set addresses by their type, all verified; an address that goes gets a notice, and so does the primary one.

    Raises UnknownUid, EmailUpdateRefused, and the error of an address that another account has.
    """
    before = accounts.lock(context, uid)
    merged = before.email_list.merged_by_type(provided)
    if len(merged) > MAX_EMAILS:
        raise errors.EmailUpdateRefused
    try:
        after = _store_in_order(context, before, merged, verified=provided.forms)
    except account_store.IdentifierTaken as conflict:
        raise taken(conflict) from None
    for normalized in provided.forms:
        pending_accounts.remove_pending(context, normalized)
    _end_tokens(context, before, after)
    _notify_of_server(context, before, after)
    events.emit(context, "UpdateProfile", after)
    return after


def set_by_provider(context: Context, uid: str, email: str, provider: str) -> Account:
    """Replace the primary address of an account by a verified one of its provider.

    An address that another account has, or that the tenant's rules refuse, changes nothing, because the person could not
    resolve that at the sign-in.

    Raises UnknownUid.
    """
    normalized = identifiers.normalize_email(email)
    before = accounts.lock(context, uid)
    former = identifiers.normalize_email(before.email or "")
    if normalized is None or normalized == former or not _may_be_set(context, before, normalized):
        return before
    others = [item for item in before.email_list.others(normalized) if item.normalized != former]
    new = EmailAddress(identifiers.display_email(email), PRIMARY)
    try:
        after = _store_in_order(context, before, [new, *others], verified=(normalized,))
    except account_store.IdentifierTaken:
        context.audit.record("email.not_changed", uid=before.uid, by=provider)
        return before
    pending_accounts.remove_pending(context, normalized)
    _end_tokens(context, before, after)
    _notify_of_server(context, before, after)
    events.emit(context, "UpdateProfile", after)
    return after


def _may_be_set(context: Context, account: Account, normalized: str) -> bool:
    """Return whether a provider's address may replace the primary one, which the account has verified if it has one."""
    if (account.email and not account.email_verified) or confusables.has_invisible_character(normalized):
        return False
    try:
        requirements.refuse_email(context.tenant.settings.email_access, normalized)
    except (errors.EmailRefused, errors.EmailDomainRefused):
        return False
    return len(account.email_list.others(normalized)) <= MAX_EMAILS


def invalidate(context: Context, uid: str, options: VerificationOptions) -> None:
    """Mark the primary address unverified, and mail a verification. Raises UnknownUid, NoEmailToInvalidate, EmailUnverifiedBefore."""
    before = accounts.lock(context, uid)
    if not before.email:
        raise errors.NoEmailToInvalidate
    if not before.email_verified:
        raise errors.EmailUnverifiedBefore
    emails = before.email_list.with_primary_verified(is_verified=False)
    account_store.change_email_identifiers(context, before.uid, before.email_list, emails)
    after = account_store.change(context, uid, emails.changes_since(before.email_list)) or before
    email_verification.send(context, after, options)
    context.audit.record("email.invalidated", uid=after.uid)
    events.emit(context, "InvalidateEmailVerification", after)


def _lock(context: Context, account: Account) -> Account:
    """Lock the account and return it. Raises NotAuthenticated where it was deleted meanwhile."""
    fresh = account_store.lock(context, account.uid)
    if fresh is None:
        raise errors.NotAuthenticated
    return fresh


def _free(context: Context, account: Account, new: NewEmail) -> tuple[str, Account | None]:
    """Return the normalized address and another account that has it; raises as `request_addition` does.

    The account is locked until the address is added, against a concurrent confirmation or another new address.
    """
    normalized = identifiers.normalize_email(new.email)
    if normalized is None or confusables.has_invisible_character(normalized):
        raise errors.MalformedEmail
    _refuse_addition(context, account, new.type, normalized)
    requirements.refuse_email(context.tenant.settings.email_access, normalized)
    email_verification.refuse_url(context, new.url)
    owner = accounts.by_email(context, normalized)
    if owner is not None and owner.uid == account.uid:
        raise errors.EmailTaken
    return normalized, owner


def _facts(context: Context, new: NewEmail) -> OneTimeTokenFacts:
    """Return what the token of a new address stores."""
    return {
        "type": new.type.strip(),
        "email": identifiers.display_email(new.email),
        "is_silent": context.suppresses_webhooks,
    }


def _new_link_and_code(context: Context, account: Account, new: NewEmail, normalized: str) -> MessageFacts:
    """Issue the link and the code that the email template contains; return the facts of the email."""
    carries = messaging.carries(
        context,
        MailKind.ADD_EMAIL,
        account=account,
        template=new.template,
        language=notifications.page_language(context),
    )
    link_minutes = one_time_tokens.LINK_MINUTES if carries != "otp" else None
    code_minutes = one_time_tokens.CODE_MINUTES if carries != "link" else None
    token, code = one_time_tokens.issue(
        context, Purpose.ADD_EMAIL, account.uid, subject=normalized, link_minutes=link_minutes, code_minutes=code_minutes,
        facts=_facts(context, new),
    )  # fmt: skip
    facts = MessageFacts()
    if link_minutes is not None:
        page = allowed_urls.mailed_link(context, "/verify", token, new.url, vtype=email_verification.VTYPE)
        facts = replace(facts, url=page, token=token, minutes=link_minutes)
    if code_minutes is not None:
        facts = replace(facts, otp=code.text, otp_minutes=code_minutes)
    return facts


def _end_links(context: Context, uid: str) -> None:
    """Revoke reset and deletion links sent to the previous addresses. Alert links stay valid: a thief could otherwise void them."""
    one_time_tokens.close(context, uid, Purpose.RESET_PASSWORD)
    one_time_tokens.close(context, uid, Purpose.DELETE_ACCOUNT)


def _refuse_addition(context: Context, account: Account, kind: str, normalized: str) -> None:
    """Refuse another address of this type; `request_addition` lists the errors."""
    if not kind.strip():
        raise errors.EmailTypeMissing
    if account.email and kind.strip().lower() == PRIMARY:
        raise errors.EmailActionRefused
    if account.email and not account.email_verified and context.tenant.settings.email_verification != "disabled":
        raise errors.EmailNotAddable
    if len(account.email_list.others(normalized)) >= MAX_EMAILS:
        raise errors.EmailUpdateRefused


def _add_pending(context: Context, account: Account, new: NewEmail) -> None:
    """Add an address that counts once it is verified."""
    before = account.email_list
    after = before.with_pending(EmailAddress(identifiers.display_email(new.email), new.type.strip()))
    account_store.change(context, account.uid, after.changes_since(before))


def _store_in_order(
    context: Context, fresh: Account, items: Iterable[EmailAddress], *, verified: Collection[str] = ()
) -> Account:
    """Store the addresses as `EmailList.ordered` says. Raises store.IdentifierTaken."""
    before = fresh.email_list
    after = before.ordered(items, verified=verified)
    account_store.change_email_identifiers(context, fresh.uid, before, after)
    values = after.columns() if after.present else after.changes_since(before)
    return account_store.change(context, fresh.uid, values) or fresh


def _end_tokens(context: Context, before: Account, after: Account) -> None:
    """Close links and codes of the addresses that the account had: they are gone, or verified without them."""
    still_pending = {item.normalized for item in after.email_list.pending}
    for normalized in {*before.email_list.forms, *after.email_list.forms} - still_pending:
        one_time_tokens.close(context, after.uid, subject=normalized)
    _end_links(context, after.uid)


def _notify_of_server(context: Context, before: Account, after: Account) -> None:
    """Notify the former primary address of each change, and each removed address of its removal.

    The notices carry no alert link: the tenant's server may take an account away from a stolen mailbox.
    """
    stored = {item.normalized: item.value for item in before.email_list.present}
    now = {item.normalized: item.value for item in after.email_list.present}
    changes = [(stored[normalized], "removed") for normalized in stored.keys() - now.keys()]
    changes += [(now[normalized], "added") for normalized in now.keys() - stored.keys()]
    for email, change in sorted(changes):
        context.audit.record(f"email.{change}", uid=after.uid)
        for to in {before.email, email} if change == "removed" else {before.email}:
            facts = MessageFacts(email=email, change=change)
            notifications.notify(context, MailKind.EMAIL_CHANGED, to, after, facts, before=before)
