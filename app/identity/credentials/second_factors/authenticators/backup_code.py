"""Backup codes: ten codes, each valid once, for an account that lost its other factors."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import credential_store
from app.identity.credentials.second_factors.authenticators.authenticator import (
    AccountFactors,
    Authenticator,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.directory.accounts import account_store
from app.identity.directory.tenants.keys import subject_secrets
from app.identity.platform.context import Context
from app.identity.platform.encryption import derive_key
from app.kit import randomness
from app.kit.text.code_normalization import typed_code

CODE_COUNT: Final = 10
_GROUP_LENGTH: Final = 5
_HEX_DIGITS: Final = frozenset("0123456789abcdef")


class BackupCodesAuthenticator(Authenticator):
    """Backup codes supplement another second factor; without one they do not count."""

    kind = FactorKind.BACKUP_CODE
    amr = ("otp",)
    disabled_error = errors.NoBackupCodes
    not_enrolled_error = errors.NoBackupCodes
    is_supplementary = True
    wrong_errors = (errors.WrongBackupCode,)

    def hint(self, factors: AccountFactors) -> str | None:
        return str(len(factors.enrolled(self.kind)))

    def begin_enrolment(self, context: Context, factors: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - the base class's signature
        raise errors.NoBackupCodes

    def enrol(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:  # noqa: ARG002 - the base class's signature
        raise errors.NoBackupCodes

    def verify(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        uid = factors.account.uid
        account_store.lock(context, uid)  # lock order: the account, then its credentials
        consumed = [
            credential_store.spend(context, uid, self.kind, lookup)
            for lookup in _lookup_hashes(context, uid, response.code)
        ]
        if not any(consumed):
            raise errors.WrongBackupCode


AUTHENTICATOR: Final = BackupCodesAuthenticator()


def generate(context: Context, uid: str) -> list[str]:
    """Return ten new codes, which replace the old ones. Their text is stored nowhere."""
    credential_store.remove(context, uid, (FactorKind.BACKUP_CODE,))
    return _add(context, uid, is_enrolled=True)


def draft(context: Context, uid: str) -> tuple[list[str], str]:
    """Return ten new codes and the id of their batch; the old ones work until `activate_batch`."""
    credential_store.remove_pending(context, uid, FactorKind.BACKUP_CODE)
    batch = randomness.token(18)
    return _add(context, uid, batch=randomness.digest(batch)), batch


def activate_batch(context: Context, uid: str, batch: str) -> bool:
    """Replace the codes of an account by those of a batch; return False if a newer batch or none is pending."""
    pending = [item for item in credential_store.by_kind(context, uid, FactorKind.BACKUP_CODE) if not item.is_enrolled]
    if not pending or any(item.facts.get("batch") != randomness.digest(batch) for item in pending):
        return False
    credential_store.replace_by_pending(context, uid, FactorKind.BACKUP_CODE)
    return True


def _add(context: Context, uid: str, *, is_enrolled: bool = False, **facts: str) -> list[str]:
    codes = [randomness.hexadecimal(2 * _GROUP_LENGTH) for _ in range(CODE_COUNT)]
    for code in codes:
        lookup = _lookup_hashes(context, uid, code)[0]
        credential_store.add(context, uid, FactorKind.BACKUP_CODE, lookup=lookup, is_enrolled=is_enrolled, facts=facts)
    return [f"{code[:_GROUP_LENGTH]}-{code[_GROUP_LENGTH:]}" for code in codes]


def _lookup_hashes(context: Context, uid: str, code: str) -> list[str]:
    """Return keyed digests of a code, the one to store first. Forty bits have too little entropy for a plain digest.

    The key is the tenant's own, so that printed codes survive a change of the secret key, and go where the tenant goes. Codes of
    earlier versions are under each secret key.
    """
    plain = typed_code(code).casefold()
    digits = "".join(character for character in plain if character in _HEX_DIGITS)
    own = derive_key(subject_secrets.of(context.services, context.work), "backup codes")
    former = [derive_key(secret, "backup codes") for secret in context.services.settings.secrets]
    keyed = [(own, f"{uid} {digits}"), *((key, f"{context.tenant.tenant_id} {uid} {digits}") for key in former)]
    return [hmac.new(key, text.encode(), hashlib.sha256).hexdigest() for key, text in keyed]
