"""Security answers: hashed like passwords, compared trimmed and case-folded (interface user.md section 5)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from app.contract import errors as e
from app.identity.platform.context import Context


def normalize(answer: str) -> str:
    """Return the form of an answer that is hashed."""
    return " ".join(unicodedata.normalize("NFKC", answer).casefold().split())


def hash_answers(context: Context, answers: Mapping[str, str]) -> dict[str, str]:
    """Return answers by question id as they are kept. Costs one hash each; give the connection back before."""
    return {question: context.hashing.hash(normalize(text)) for question, text in answers.items()}


def are_correct(
    context: Context, kept: Mapping[str, str], shown: Mapping[str, str], *, hides_unknown: bool = False
) -> bool:
    """Return whether every shown answer is right; at least one must be shown.

    Raises UnknownSecurityQuestion for a question that the account did not answer; with `hides_unknown` the answer is
    wrong instead, at the same price.
    """
    if not shown:
        return False
    if not hides_unknown and any(question not in kept for question in shown):
        raise e.UnknownSecurityQuestion
    right = [context.hashing.is_match(kept.get(question), normalize(text)) for question, text in shown.items()]
    return all(right)
