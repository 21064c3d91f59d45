"""Security answers: hashed like passwords, compared trimmed and case-folded."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from app.contract import errors
from app.identity.platform.context import Context


def normalize(answer: str) -> str:
    """Return the normal form of an answer, which is hashed."""
    return " ".join(unicodedata.normalize("NFKC", answer).casefold().split())


def hash_answers(context: Context, answers: Mapping[str, str]) -> dict[str, str]:
    """Return hashes of the answers by question id. Costs one hash each; release the connection before.

    Raises BadParameter for a blank answer.
    """
    normal = {question: normalize(text) for question, text in answers.items()}
    if not all(normal.values()):
        raise errors.BadParameter("The SecurityQuestionAnswer is not formatted correctly: an answer is blank.")
    return {question: context.hashing.hash(text) for question, text in normal.items()}


def are_correct(
    context: Context, stored: Mapping[str, str], answers: Mapping[str, str], *, hides_unknown: bool = False
) -> bool:
    """Return whether all given answers are right; at least one must be given, and a blank one, which older versions stored, is wrong.

    Raises UnknownSecurityQuestion for a question that the account has not answered; with `hides_unknown` it returns False
    instead, after the same time.
    """
    if not answers:
        return False
    if not hides_unknown and not answers.keys() <= stored.keys():
        raise errors.UnknownSecurityQuestion
    hashing = context.hashing
    normal = {question: normalize(text) for question, text in answers.items()}
    matches = [hashing.is_match(stored.get(question), text) for question, text in normal.items()]
    return all(matches) and all(normal.values())
