"""Codes on paper, for whoever lost the rest: ten, each works once (interface mfa.md section 5)."""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from typing import Final

from app.contract import errors as e
from app.contract.configuration import TenantSettings
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import store
from app.identity.credentials.authenticators.protocol import (
    AccountFactors,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.credentials.one_time_tokens.service import digits_in
from app.identity.directory.accounts import store as accounts
from app.identity.platform.context import Context
from app.identity.platform.encryption import derive_key
from app.kit import randomness

CODE_COUNT: Final = 10
_GROUP_LENGTH: Final = 5
_HEX_DIGITS: Final = frozenset("0123456789abcdef")


class BackupCodes:
    """They prove an account that has another second factor; alone they are none."""

    kind = FactorKind.BACKUP_CODE
    methods = ("otp",)
    off = e.NoBackupCodes
    missing = e.NoBackupCodes
    wrong = (e.WrongBackupCode,)

    def is_on(self, settings: TenantSettings) -> bool:
        return settings.second_factors.backup_codes

    def is_enrolled(self, person: AccountFactors) -> bool:
        return bool(person.enrolled(self.kind))

    def hint(self, person: AccountFactors) -> str | None:  # noqa: ARG002 - the protocol's signature
        return None

    def recall(self, context: Context, person: AccountFactors) -> FactorChallenge:  # noqa: ARG002 - the protocol's signature
        return FactorChallenge()

    def begin(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - the protocol's signature
        raise e.NoBackupCodes

    def enrol(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:  # noqa: ARG002 - the protocol's signature
        raise e.NoBackupCodes

    def challenge(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - the protocol's signature
        return FactorChallenge()

    def verify(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        uid = person.account.uid
        accounts.change(context, uid, {})  # everybody locks the account first, and its credentials after it
        is_right = [store.consume(context, uid, self.kind, one) for one in _lookup_hashes(context, uid, answer.code)]
        if not any(is_right):
            raise e.WrongBackupCode


def generate(context: Context, uid: str) -> list[str]:
    """Return ten new codes, the only moment at which their text exists; older ones are over."""
    store.remove(context, uid, (FactorKind.BACKUP_CODE,))
    made = [randomness.hexadecimal(2 * _GROUP_LENGTH) for _ in range(CODE_COUNT)]
    for code in made:
        store.add(context, uid, FactorKind.BACKUP_CODE, lookup=_lookup_hashes(context, uid, code)[0], is_enrolled=True)
    return [f"{code[:_GROUP_LENGTH]}-{code[_GROUP_LENGTH:]}" for code in made]


def _lookup_hashes(context: Context, uid: str, code: str) -> list[str]:
    """Return the keyed digests of a code, the first under the present secret: forty bits have too little entropy for a
    plain one, and what is written on paper outlives a change of the secret.
    """
    plain = unicodedata.normalize("NFKC", digits_in(code)).casefold()
    kept = "".join(letter for letter in plain if letter in _HEX_DIGITS)
    text = f"{context.tenant.tenant_id} {uid} {kept}".encode()
    keys = [derive_key(secret, "backup codes") for secret in context.services.settings.secrets]
    return [hmac.new(key, text, hashlib.sha256).hexdigest() for key in keys]
