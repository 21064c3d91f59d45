"""The built-in captcha: a proof of work, which browsers and programs compute. It needs no provider (decision 0402).

The encrypted token holds difficulty and expiry, and is bound to the tenant and to the use. The first response spends it, right or
wrong, so each guess costs a challenge, and of concurrent responses to one challenge a single one counts. Its seed is the digest of
the token, so nothing can be computed before it is issued. A verification costs one decryption, one insert and one hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import datetime, timedelta
from typing import Any

from app.contract.captcha.models import CaptchaAnswer, CaptchaChallenge, CaptchaUse
from app.identity.credentials.captcha import answers
from app.identity.platform.context import Context
from app.identity.platform.encryption import DecryptionError
from app.kit.randomness import digest, token

LIFETIME = timedelta(minutes=30)  # long enough to fill in a form; an older page gets a new challenge
_BITS = 256
_MAX_TOKEN_LENGTH, _MAX_WORK_LENGTH = 600, 20


def challenge(context: Context, use: CaptchaUse) -> CaptchaChallenge:
    """Return a new challenge. Stores nothing."""
    return _challenge(context, use, token(9), context.tenant.settings.captcha.work_bits, context.now + LIFETIME)


def solved_challenge(context: Context, use: CaptchaUse, link_id: str, expires_at: datetime) -> CaptchaChallenge:
    """Return the challenge that an emailed link solves: without work, and the same one each time that the link is opened."""
    return _challenge(context, use, _link_key(link_id), 0, expires_at)


def is_link_spent(context: Context, link_id: str) -> bool:
    """Return whether the challenge of an emailed link was used."""
    return answers.is_spent(context, _link_key(link_id))


def is_solved(context: Context, use: CaptchaUse, answer: CaptchaAnswer) -> bool:
    """Return whether the challenge is solved, and spend it in any case. Call it before any write."""
    facts = _decrypt(context, use, answer.challenge)
    if facts is None or facts["e"] <= int(context.now.timestamp()):
        return False
    return answers.spend(context, facts["i"], LIFETIME) and _is_valid_work(answer, facts["b"])


def _challenge(context: Context, use: CaptchaUse, key: str, bits: int, expires_at: datetime) -> CaptchaChallenge:
    facts = {"i": key, "b": bits, "e": int(expires_at.timestamp())}
    ciphertext = context.services.encryption.encrypt(json.dumps(facts).encode(), _associated_data(context, use))
    text = base64.urlsafe_b64encode(ciphertext).rstrip(b"=").decode()
    return CaptchaChallenge(token=text, work_seed=_seed(text), work_bits=bits)


def _is_valid_work(answer: CaptchaAnswer, bits: int) -> bool:
    if not answer.work.isascii() or len(answer.work) > _MAX_WORK_LENGTH:
        return False
    work_hash = hashlib.sha256(f"{_seed(answer.challenge)}:{answer.work}".encode()).digest()
    return int.from_bytes(work_hash) >> (_BITS - bits) == 0


def _decrypt(context: Context, use: CaptchaUse, text: str) -> dict[str, Any] | None:
    if len(text) > _MAX_TOKEN_LENGTH or not text.isascii():
        return None
    try:
        ciphertext = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        facts: dict[str, Any] = json.loads(
            context.services.encryption.decrypt(ciphertext, _associated_data(context, use))
        )
    except (ValueError, DecryptionError):
        return None
    return facts


def _seed(text: str) -> str:
    return digest(text)[:22]


def _link_key(link_id: str) -> str:
    return f"link {link_id}"


def _associated_data(context: Context, use: CaptchaUse) -> str:
    return f"{context.tenant.tenant_id} captcha {use}"
