"""Why a provider's answer is refused: the check that failed, with what was expected and received, and no secret."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypedDict

from app.contract.federation.connection_checks import ConnectionCheck

MAX_LENGTH: Final = 300
MASKED: Final = "[masked]"
_MIN_SECRET_LENGTH: Final = 4
_MAX_NAMES: Final = 12
_MAX_NAME_LENGTH: Final = 40
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Control characters, which a terminal obeys, and those that change the order of the text around them."""
_JWT: Final = re.compile(r"eyJ[\w-]{5,}(?:\.[\w-]*)*", re.ASCII)
_LARGEST_SHOWN: Final = 10**15
_ERROR_NAME: Final = re.compile(r"[A-Za-z][A-Za-z_. -]{0,39}|-?\d{1,9}", re.ASCII)


@dataclass(frozen=True)
class Finding:
    """A failed check: of `ConnectionCheck`, or of `SamlCheck`. The texts are one line each, without secrets.

    `cause` is one of `connection_checks.CAUSES`, for checks that fail in ways with different remedies.
    """

    check: StrEnum
    expected: str = ""
    received: str = ""
    cause: str = ""


class FindingTexts(TypedDict, total=False):
    """The arguments of UpstreamRefusal, for its subclasses."""

    check: StrEnum | None
    expected: Any
    received: Any
    cause: str


class UpstreamRefusal(Exception):
    """A provider's answer is refused. The text is logged and, unless `received` says more, stored.

    Args:
        check: the failed check; without one, that of the `checking` block around.
        expected: what the server expects.
        received: what it received instead: names of claims and harmless values.
        cause: which of the check's causes it is.
    """

    def __init__(
        self,
        text: str = "",
        *,
        check: StrEnum | None = None,
        expected: Any = "",
        received: Any = "",
        cause: str = "",
    ) -> None:
        super().__init__(text)
        self.check, self.cause = check, cause
        self._expected, self._received = shown_claim(expected), shown_claim(received)

    @property
    def finding(self) -> Finding:
        check = self.check or ConnectionCheck.ANSWER
        return Finding(check, shown(self._expected), shown(self._received or str(self)), self.cause)

    @property
    def texts(self) -> FindingTexts:
        """The arguments with which another refusal has the same finding."""
        return {"check": self.check, "expected": self._expected, "received": self._received, "cause": self.cause}

    def hide(self, secrets: Iterable[str]) -> None:
        """Mask these texts in everything that is stored or logged."""
        known = tuple(secrets)
        self.args = (shown(str(self), known),)
        self._expected, self._received = masked(self._expected, known), masked(self._received, known)


@contextmanager
def checking(check: ConnectionCheck, *secrets: Any) -> Iterator[None]:
    """Name the check of a refusal that is raised within the block, unless it names its own, and mask `secrets` in it."""
    try:
        yield
    except UpstreamRefusal as refusal:
        refusal.check = refusal.check or check
        refusal.hide(text for text in secrets if isinstance(text, str))
        raise


def masked(text: str, secrets: Iterable[str]) -> str:
    """Return a text with each of these secrets masked, the longest first."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _MIN_SECRET_LENGTH:
            text = text.replace(secret, MASKED)
    return text


def shown(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text as one bounded line of printable characters, with signed tokens and `secrets` masked."""
    text = _JWT.sub(MASKED, masked(text, secrets)[: 10 * MAX_LENGTH])
    printable = "".join(" " if unicodedata.category(char) in _HIDDEN_CATEGORIES else char for char in text)
    line = " ".join(printable.split())
    return line if len(line) <= MAX_LENGTH else f"{line[: MAX_LENGTH - 1]}…"


def error_name(error: Any) -> str:
    """Return the error code of a provider; any text that is no code may repeat a secret, so only its length is told."""
    text = str(error)
    return text if _ERROR_NAME.fullmatch(text) else f"[{len(text)} characters that are no error code]"


def shown_claim(value: Any) -> str:
    """Return a claim's value in words: only texts, numbers and lists of texts have one."""
    if isinstance(value, str):
        return value
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value) if abs(value) < _LARGEST_SHOWN else "a number without end"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value[:_MAX_NAMES]) or "an empty list"
    return "an object" if isinstance(value, dict) else "a value of another type"


def claim_names(claims: Mapping[str, Any]) -> str:
    """Return the names of the claims of an answer, without their values."""
    names = [name if len(name) <= _MAX_NAME_LENGTH else "a long name" for name in claims]
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return f"{', '.join(names[:_MAX_NAMES])}{more}" or "no claim"


def kind_of_value(value: Any) -> str:
    """Return what a claim holds, without its value, which may be personal data."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return f"text of {len(value)} characters" if value.isprintable() else "text with control characters"
    kinds = (
        (bool, "true or false"),
        (int, "a whole number"),
        (float, "a fraction"),
        (list, "a list"),
        (dict, "an object"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "a value of another type")
