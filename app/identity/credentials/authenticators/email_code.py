"""A code by mail, to an address of the account that is proved (mfa.md section 5)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.configuration import TenantSettings
from app.contract.messages import MailKind
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import store
from app.identity.credentials.authenticators.masks import mask_email
from app.identity.credentials.authenticators.protocol import (
    AccountFactors,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.one_time_tokens.service import MAIL_CODE, NOBODY, Purpose
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts import store as accounts
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.messaging import service as messaging
from app.identity.messaging.send_limits import CountedAs
from app.identity.platform.context import Context

_SUBJECT = "any address"
"""The subject of the code: the newest one counts, whichever of the addresses it went to."""


class EmailCode:
    """Codes that count their tries themselves. What is enrolled is the way, not one address: those are the account's."""

    kind = FactorKind.EMAIL
    methods = ("otp",)
    off = e.EmailFactorOff
    missing = e.EmailFactorOff
    wrong = ()

    def is_on(self, settings: TenantSettings) -> bool:
        return settings.second_factors.email

    def is_enrolled(self, person: AccountFactors) -> bool:
        """Whoever has no proved address any more stays asked: what somebody changed must not open the account."""
        return bool(person.enrolled(self.kind)) or self.kind in person.lent

    def hint(self, person: AccountFactors) -> str | None:
        held = verified_addresses(person.account)
        return mask_email(held[0]) if len(held) == 1 else None

    def recall(self, context: Context, person: AccountFactors) -> FactorChallenge:  # noqa: ARG002 - the protocol's signature
        return _challenge(person.account, None)

    def begin(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:
        """The first code enrols; as with every later one, the address is wished where there are several."""
        return self.challenge(context, person, options)

    def enrol(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        self._spend(context, person.account, answer)
        for old in person.enrolled(self.kind):
            store.remove(context, person.account.uid, (self.kind,), old.credential_id)
        store.add(context, person.account.uid, self.kind, is_enrolled=True)

    def challenge(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:
        """Mail a code where it is clear to which address; else nothing is sent yet.

        Raises MalformedEmail, EmailNotOnProfile, MailLimitReached.
        """
        account, held = person.account, verified_addresses(person.account)
        if options.email is None and len(held) != 1:
            return _challenge(account, None)
        to = select_address(account, options.email) if options.email is not None else held[0]
        send(context, account, to, options.email_template)
        return _challenge(account, to)

    def verify(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        self._spend(context, person.account, answer)
        if self.kind not in person.lent and not store.set_values(
            context, person.enrolled(self.kind)[-1], used_at=context.now
        ):
            raise e.ClosedMailCode

    def _spend(self, context: Context, account: Account, answer: FactorResponse) -> None:
        spend_code(context, account, answer.code, answer.email, is_lock_open=answer.is_lock_open)


def verified_addresses(account: Account) -> list[str]:
    """Return the addresses to which a code may go: those that their owner proved."""
    return [str(one["Value"]) for one in account.emails if is_verified(account, str(one["Value"]))]


def select_address(account: Account, typed: str) -> str:
    """Return the address that was typed, or named as a challenge masks it. Raises MalformedEmail, EmailNotOnProfile."""
    form = identifiers.normalize_email(typed)
    for one in verified_addresses(account):
        if typed.strip() == mask_email(one) or (form is not None and form == identifiers.normalize_email(one)):
            return one
    raise e.EmailNotOnProfile if form is not None or "*" in typed else e.MalformedEmail


def require_code(typed: str | None) -> str:
    """Return the code of a request.

    Raises:
        BadParameter: there is none.
        WrongSmsCode: it is not six digits, so it is no code at all and counts as no try.
    """
    if not typed:
        raise e.BadParameter.names("otp")
    if not one_time_tokens.is_code(typed):
        raise e.WrongSmsCode
    return typed


def spend_code(
    context: Context,
    account: Account,
    code: str,
    named: str | None,
    *,
    is_lock_open: bool = False,
    of: Purpose = Purpose.FACTOR_EMAIL,
) -> None:
    """Use the newest code, where it went to the address that is named and the account still has that.

    Raises the refusals of a code, MalformedEmail, EmailNotOnProfile.
    """
    proof = one_time_tokens.spend_code(
        context, of, account.uid, code, subject=_SUBJECT, errors=MAIL_CODE, is_lock_open=is_lock_open
    )  # fmt: skip
    fresh, to = accounts.by_uid(context, account.uid), str(proof.facts["email"])
    if fresh is None or not is_verified(fresh, to):
        raise e.ClosedMailCode
    if named is not None and select_address(fresh, named) != to:
        raise e.WrongMailCode


def send(
    context: Context,
    account: Account,
    to: str,
    template: str | None = None,
    *,
    is_anybodys: bool = False,
    of: Purpose = Purpose.FACTOR_EMAIL,
) -> None:
    """Mail a code. What anybody may have sent is counted for itself: nobody uses up what its owner needs to sign in.

    Raises MailLimitReached.
    """

    def said() -> dict[str, str]:
        code = one_time_tokens.new_code(context, of, account.uid, subject=_SUBJECT, facts={"email": to})
        return {"otp": code, "minutes": str(one_time_tokens.CODE_MINUTES)}

    counted = CountedAs(uid=f"{account.uid}, by anybody") if is_anybodys else CountedAs()
    messaging.mail(
        context, MailKind.SECOND_FACTOR, to, account=account, facts=said, template=template, is_asked_for=True,
        counted=counted,
    )  # fmt: skip
    context.audit.record("second_factor.sent", uid=account.uid, kind=FactorKind.EMAIL)


def send_to_unknown_address(context: Context, to: str, template: str | None = None) -> None:
    """Do what `send` does for an address that nobody has; `call` has an outbox that sends nothing. Raises MailLimitReached."""

    def said() -> dict[str, str]:
        code = one_time_tokens.new_code(
            context, Purpose.FACTOR_EMAIL, NOBODY, subject=to.strip().lower(), facts={"email": to}
        )
        return {"otp": code, "minutes": str(one_time_tokens.CODE_MINUTES)}

    messaging.mail(
        context, MailKind.SECOND_FACTOR, to, account=None, facts=said, template=template, is_asked_for=True
    )  # fmt: skip
    context.audit.record("second_factor.sent", uid=None, kind=FactorKind.EMAIL)


def _challenge(account: Account, to: str | None) -> FactorChallenge:
    held = [mask_email(one) for one in verified_addresses(account)]
    return FactorChallenge(sent_to=mask_email(to) if to else None, targets=tuple(dict.fromkeys(held)))
