"""Errors of passwords."""

from enum import StrEnum
from typing import Final

from app.kit.operations.errors import ApiError


class ResetUrlRefused(ApiError):
    code, status, message = 1251, 403, "The reset password URL is invalid"
    description = "resetpasswordurl isn’t an allowed return address. Add it to the tenant’s list."


class NoSecurityAnswers(ApiError):
    code, status, message = 1092, 403, "Security question and answer is not saved in profile"
    description = "The account has no security questions."


class SecurityQuestionsOff(ApiError):
    code, status, message = 1095, 403, "Security question or answer is not enabled"
    description = "Security questions are off for this tenant."


class UsernameLookupOnly(ApiError):
    code, status, message = 1184, 403, "User Name authentication is enabled"
    description = "Accounts of this tenant sign in by username. Get the questions by username instead."


class TokenLimitReached(ApiError):
    code, status, message = 1178, 403, "You have reached a limit for generating token"
    description = "Too many tokens were created for this account. Try again later."


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


PASSWORD_RULE_MESSAGES: Final = {
    PasswordRule.LEAST: "The password must have at least {number} characters.",
    PasswordRule.MOST: "The password must have at most {number} characters.",
    PasswordRule.LOWER: "The password must contain a lower-case letter.",
    PasswordRule.UPPER: "The password must contain an upper-case letter.",
    PasswordRule.NUMBER: "The password must contain a number.",
    PasswordRule.SIGN: "The password must contain a symbol.",
    PasswordRule.PROFILE: "The password must not contain a name, an address or a phone number of the profile.",
    PasswordRule.COMMON: "This password is used by many people.",
}
"""The error text of each rule; pages recognise a rule by its text. Earlier and breached passwords have their own errors."""
