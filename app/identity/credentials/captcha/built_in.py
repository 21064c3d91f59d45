"""The built-in captcha: an arithmetic question, or proof of work by the browser. It needs no provider (decision 0040).

The encrypted token holds the answer and its expiry and is bound to the tenant. The first response spends it, right or wrong, so
each guess costs a challenge, and of concurrent responses to one challenge a single one counts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import unicodedata
from datetime import timedelta
from typing import Any, Literal

from app.contract.captcha.models import CaptchaAnswer, CaptchaChallenge, CaptchaQuestion
from app.identity.credentials.captcha import answers
from app.identity.platform.context import Context
from app.identity.platform.encryption import DecryptionError
from app.kit.randomness import below, digest, token

LIFETIME = timedelta(minutes=30)  # long enough to fill in a form; an older page gets a new challenge
_BITS = 256
MAX_NUMBER = 20
"""The pages have number words up to this one."""
Kind = Literal["sum", "difference", "largest", "smallest", "nth"]
_KINDS: tuple[Kind, ...] = ("sum", "difference", "largest", "smallest", "nth")


def challenge(context: Context) -> CaptchaChallenge:
    """Return a new challenge. Stores nothing. Only hosted pages get the question."""
    question, answer = random_question()
    bits = context.tenant.settings.captcha.work_bits
    facts = {"i": token(9), "a": answer, "b": bits, "e": int((context.now + LIFETIME).timestamp())}
    ciphertext = context.services.encryption.encrypt(json.dumps(facts).encode(), _associated_data(context))
    text = base64.urlsafe_b64encode(ciphertext).rstrip(b"=").decode()
    visible_question = question if context.visit is not None else None
    return CaptchaChallenge(token=text, work_seed=_seed(text), work_bits=bits, question=visible_question)


def is_solved(context: Context, answer: CaptchaAnswer) -> bool:
    """Return whether the challenge is solved, and spend it in any case. Call it before any write.

    Answers to questions are limited by address, because they cost a program no work.

    Raises TooManyRequests.
    """
    facts = _decrypt(context, answer.challenge)
    if facts is None or facts["e"] <= int(context.now.timestamp()):
        return False
    has_work = bool(answer.work)
    if not has_work:
        context.count_request(
            "captcha_question", context.tenant.settings.limits.captcha_question_per_minute_per_address
        )
    if not answers.spend(context, facts["i"], LIFETIME):
        return False
    return _is_valid_work(answer, facts["b"]) if has_work else parse_number(answer.answer) == facts["a"]


def _is_valid_work(answer: CaptchaAnswer, bits: int) -> bool:
    if not answer.work.isascii() or len(answer.work) > 20:
        return False
    work_hash = hashlib.sha256(f"{_seed(answer.challenge)}:{answer.work}".encode()).digest()
    return int.from_bytes(work_hash) >> (_BITS - bits) == 0


def _decrypt(context: Context, text: str) -> dict[str, Any] | None:
    if len(text) > 600 or not text.isascii():
        return None
    try:
        ciphertext = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        facts: dict[str, Any] = json.loads(context.services.encryption.decrypt(ciphertext, _associated_data(context)))
    except (ValueError, DecryptionError):
        return None
    return facts


def _seed(text: str) -> str:
    return digest(text)[:22]


def _associated_data(context: Context) -> str:
    return f"{context.tenant.tenant_id} captcha"


def random_question() -> tuple[CaptchaQuestion, int]:
    """Return a question and its answer."""
    kind = _KINDS[below(len(_KINDS))]
    if kind in ("sum", "difference"):
        numbers = [2 + below(MAX_NUMBER - 1), 2 + below(MAX_NUMBER - 1)]
        numbers = sorted(numbers, reverse=True) if kind == "difference" else numbers
        return CaptchaQuestion(kind=kind, numbers=numbers), numbers[0] + (numbers[1] if kind == "sum" else -numbers[1])
    numbers = _distinct_numbers(4)
    if kind == "nth":
        position = 1 + below(4)
        return CaptchaQuestion(kind=kind, numbers=[position, *numbers]), numbers[position - 1]
    return CaptchaQuestion(kind=kind, numbers=numbers), max(numbers) if kind == "largest" else min(numbers)


def _distinct_numbers(count: int) -> list[int]:
    numbers: list[int] = []
    while len(numbers) < count:
        number = 1 + below(MAX_NUMBER)
        if number not in numbers:
            numbers.append(number)
    return numbers


def parse_number(text: str) -> int | None:
    """Return a typed number, in digits of any script, or None."""
    characters = [character for character in text if unicodedata.category(character) not in ("Cf", "Zs")]
    digits = [unicodedata.decimal(character, -1) for character in characters]
    if not 0 < len(digits) <= 4 or -1 in digits:
        return None
    return int("".join(map(str, digits)))
