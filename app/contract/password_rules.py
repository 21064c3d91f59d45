"""The rules that a new password may break, and how the service says so: the sentence is what pages know the rule by."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class PasswordRule(StrEnum):
    """What a policy may ask of a new password."""

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
"""What a refusal says of each rule; `EARLIER` and `STOLEN` have errors of their own."""
