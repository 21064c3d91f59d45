"""Errors of passwords and PINs (interface user.md sections 4, 5 and 10)."""

from enum import StrEnum
from typing import Final

from app.kit.errors import ApiError


class PinMissing(ApiError):
    code, status, message = 1234, 403, "PIN is required"
    description = "Send the PIN."


class NoPin(ApiError):
    code, status, message = 1235, 403, "PIN is not available"
    description = "The account has no PIN."


class WrongPin(ApiError):
    code, status, message = 1236, 401, "Invalid PIN"
    description = "The PIN is wrong."


class UnknownPinToken(ApiError):
    code, status, message = 1239, 403, "PINAuth token is invalid"
    description = "The PIN token is wrong or was used. Sign in again."


class ExpiredPinToken(ApiError):
    code, status, message = 1240, 403, "PINAuth token has expired"
    description = "The PIN token has expired. Sign in again."


class WrongCurrentPin(ApiError):
    code, status, message = 1241, 401, "Current pin is invalid"
    description = "The current PIN is wrong."


class UsedPinLink(ApiError):
    code, status, message = 1242, 403, "The email verification link has already been used"
    description = "The reset link was used before. Request a new one."


class PinRequired(ApiError):
    code, status, message = 1243, 403, "PIN is required"
    description = "The account must set a PIN. Set it with the PINAuthToken in Data."


class PinLoginOff(ApiError):
    code, status, message = 1244, 403, "PIN Login is not enabled"
    description = "Sign-in with a PIN is off for this tenant."


class UnknownSessionToken(ApiError):
    code, status, message = 1245, 403, "Session token is invalid"
    description = "The session token is wrong. Sign in without the PIN."


class ExpiredSessionToken(ApiError):
    code, status, message = 1246, 403, "Session token has expired"
    description = "The session token has expired. Sign in without the PIN."


class PinUrlRefused(ApiError):
    code, status, message = 1248, 403, "The reset pin URL is invalid"
    description = "resetpinurl isn’t an allowed return address. Add it to the tenant’s list."


class PinOff(ApiError):
    code, status, message = 1233, 403, "PIN Authentication is not configured."
    description = "PINs are off for this tenant."


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
