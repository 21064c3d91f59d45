"""Fixed values in place of those that differ from run to run: ids, tokens, times, addresses, and everything that is a secret.

One `FixedValues` serves one example, so that a value which stands in the request and in the answer stays the same in both.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

NOON: Final = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
"""The time at which every example was recorded, as a reader sees it."""
_NEAR: Final = timedelta(days=200)
_STEP: Final = timedelta(minutes=5)
_MAX_TOKEN_LENGTH: Final = 86
_PEOPLE: Final = ("ada", "ben", "carla", "dmitri", "elif", "farid")
_PHONES: Final = "+493023125{:03d}"  # numbers that are kept free for stories
_JWT: Final = "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI2YzFmYTRkMiJ9.dGhlLXNpZ25hdHVyZS1nb2VzLWhlcmU"
_PICTURE: Final = "data:image/svg+xml;charset=utf-8,%3Csvg%20xmlns%3D%27http%3A%2F%2Fwww.w3.org%2F2000%2Fsvg%27%2F%3E"
_CODE: Final = re.compile(r"(otp|code|passcode|pin)$", re.IGNORECASE)
_DIGITS: Final = "482913706154"


class FixedValues:
    """Replaces what differs from run to run; the same value is always replaced by the same one."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._known: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def of(self, value: Any, name: str = "") -> Any:
        """Return the value with all that differs replaced; `name` is the member that holds it."""
        if isinstance(value, dict):
            return {self.text(key): self.of(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self.of(item, name) for item in _few(value)]
        if isinstance(value, str):
            if _CODE.search(name) and value.isdigit() and len(value) >= 4:
                return _DIGITS[: len(value)]
            return self.text(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self._number(value)
        return value

    def text(self, text: str) -> str:
        """Return a text with everything in it that differs replaced."""
        if text.startswith("data:image/"):
            return _PICTURE
        for pattern, replace in _RULES:
            text = pattern.sub(partial(_replaced, self, replace), text)
        return text

    def _number(self, value: float) -> float:
        for unit in (1, 1000):
            at = value / unit
            if abs(at - self._now.timestamp()) < _NEAR.total_seconds():
                return int(self._moved(datetime.fromtimestamp(at, UTC)).timestamp()) * unit
        return value

    def _moved(self, at: datetime) -> datetime:
        return NOON + round((at - self._now) / _STEP) * _STEP

    def _once(self, kind: str, raw: str, make: Callable[[int], str]) -> str:
        if raw not in self._known:
            number = self._counts[kind] = self._counts.get(kind, -1) + 1
            self._known[raw] = make(number)
        return self._known[raw]

    def time(self, raw: str) -> str:
        at = datetime.fromisoformat(raw)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        if abs(at - self._now) > _NEAR:
            return raw
        spelt = self._moved(at).isoformat(timespec="milliseconds" if "." in raw else "seconds")
        return spelt.replace("+00:00", "Z") if raw.endswith("Z") else spelt

    def hexadecimal(self, raw: str) -> str:
        if raw.isdigit() or raw.isalpha() or raw in self._known.values():
            return raw
        return self._once("hex", raw, lambda number: _digest("hex", number).hex()[: min(len(raw), 64)])

    def guid(self, raw: str) -> str:
        def make(number: int) -> str:
            digits = _digest("guid", number).hex()
            return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))

        return raw if raw in self._known.values() else self._once("guid", raw, make)

    def backup_code(self, raw: str) -> str:
        digits = _digest("backup code", self._counts.setdefault("backup code", 0)).hex()
        self._counts["backup code"] += 1
        return f"{digits[:5]}-{digits[5:10]}"

    def prefixed(self, raw: str) -> str:
        prefix, _, rest = raw.partition("_")
        return self._once(prefix, raw, lambda number: f"{prefix}_{_characters(prefix, number)[: len(rest)]}")

    def token(self, raw: str) -> str:
        is_mixed = any(map(str.isdigit, raw)) and any(map(str.isupper, raw)) and any(map(str.islower, raw))
        if not is_mixed or raw in self._known.values() or raw in _JWT:
            return raw
        return self._once("token", raw, lambda number: _characters("token", number)[: min(len(raw), _MAX_TOKEN_LENGTH)])

    def email(self, raw: str) -> str:
        return self._once("email", raw.lower(), lambda number: f"{_person(number)}@example.com")

    def phone(self, raw: str) -> str:
        return self._once("phone", raw, lambda number: _PHONES.format(number + 14))

    def username(self, raw: str) -> str:
        return self._once("username", raw, lambda number: f"{_person(number)}.lovelace")


def _replaced(fixed: FixedValues, replace: Callable[[FixedValues, str], str], found: re.Match[str]) -> str:
    return replace(fixed, found[0])


def _person(number: int) -> str:
    again, which = divmod(number, len(_PEOPLE))
    return _PEOPLE[which] + (str(again + 1) if again else "")


def _digest(kind: str, number: int) -> bytes:
    return hashlib.sha512(f"{kind} {number}".encode()).digest()


def _characters(kind: str, number: int) -> str:
    return base64.b64encode(_digest(kind, number)).decode().translate({43: "k", 47: "q", 61: None})


def _few(items: list[Any]) -> list[Any]:
    """Return at most three items of a list of objects: more show nothing new."""
    return items[:3] if items and all(isinstance(item, dict) for item in items) else items


Rule = tuple[re.Pattern[str], Callable[[FixedValues, str], str]]
_RULES: Final[list[Rule]] = [
    (re.compile(r"(?<=KEY-----)[^-]+(?=-----END)|(?<=CERTIFICATE-----)[^-]+(?=-----END)"), lambda _, raw: "\nMIIC…\n"),
    (re.compile(r"(?<=X509Certificate>)[^<]+"), lambda _, raw: "MIIC…"),
    (re.compile(r"eyJ[\w-]{8,}(\.[\w-]*){2,4}"), lambda _, raw: _JWT),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"), FixedValues.time),
    (re.compile(r"https?://(127\.0\.0\.1|localhost):\d+"), lambda _, raw: "https://partner.example.com"),
    (re.compile(r"(https?://)?api\.localhost(:\d+)?"), lambda _, raw: ("https://" * ("//" in raw)) + "api.example.com"),
    (re.compile(r"(https?://)?\bt[0-9a-f]{10}\.localhost(:\d+)?"),
     lambda _, raw: ("https://" * ("//" in raw)) + "acme.example.com"),
    (re.compile(r"\.localhost(:\d+)?\b"), lambda _, raw: ".example.com"),
    (re.compile(r"\bt[0-9a-f]{10}\b"), lambda _, raw: "acme"),
    (re.compile(r"\bT[0-9A-Fa-f]{10}\b"), lambda _, raw: "Acme"),
    (re.compile(r"\bu[0-9a-f]{10}\b"), FixedValues.username),
    (re.compile(r"(?<=@)localhost\b"), lambda _, raw: "example.com"),
    (re.compile(r"[\w.+-]+@[\w-]+(\.[\w-]+)+"), FixedValues.email),
    (re.compile(r"\+\d{9,14}\b"), FixedValues.phone),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE), FixedValues.guid),
    (re.compile(r"\b[a-z]{2,8}_[A-Za-z0-9]{16,22}\b"), FixedValues.prefixed),
    (re.compile(r"\b[0-9a-f]{5}-[0-9a-f]{5}\b"), FixedValues.backup_code),
    (re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{8,}(?![0-9A-Za-z])"), FixedValues.hexadecimal),
    (re.compile(r"[A-Za-z0-9_-]{20,}={0,2}"), FixedValues.token),
]  # fmt: skip
