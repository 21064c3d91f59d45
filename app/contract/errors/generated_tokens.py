"""Errors of tokens and codes that a tenant's server delivers itself."""

from app.kit.errors import ApiError


class WrongTokenType(ApiError):
    code, status, message = 1181, 403, "You have entered an invalid token type"
    description = "Token type not in the list."


class WrongCodeType(ApiError):
    code, status, message = 1182, 403, "You have entered an invalid sms otp type"
    description = "SMS OTP type not in the list."


class CodeLimitReached(ApiError):
    code, status, message = 1179, 403, "You have reached a limit for generating OTP"
    description = "OTP limit reached; resets after a while."


class PhoneVerifiedBefore(ApiError):
    code, status, message = 1073, 403, "This phone number has already been confirmed"
    description = "Phone confirmed before."
