"""Refusals of tokens and codes that a tenant's server brings to people itself."""

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


class PasswordlessOff(ApiError):
    code, status, message = 1059, 403, "Password less login option is not enabled for your site"
    description = "Passwordless login is off."


class SmartLoginOff(ApiError):
    code, status, message = 1135, 403, "Smart login option is not enabled for your site"
    description = "Smart login is off."


class OneTouchOff(ApiError):
    code, status, message = 1146, 403, "One touch login is not enabled for your site"
    description = "One-touch login is off."


class PinOff(ApiError):
    code, status, message = 1233, 403, "PIN Authentication is not configured."
    description = "PIN is off."
