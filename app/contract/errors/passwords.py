"""Errors of forgotten and changed passwords."""

from app.kit.errors import ApiError


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
