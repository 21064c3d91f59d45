"""Errors of sessions and of tokens outside OAuth."""

from app.kit.operations.errors import ApiError


class TooManySessions(ApiError):
    code, status, message = 1338, 403, "Exceeded active login session limit"
    description = "The account has reached its limit of sessions. Sign out in another browser first."


class WrongRefreshToken(ApiError):
    code, status, message = 1217, 403, "Refresh token invalid"
    description = "The refresh token is wrong, was used or was revoked. Sign in again."


class SessionExpired(ApiError):
    code, status, message = 1055, 403, "Session has expired"
    description = "The account has no active session."


class WrongRequestToken(ApiError):
    code, status, message = 903, 403, "Request token is invalid"
    description = "The request token is wrong or was used before. Start the social sign-in again."


class ExpiredRequestToken(ApiError):
    code, status, message = 904, 403, "Request token has expired"
    description = "The request token is older than 15 minutes. Start the social sign-in again."


class SessionLimitOff(ApiError):
    code, status, message = 1339, 403, "Restrict Login Sharing feature not enabled"
    description = "Session restriction is off."
