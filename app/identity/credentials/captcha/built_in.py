"""Our own challenge: a question in words, or work for the browser. Needs nothing from elsewhere (decisions/0040).

The token is sealed: it holds the answer and its end, opens for its tenant only, and is spent by the first who shows it,
right or wrong. So a guess costs a challenge, and of many who show one solved challenge at once a single one wins.
"""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import timedelta
from typing import Any

from app.contract.captcha import CaptchaAnswer, Challenge
from app.identity.credentials.captcha import questions, used_answers
from app.identity.credentials.captcha.questions import parse_number
from app.identity.platform.context import Context
from app.identity.platform.encryption import DecryptionError
from app.kit.limits import Rate
from app.kit.randomness import digest, token

LIFETIME = timedelta(minutes=30)  # long enough for who types slowly; a page that is older gets a new one
_BITS = 256


def challenge(context: Context) -> Challenge:
    """Return a new challenge. Nothing is stored for it; the question is for our own pages only."""
    question, answer = questions.random_question()
    bits = context.tenant.settings.captcha.work_bits
    facts = {"i": token(9), "a": answer, "b": bits, "e": int((context.now + LIFETIME).timestamp())}
    sealed = context.services.encryption.encrypt(json.dumps(facts).encode(), _associated_data(context))
    text = base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()
    shown = question if context.visit is not None else None
    return Challenge(token=text, work_seed=_seed(text), work_bits=bits, question=shown)


def is_solved(context: Context, given: CaptchaAnswer) -> bool:
    """Return whether the challenge was solved; whatever the result, it is used up. Only while nothing is written.

    An answer in words is limited by address, because a machine that reads has no work with it.

    Raises TooManyRequests.
    """
    facts = _decrypt(context, given.challenge)
    if facts is None or facts["e"] <= int(context.now.timestamp()):
        return False
    is_worked = bool(given.work)
    most = context.tenant.settings.limits.captcha_question_per_minute_per_address
    if not is_worked and most:
        context.spend("captcha_question", Rate(most, 60), context.network)
    if not used_answers.spend(context, facts["i"], LIFETIME):
        return False
    return _is_valid_work(given, facts["b"]) if is_worked else parse_number(given.answer) == facts["a"]


def _is_valid_work(given: CaptchaAnswer, bits: int) -> bool:
    if not given.work.isascii() or len(given.work) > 20:
        return False
    made = hashlib.sha256(f"{_seed(given.challenge)}:{given.work}".encode()).digest()
    return int.from_bytes(made) >> (_BITS - bits) == 0


def _decrypt(context: Context, text: str) -> dict[str, Any] | None:
    if len(text) > 600 or not text.isascii():
        return None
    try:
        sealed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        facts: dict[str, Any] = json.loads(context.services.encryption.decrypt(sealed, _associated_data(context)))
    except (ValueError, DecryptionError):
        return None
    return facts


def _seed(text: str) -> str:
    return digest(text)[:22]


def _associated_data(context: Context) -> str:
    return f"{context.tenant.tenant_id} captcha"
