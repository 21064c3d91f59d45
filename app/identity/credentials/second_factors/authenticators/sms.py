"""A code by text message or voice call, to the number enrolled for it.

The number is separate from the account's phone number: a change of that number does not change this factor.
"""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.contract.messages.models import SmsKind
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import credential_store
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.codes import SMS_CODE
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.second_factors.authenticators.authenticator import (
    AccountFactors,
    Authenticator,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.directory.accounts import account_store, identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import display_phone, mask_phone
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.platform.context import Context


class SmsCodeAuthenticator(Authenticator):
    """Codes by SMS. They count their attempts themselves."""

    kind = FactorKind.SMS
    amr = ("sms",)
    disabled_error = errors.SmsFactorOff
    not_enrolled_error = errors.NoPhoneRegistered
    code_purpose = Purpose.FACTOR_SMS
    enrolled_members = ("is_otp_authenticator_verified",)

    def is_enrolled(self, factors: AccountFactors) -> bool:
        return self._number_of(factors) is not None

    def is_fallback(self, context: Context, account: Account) -> bool:
        return bool(account.phone and account.phone_verified and context.services.settings.sms_target)

    def hint(self, factors: AccountFactors) -> str | None:
        number = self._number_of(factors)
        return mask_phone(number) if number else None

    def hint_for_owner(self, factors: AccountFactors) -> str | None:
        number = self._number_of(factors)
        return display_phone(number) if number else None

    def describe(self, context: Context, factors: AccountFactors) -> FactorChallenge:  # noqa: ARG002 - the base class's signature
        hint = self.hint(factors)
        return FactorChallenge(targets=(hint,) if hint else ())

    def begin_enrolment(self, context: Context, factors: AccountFactors, options: ChallengeOptions) -> FactorChallenge:
        """Text a code to the given number, or again to the pending one; without either send nothing.

        Raises MalformedPhone, PhoneRegistered, and the errors of sending.
        """
        pending = factors.pending(self.kind)
        if not options.phone:
            return self._send(context, factors.account, _number(pending[-1]), options) if pending else FactorChallenge()
        phone = identifiers.normalize_phone(options.phone)
        if phone is None:
            raise errors.MalformedPhone
        account = factors.account
        opens_account = context.tenant.settings.phone_login and account.phone_verified and account.phone == phone
        if opens_account or phone in {_number(item) for item in factors.enrolled(self.kind)}:
            raise errors.PhoneRegistered
        return self._send(context, account, phone, options, pending)

    def enrol(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        """Enrol the pending number in place of the previous one."""
        pending = factors.pending(self.kind)
        if not pending:
            raise errors.NoPhoneRegistered
        self._spend(context, factors, _number(pending[-1]), response)
        credential_store.remove(context, factors.account.uid, (self.kind,), except_id=pending[-1].credential_id)
        if not credential_store.mark_enrolled(context, pending[-1]):
            raise errors.ClosedSmsCode

    def challenge(self, context: Context, factors: AccountFactors, options: ChallengeOptions) -> FactorChallenge:
        return self._send(context, factors.account, self._number_of(factors) or "", options)

    def verify(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        self._spend(context, factors, self._number_of(factors) or "", response)
        if self.kind not in factors.fallback_kinds and not credential_store.set_values(
            context, factors.enrolled(self.kind)[-1], used_at=context.now
        ):
            raise errors.ClosedSmsCode

    def _send(
        self,
        context: Context,
        account: Account,
        phone: str,
        options: ChallengeOptions,
        pending: tuple[Credential, ...] | None = None,
    ) -> FactorChallenge:
        """Text a code; with `pending` the number is stored in place of those credentials."""

        def make_facts() -> MessageFacts:
            if pending is not None:
                account_store.lock(context, account.uid)  # lock order: the account, then its credentials
                for item in pending:
                    credential_store.remove(context, account.uid, (self.kind,), item.credential_id)
                credential_store.add(context, account.uid, self.kind, facts={"phone": phone})
            code = one_time_tokens.new_code(context, Purpose.FACTOR_SMS, account.uid, subject=phone)
            return MessageFacts(otp=code, minutes=one_time_tokens.CODE_MINUTES)

        sid = messaging.sms(context, SmsKind.SECOND_FACTOR, phone, account=account, facts=make_facts, options=options)
        context.audit.record("second_factor.sent", uid=account.uid, kind=self.kind)
        return FactorChallenge(sent_to=mask_phone(phone), sid=sid)

    def _number_of(self, factors: AccountFactors) -> str | None:
        """Return the enrolled number; as a fallback factor the account's own."""
        if enrolled := factors.enrolled(self.kind):
            return _number(enrolled[-1])
        return factors.account.phone if self.kind in factors.fallback_kinds else None

    def _spend(self, context: Context, factors: AccountFactors, number: str, response: FactorResponse) -> None:
        one_time_tokens.spend_code(
            context, Purpose.FACTOR_SMS, factors.account.uid, response.code, subject=number, errors=SMS_CODE,
            is_lock_solved=response.is_lock_solved,
        )  # fmt: skip


AUTHENTICATOR: Final = SmsCodeAuthenticator()


def _number(credential: Credential) -> str:
    return str(credential.facts["phone"])
