"""Errors of passwords and PINs (interface user.md sections 4, 5 and 10)."""

from enum import StrEnum
from typing import Final

from app.kit.errors import ApiError


class PinMissing(ApiError):
    code, status, message = 1234, 403, "PIN is required"
    description = "PIN absent."


class NoPin(ApiError):
    code, status, message = 1235, 403, "PIN is not available"
    description = "User has no PIN."


class WrongPin(ApiError):
    code, status, message = 1236, 401, "Invalid PIN"
    description = "PIN wrong."


class UnknownPinToken(ApiError):
    code, status, message = 1239, 403, "PINAuth token is invalid"
    description = "PIN-setup token unknown."


class ExpiredPinToken(ApiError):
    code, status, message = 1240, 403, "PINAuth token has expired"
    description = "PIN-setup token past its life."


class WrongCurrentPin(ApiError):
    code, status, message = 1241, 401, "Current pin is invalid"
    description = "Current PIN wrong."


class UsedPinLink(ApiError):
    code, status, message = 1242, 403, "The email verification link has already been used"
    description = "PIN reset link used before."


class PinRequired(ApiError):
    code, status, message = 1243, 403, "PIN is required"
    description = "PIN must be set; Data has PINAuthToken."


class PinLoginOff(ApiError):
    code, status, message = 1244, 403, "PIN Login is not enabled"
    description = "PIN login is off."


class UnknownSessionToken(ApiError):
    code, status, message = 1245, 403, "Session token is invalid"
    description = "Session token unknown."


class ExpiredSessionToken(ApiError):
    code, status, message = 1246, 403, "Session token has expired"
    description = "Session token past its life."


class PinUrlRefused(ApiError):
    code, status, message = 1248, 403, "The reset pin URL is invalid"
    description = "resetpinurl not on the allow-list."


class PinOff(ApiError):
    code, status, message = 1233, 403, "PIN Authentication is not configured."
    description = "PIN is off."


class ResetUrlRefused(ApiError):
    code, status, message = 1251, 403, "The reset password URL is invalid"
    description = "resetpasswordurl not on the allow-list."


class NoSecurityAnswers(ApiError):
    code, status, message = 1092, 403, "Security question and answer is not saved in profile"
    description = "User has no answers stored."


class SecurityQuestionsOff(ApiError):
    code, status, message = 1095, 403, "Security question or answer is not enabled"
    description = "Security questions are off."


class UsernameLookupOnly(ApiError):
    code, status, message = 1184, 403, "User Name authentication is enabled"
    description = "Username login is on; ask by username."


class TokenLimitReached(ApiError):
    code, status, message = 1178, 403, "You have reached a limit for generating token"
    description = "Token limit reached; resets after a while."


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
"""The error text of each rule; pages recognise a rule by its text. `EARLIER` and `STOLEN` have their own errors."""
