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
from app.identity.call import Call
from app.identity.captcha import questions, spent
from app.identity.captcha.questions import number_in
from app.identity.vault import Unsealable
from app.kit.limits import Rate
from app.kit.randomness import digest, token

LIFETIME = timedelta(minutes=30)  # long enough for who types slowly; a page that is older gets a new one
_BITS = 256


def challenge(call: Call) -> Challenge:
    """Return a new challenge. Nothing is stored for it; the question is for our own pages only."""
    question, answer = questions.drawn()
    bits = call.tenant.settings.captcha.work_bits
    facts = {"i": token(9), "a": answer, "b": bits, "e": int((call.now + LIFETIME).timestamp())}
    sealed = call.house.vault.seal(json.dumps(facts).encode(), _context(call))
    text = base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()
    shown = question if call.visit is not None else None
    return Challenge(token=text, work_seed=_seed(text), work_bits=bits, question=shown)


def is_solved(call: Call, given: CaptchaAnswer) -> bool:
    """Return whether the challenge was solved; whatever the result, it is used up. Only while nothing is written.

    An answer in words is limited by address, because a machine that reads has no work with it.

    Raises TooManyRequests.
    """
    facts = _opened(call, given.challenge)
    if facts is None or facts["e"] <= int(call.now.timestamp()):
        return False
    is_worked = bool(given.work)
    most = call.tenant.settings.limits.captcha_question_per_minute_per_address
    if not is_worked and most:
        call.spend("captcha_question", Rate(most, 60), call.network)
    if not spent.spend(call, facts["i"], LIFETIME):
        return False
    return _is_work(given, facts["b"]) if is_worked else number_in(given.answer) == facts["a"]


def _is_work(given: CaptchaAnswer, bits: int) -> bool:
    if not given.work.isascii() or len(given.work) > 20:
        return False
    made = hashlib.sha256(f"{_seed(given.challenge)}:{given.work}".encode()).digest()
    return int.from_bytes(made) >> (_BITS - bits) == 0


def _opened(call: Call, text: str) -> dict[str, Any] | None:
    if len(text) > 600 or not text.isascii():
        return None
    try:
        sealed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        facts: dict[str, Any] = json.loads(call.house.vault.open(sealed, _context(call)))
    except (ValueError, Unsealable):
        return None
    return facts


def _seed(text: str) -> str:
    return digest(text)[:22]


def _context(call: Call) -> str:
    return f"{call.tenant.tenant_id} captcha"
