"""A code by email, to a verified address of the account."""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.contract.messages.models import MailKind
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import credential_store
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.codes import MAIL_CODE
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.second_factors.authenticators.authenticator import (
    AccountFactors,
    Authenticator,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.directory.accounts import account_store, identifiers
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.identifiers import mask_email, mask_email_for_owner
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.messaging.send_limits import CountedAs
from app.identity.platform.context import NO_ACCOUNT, Context
from app.kit.text.code_normalization import is_code

_SUBJECT = "any address"
"""All codes share one subject, so that only the newest is valid, whichever address it was sent to."""


class EmailCodeAuthenticator(Authenticator):
    """The account enrols email codes as such, not one address. Codes count their attempts themselves."""

    kind = FactorKind.EMAIL
    amr = ("otp",)
    disabled_error = errors.EmailFactorOff
    not_enrolled_error = errors.EmailFactorOff
    removal_error = errors.FactorRemovalRefused  # the other would say that it is disabled
    code_purpose = Purpose.FACTOR_EMAIL
    enrolled_members = ("is_email_otp_authenticator_verified",)

    def is_enrolled(self, factors: AccountFactors) -> bool:
        """An account that lost its verified addresses stays enrolled: a change of addresses must not remove the factor."""
        return bool(factors.enrolled(self.kind)) or self.kind in factors.fallback_kinds

    def is_fallback(self, context: Context, account: Account) -> bool:  # noqa: ARG002 - the base class's signature
        return bool(verified_emails(account))

    def hint(self, factors: AccountFactors) -> str | None:
        address = self.hint_for_owner(factors)
        return mask_email_for_owner(address) if address else None

    def hint_for_owner(self, factors: AccountFactors) -> str | None:
        return recipient(factors.account, None)

    def describe(self, context: Context, factors: AccountFactors) -> FactorChallenge:  # noqa: ARG002 - the base class's signature
        return _challenge(factors.account, None)

    def enrol(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        self._spend(context, factors.account, response)
        for old in factors.enrolled(self.kind):
            credential_store.remove(context, factors.account.uid, (self.kind,), old.credential_id)
        credential_store.add(context, factors.account.uid, self.kind, is_enrolled=True)

    def challenge(self, context: Context, factors: AccountFactors, options: ChallengeOptions) -> FactorChallenge:
        """Email a code if one address is chosen or there is only one; else send nothing yet.

        Raises MalformedEmail, EmailNotOnProfile, MailLimitReached.
        """
        to = recipient(factors.account, options.email)
        if to is not None:
            send(context, factors.account, to, options.email_template)
        return _challenge(factors.account, to)

    def verify(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        self._spend(context, factors.account, response)
        if self.kind not in factors.fallback_kinds and not credential_store.set_values(
            context, factors.enrolled(self.kind)[-1], used_at=context.now
        ):
            raise errors.ClosedMailCode

    def _spend(self, context: Context, account: Account, response: FactorResponse) -> None:
        spend_code(context, account, response.code, response.email, is_lock_solved=response.is_lock_solved)


AUTHENTICATOR: Final = EmailCodeAuthenticator()


def verified_emails(account: Account) -> list[str]:
    """Return the account's verified addresses, to which codes may be sent."""
    return [item.value for item in account.email_list.verified]


def recipient(account: Account, typed: str | None) -> str | None:
    """Return the address that gets a code: the typed one, else the account's only one. None if the account has to choose.

    Raises MalformedEmail, EmailNotOnProfile.
    """
    if typed is not None:
        return select_email(account, typed)
    addresses = verified_emails(account)
    return addresses[0] if len(addresses) == 1 else None


def select_email(account: Account, typed: str) -> str:
    """Return the address that was typed in full or in a masked form. Raises MalformedEmail, EmailNotOnProfile."""
    normalized = identifiers.normalize_email(typed)
    for address in verified_emails(account):
        if typed.strip() in (mask_email(address), mask_email_for_owner(address)) or (
            normalized is not None and normalized == identifiers.normalize_email(address)
        ):
            return address
    raise (
        errors.EmailNotOnProfile
        if normalized is not None or any(mark in typed for mark in "*•")
        else errors.MalformedEmail
    )


def require_code(typed: str | None) -> str:
    """Return the code of a request.

    Raises:
        BadParameter: it is missing.
        WrongSmsCode: it is not six digits; this does not count as an attempt.
    """
    if not typed:
        raise errors.BadParameter.names("otp")
    if not is_code(typed):
        raise errors.WrongSmsCode
    return typed


def spend_code(
    context: Context,
    account: Account,
    code: str,
    typed: str | None,
    *,
    is_lock_solved: bool = False,
    purpose: Purpose = Purpose.FACTOR_EMAIL,
) -> None:
    """Use the newest code, if it was sent to the `typed` address (any, if None) and the account still has that.

    Raises the errors of a code, MalformedEmail, EmailNotOnProfile.
    """
    token = one_time_tokens.spend_code(
        context, purpose, account.uid, code, subject=_SUBJECT, errors=MAIL_CODE, is_lock_solved=is_lock_solved
    )  # fmt: skip
    fresh, to = account_store.by_uid(context, account.uid), str(token.facts["email"])
    if fresh is None or not is_verified(fresh, to):
        raise errors.ClosedMailCode
    if typed is not None and select_email(fresh, typed) != to:
        raise errors.WrongMailCode


def send(
    context: Context,
    account: Account,
    to: str,
    template: str | None = None,
    *,
    is_unauthenticated: bool = False,
    purpose: Purpose = Purpose.FACTOR_EMAIL,
) -> None:
    """Email a code. Requests without a sign-in have a limit of their own, so that they cannot exhaust the owner's.

    Raises MailLimitReached.
    """

    def make_facts() -> MessageFacts:
        code = one_time_tokens.new_code(context, purpose, account.uid, subject=_SUBJECT, facts={"email": to})
        return MessageFacts(otp=code, minutes=one_time_tokens.CODE_MINUTES)

    counted_as = CountedAs(uid=f"{account.uid}, by anybody") if is_unauthenticated else CountedAs()
    messaging.mail(
        context, MailKind.SECOND_FACTOR, to, account=account, facts=make_facts, template=template, is_requested=True,
        counted_as=counted_as,
    )  # fmt: skip
    context.audit.record("second_factor.sent", uid=account.uid, kind=FactorKind.EMAIL)


def send_to_unknown_email(context: Context, to: str, template: str | None = None) -> None:
    """Do the work of `send` for an address without an account; the context's outbox sends nothing. Raises MailLimitReached."""

    def make_facts() -> MessageFacts:
        code = one_time_tokens.new_code(
            context, Purpose.FACTOR_EMAIL, NO_ACCOUNT, subject=to.strip().lower(), facts={"email": to}
        )
        return MessageFacts(otp=code, minutes=one_time_tokens.CODE_MINUTES)

    messaging.mail(
        context, MailKind.SECOND_FACTOR, to, account=None, facts=make_facts, template=template, is_requested=True
    )  # fmt: skip
    context.audit.record("second_factor.sent", uid=None, kind=FactorKind.EMAIL)


def _challenge(account: Account, to: str | None) -> FactorChallenge:
    masked = [mask_email_for_owner(address) for address in verified_emails(account)]
    return FactorChallenge(sent_to=mask_email_for_owner(to) if to else None, targets=tuple(dict.fromkeys(masked)))
