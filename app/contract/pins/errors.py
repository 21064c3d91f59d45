"""Errors of PINs."""

from app.kit.operations.errors import ApiError


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
