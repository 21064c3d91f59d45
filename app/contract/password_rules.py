"""The rules for new passwords, and the sentence of each; pages recognise a rule by its sentence."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class PasswordRule(StrEnum):
    """A rule for new passwords."""

    LEAST = "least"
    MOST = "most"
    LOWER = "lower"
    UPPER = "upper"
    NUMBER = "number"
    SIGN = "sign"
    PROFILE = "profile"
    COMMON = "common"
    EARLIER = "earlier"
    STOLEN = "stolen"


SENTENCES: Final = {
    PasswordRule.LEAST: "The password must have at least {number} characters.",
    PasswordRule.MOST: "The password must have at most {number} characters.",
    PasswordRule.LOWER: "The password must contain a lower-case letter.",
    PasswordRule.UPPER: "The password must contain an upper-case letter.",
    PasswordRule.NUMBER: "The password must contain a number.",
    PasswordRule.SIGN: "The password must contain a symbol.",
    PasswordRule.PROFILE: "The password must not contain a name, an address or a phone number of the profile.",
    PasswordRule.COMMON: "This password is used by many people.",
}
"""The error text of each rule; `EARLIER` and `STOLEN` have their own errors."""
