"""People add, remove and order the addresses of their account (interface user.md rows U23, U24)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.contract import errors as e
from app.contract.messages import MailKind
from app.identity.authentication.registration import requirements
from app.identity.authentication.verification import service as verification
from app.identity.credentials import notifications
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.one_time_tokens.service import MAIL_CODE, Purpose
from app.identity.directory.accounts import confusables, identifiers, store
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.identifier_checks import MOST_EMAILS, PRIMARY
from app.identity.directory.accounts.identifiers import EMAIL
from app.identity.directory.accounts.service import Account
from app.identity.directory.tenants import allowed_addresses
from app.identity.messaging import service as messaging
from app.identity.messaging.send_limits import CountedAs
from app.identity.platform import events
from app.identity.platform.context import Context


@dataclass(frozen=True)
class NewAddress:
    """An address that somebody wants to add, and how it is asked for."""

    email: str
    type: str
    url: str | None = None  # a page of the relying party; ours where there is none
    template: str | None = None


def ask(context: Context, account: Account, new: NewAddress, *, hides_taken: bool) -> None:
    """Mail a link and a code to another address; it is the account's when it is proved.

    With `hides_taken` an address of somebody else is answered as a free one; its owner is told by mail.

    Raises:
        MalformedEmail, EmailTypeMissing: as they say.
        EmailActionRefused: a second primary address.
        EmailNotAddable: the account has an address that is not verified yet.
        EmailUpdateRefused: the account has as many as may be.
        EmailTaken: it is one of the account's own. EmailRegistered: another account has it.
        EmailRefused, EmailDomainRefused, VerificationUrlRefused: the tenant does not want that.
        MailLimitReached.
    """
    form, owner = _free(context, account, new)
    if owner is not None and not hides_taken:
        raise e.EmailRegistered
    shown = identifiers.display_email(new.email)
    _wait_for(context, account, new, form)
    facts = _proof(context, account, new, form, shown)
    language = notifications.page_language(context)
    if owner is not None:
        facts = {"url": f"{context.issuer}/login"}
        as_if_free = CountedAs(MailKind.ADD_EMAIL, account.uid)
        messaging.mail(
            context, MailKind.ACCOUNT_EXISTS, shown, account=None, facts=facts, language=language, counted=as_if_free
        )
    else:
        facts["added_by"] = verification.masked_owner(account, form)
        messaging.mail(
            context, MailKind.ADD_EMAIL, shown, account=account, facts=facts, template=new.template, language=language
        )
    context.audit.record("email.asked", uid=account.uid)


def token_only(context: Context, account: Account, new: NewAddress) -> str:
    """Return the token of a link that the caller brings to its owner; raises as `ask` does, but for the limit of mails."""
    form, owner = _free(context, account, new)
    if owner is not None:
        raise e.EmailRegistered
    _wait_for(context, account, new, form)
    return _link(context, account, new, form)


def confirm_code(context: Context, account: Account, email: str, code: str) -> Account:
    """Confirm the address that the code was sent to: one to add, or one that the account has and did not prove.

    Raises the four refusals of a mailed code, MalformedEmail, EmailRegistered, EmailVerifiedBefore.
    """
    form = identifiers.normalize_email(email)
    if form is None:
        raise e.MalformedEmail
    kind = one_time_tokens.purpose_of_newest_code(context, (Purpose.ADD_EMAIL, Purpose.EMAIL), account.uid, form)
    proof = one_time_tokens.spend_code(context, kind, account.uid, code, subject=form, errors=MAIL_CODE)
    return verification.confirm(context, proof, knows_password=kind is Purpose.EMAIL)


def remove(context: Context, account: Account, email: str | None, *, is_silent: bool = False) -> Account:
    """Take an address away; where it was the primary one, the next takes its place. Both are told by mail, and the one
    that was primary may object.

    Raises MalformedEmail, EmailNotOnProfile, LastEmail.
    """
    form = identifiers.normalize_email(email or "")
    if form is None:
        raise e.MalformedEmail
    fresh = _locked(context, account)
    left = [entry for entry in fresh.emails if identifiers.normalize_email(entry["Value"]) != form]
    gone = next((entry for entry in fresh.emails if entry not in left), None)
    if gone is None:
        raise e.EmailNotOnProfile
    if not _may_go(fresh, gone, left):
        raise e.LastEmail
    after = _keep(context, fresh, left)
    one_time_tokens.close(context, account.uid, subject=form)
    _end_links(context, account.uid)
    context.audit.record("email.removed", uid=account.uid)
    told = [None if gone.get("pending") else gone["Value"], after.email]
    for to in told:
        mail = notifications.notify_with_alert_link if to == fresh.email else notifications.notify
        mail(context, MailKind.EMAIL_CHANGED, to, after, before=fresh, email=gone["Value"], change="removed")
    events.emit(context, "UpdateProfile", after, is_silent)
    return after


def make_primary(context: Context, account: Account, email: str) -> Account:
    """Let another verified address of the account be its first; the old first one is told by mail.

    Raises MalformedEmail, EmailNotOnProfile, EmailNotAddable.
    """
    form = identifiers.normalize_email(email)
    if form is None:
        raise e.MalformedEmail
    fresh = _locked(context, account)
    chosen = next((entry for entry in fresh.emails if identifiers.normalize_email(entry["Value"]) == form), None)
    if chosen is None:
        raise e.EmailNotOnProfile
    if not verification.is_verified(fresh, form):
        raise e.EmailNotAddable
    if chosen is fresh.emails[0]:
        return fresh
    after = _keep(context, fresh, [chosen, *(entry for entry in fresh.emails if entry is not chosen)])
    _end_links(context, account.uid)
    context.audit.record("email.primary_changed", uid=account.uid)
    shown = after.email or ""
    notifications.notify_with_alert_link(
        context, MailKind.EMAIL_CHANGED, fresh.email, after, email=shown, change="primary"
    )
    events.emit(context, "UpdateProfile", after, False)
    return after


def _free(context: Context, account: Account, new: NewAddress) -> tuple[str, Account | None]:
    """Return the address's form and who else has it; raises what `ask` does."""
    form = identifiers.normalize_email(new.email)
    if form is None or confusables.has_invisible_character(form):
        raise e.MalformedEmail
    _refuse(context, account, new, form)
    owner = accounts.by_email(context, form)
    if owner is not None and owner.uid == account.uid:
        raise e.EmailTaken
    return form, owner


def _wait_for(context: Context, account: Account, new: NewAddress, form: str) -> None:
    """Let the address stand in the profile as one that is not proved yet."""
    fresh = _locked(context, account)
    others = [entry for entry in fresh.emails if identifiers.normalize_email(entry["Value"]) != form]
    waiting = {"Type": new.type.strip(), "Value": identifiers.display_email(new.email), "pending": True}
    store.change(context, account.uid, {"emails": [*others, waiting]})


def _link(context: Context, account: Account, new: NewAddress, form: str) -> str:
    kept = {"type": new.type.strip(), "email": identifiers.display_email(new.email)}
    return one_time_tokens.new_link(context, Purpose.ADD_EMAIL, account.uid, subject=form, facts=kept)


def _proof(context: Context, account: Account, new: NewAddress, form: str, shown: str) -> dict[str, str]:
    """Make what proves the address, as far as the mail holds it, and return what the mail says."""
    carries = messaging.carries(
        context,
        MailKind.ADD_EMAIL,
        account=account,
        template=new.template,
        language=notifications.page_language(context),
    )
    facts: dict[str, str] = {}
    if carries in ("link", "otp"):
        one_time_tokens.close(
            context, account.uid, Purpose.ADD_EMAIL, subject=form
        )  # the half that is not made anew is over, too
    if carries != "otp":
        token = _link(context, account, new, form)
        page = allowed_addresses.with_query(
            new.url or f"{context.issuer}/verify", vtype=verification.VTYPE, vtoken=token
        )
        facts |= {"url": page, "token": token, "minutes": str(one_time_tokens.LINK_MINUTES)}
    if carries != "link":
        kept = {"type": new.type.strip(), "email": shown}
        code = one_time_tokens.new_code(context, Purpose.ADD_EMAIL, account.uid, subject=form, facts=kept)
        facts |= {"otp": code, "otp_minutes": str(one_time_tokens.CODE_MINUTES)}
    return facts


def _refuse(context: Context, account: Account, new: NewAddress, form: str) -> None:
    if not new.type.strip():
        raise e.EmailTypeMissing
    if account.email and new.type.strip().lower() == PRIMARY:
        raise e.EmailActionRefused
    if account.email and not account.email_verified and context.tenant.settings.email_verification != "disabled":
        raise e.EmailNotAddable
    others = [entry for entry in account.emails if identifiers.normalize_email(entry["Value"]) != form]
    if len(others) >= MOST_EMAILS:
        raise e.EmailUpdateRefused
    requirements.refuse_address(context.tenant.settings.email_access, form)
    verification.refuse_url(context, new.url)


def _may_go(fresh: Account, gone: dict[str, Any], left: list[dict[str, Any]]) -> bool:
    """Return whether an account keeps an address without this one, and a proved one where this one is proved."""
    if gone.get("pending"):
        return True
    held = [entry for entry in left if not entry.get("pending")]
    is_proved = verification.is_verified(fresh, gone["Value"])
    return any(verification.is_verified(fresh, entry["Value"]) for entry in held) if is_proved else bool(held)


def _end_links(context: Context, uid: str) -> None:
    """What was mailed to the addresses before opens nothing now. Alarms stay: a thief would end them in this way."""
    one_time_tokens.close(context, uid, Purpose.RESET_PASSWORD)
    one_time_tokens.close(context, uid, Purpose.DELETE_ACCOUNT)


def _locked(context: Context, account: Account) -> Account:
    fresh = store.change(context, account.uid, {})
    if fresh is None:
        raise e.NotAuthenticated
    return fresh


def _keep(context: Context, fresh: Account, entries: list[dict[str, Any]]) -> Account:
    """Write the addresses in this order; the first is the primary one, or else the first that is proved. Pending ones follow."""
    waiting = [entry for entry in entries if entry.get("pending")]
    proved = {entry["Value"]: verification.is_verified(fresh, entry["Value"]) for entry in entries}
    held = [{**entry, "verified": proved[entry["Value"]]} for entry in entries if not entry.get("pending")]
    if held and held[0]["Value"] != fresh.email:
        held.sort(key=lambda entry: not entry["verified"])
    if not held:
        return store.change(context, fresh.uid, {"emails": waiting}) or fresh
    types = [entry["Type"] for entry in fresh.emails]
    first, *others = held
    former = first["Type"] if str(first["Type"]).lower() != PRIMARY else "Secondary"
    ordered = [{**first, "Type": types[0] if types[0].lower() == PRIMARY else "Primary"}]
    ordered += [{**one, "Type": former} if str(one["Type"]).lower() == PRIMARY else one for one in others]
    store.remove_identifiers(context, fresh.uid, EMAIL)
    store.add_identifiers(
        context, fresh.uid, [(EMAIL, identifiers.normalize(EMAIL, one["Value"]), one["verified"]) for one in ordered]
    )
    values = {"emails": [*ordered, *waiting], "email": first["Value"], "email_verified": first["verified"]}
    after = store.change(context, fresh.uid, values)
    return after or fresh
