"""A code by text message, or read out in a call, to a number that was enrolled for it (mfa.md section 5).

The number is this factor's own: it need not name the account, and who may write the account's number does not change it.
"""

from __future__ import annotations

from app.contract import errors as e
from app.contract.configuration import TenantSettings
from app.contract.messages import SmsKind
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import store
from app.identity.credentials.authenticators.masks import mask_phone
from app.identity.credentials.authenticators.protocol import (
    AccountFactors,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.one_time_tokens.service import SMS_CODE, Purpose
from app.identity.credentials.store import Credential
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts import store as accounts
from app.identity.directory.accounts.account import Account
from app.identity.messaging import service as messaging
from app.identity.platform.context import Context


class SmsCode:
    """Codes that count their tries themselves."""

    kind = FactorKind.SMS
    methods = ("sms",)
    off = e.SmsFactorOff
    missing = e.NoPhoneRegistered
    wrong = ()

    def is_on(self, settings: TenantSettings) -> bool:
        return settings.second_factors.sms

    def is_enrolled(self, person: AccountFactors) -> bool:
        return self._number_of(person) is not None

    def hint(self, person: AccountFactors) -> str | None:
        number = self._number_of(person)
        return mask_phone(number) if number else None

    def recall(self, context: Context, person: AccountFactors) -> FactorChallenge:  # noqa: ARG002 - the protocol's signature
        hint = self.hint(person)
        return FactorChallenge(targets=(hint,) if hint else ())

    def begin(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:
        """Text a code to the number that is wished, else once more to the one that was begun; to none, nothing is sent.

        Raises MalformedPhone, PhoneRegistered, and why nothing could be sent.
        """
        begun = person.begun(self.kind)
        if not options.phone:
            return self._send(context, person.account, _number(begun[-1]), options) if begun else FactorChallenge()
        phone = identifiers.normalize_phone(options.phone)
        if phone is None:
            raise e.MalformedPhone
        account = person.account
        opens_account = context.tenant.settings.phone_login and account.phone_verified and account.phone == phone
        if opens_account or phone in {_number(one) for one in person.enrolled(self.kind)}:
            raise e.PhoneRegistered
        return self._send(context, account, phone, options, begun)

    def enrol(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        """The number takes the place of the one that was there."""
        begun = person.begun(self.kind)
        if not begun:
            raise e.NoPhoneRegistered
        self._spend(context, person, _number(begun[-1]), answer)
        store.remove(context, person.account.uid, (self.kind,), but=begun[-1].credential_id)
        if not store.mark_enrolled(context, begun[-1]):
            raise e.ClosedSmsCode

    def challenge(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:
        return self._send(context, person.account, self._number_of(person) or "", options)

    def verify(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        self._spend(context, person, self._number_of(person) or "", answer)
        if self.kind not in person.lent and not store.set_values(
            context, person.enrolled(self.kind)[-1], used_at=context.now
        ):
            raise e.ClosedSmsCode

    def _send(
        self,
        context: Context,
        account: Account,
        phone: str,
        options: ChallengeOptions,
        begun: tuple[Credential, ...] | None = None,
    ) -> FactorChallenge:
        """Text a code; with `begun` the number is kept in the place of what was begun."""

        def said() -> dict[str, str]:
            if begun is not None:
                accounts.change(
                    context, account.uid, {}
                )  # everybody locks the account first, and its credentials after it
                for one in begun:
                    store.remove(context, account.uid, (self.kind,), one.credential_id)
                store.add(context, account.uid, self.kind, facts={"phone": phone})
            code = one_time_tokens.new_code(context, Purpose.FACTOR_SMS, account.uid, subject=phone)
            return {"otp": code, "minutes": str(one_time_tokens.CODE_MINUTES)}

        sid = messaging.sms(context, SmsKind.SECOND_FACTOR, phone, account=account, facts=said, options=options)
        context.audit.record("second_factor.sent", uid=account.uid, kind=self.kind)
        return FactorChallenge(sent_to=mask_phone(phone), sid=sid)

    def _number_of(self, person: AccountFactors) -> str | None:
        """Return where codes go; at a risk the account's own number stands in for one that was enrolled."""
        if held := person.enrolled(self.kind):
            return _number(held[-1])
        return person.account.phone if self.kind in person.lent else None

    def _spend(self, context: Context, person: AccountFactors, number: str, answer: FactorResponse) -> None:
        one_time_tokens.spend_code(
            context, Purpose.FACTOR_SMS, person.account.uid, answer.code, subject=number, errors=SMS_CODE,
            is_lock_open=answer.is_lock_open,
        )  # fmt: skip


def _number(held: Credential) -> str:
    return str(held.facts["phone"])
