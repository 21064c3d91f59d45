"""One-time codes: how they are typed, and the errors of a wrong one."""

import unicodedata
from dataclasses import dataclass

from app.contract import errors as e
from app.kit.errors import ApiError

DIGITS = 6


@dataclass(frozen=True)
class CodeErrors:
    """The four errors of a code. The interface numbers them by the channel that sent the code."""

    wrong: type[ApiError]
    used: type[ApiError]
    expired: type[ApiError]
    closed: type[ApiError]

    @property
    def all(self) -> tuple[type[ApiError], ...]:
        return self.wrong, self.used, self.expired, self.closed


MAIL_CODE = CodeErrors(e.WrongMailCode, e.UsedMailCode, e.ExpiredMailCode, e.ClosedMailCode)
SMS_CODE = CodeErrors(e.WrongSmsCode, e.UsedSmsCode, e.ExpiredSmsCode, e.ClosedSmsCode)


def digits_in(text: str) -> str:
    """Return a typed code with the digits of any script as ASCII, without spaces, dashes and direction marks."""
    kept = [character for character in text[:64] if unicodedata.category(character) not in ("Zs", "Pd", "Cf", "Cc")]
    return "".join(str(unicodedata.decimal(character, character)) for character in kept)


def is_code(text: str) -> bool:
    """Return whether a text has the form of a code, however it is typed."""
    digits = digits_in(text)
    return len(digits) == DIGITS and digits.isdecimal()
