"""Errors of passkeys (interface mfa.md section 6)."""

from app.kit.errors import ApiError


class PasskeysOff(ApiError):
    code, status, message = 1320, 403, "Passkeys not enabled in this application."
    description = "Passkeys are off."


class PasskeyRefused(ApiError):
    code, status, message = 1321, 403, "An unexpected error occurred while verifying your passkey."
    description = "Passkey check failed."


class PasskeyMisconfigured(ApiError):
    code, status, message = 1322, 403, "Passkey configuration error."
    description = "Passkey settings wrong."


class NoPasskey(ApiError):
    code, status, message = 1323, 403, "Passkey not configured in your profile."
    description = "User has no passkey."


class PasskeyNeedsEmail(ApiError):
    code, status, message = 1324, 403, "Passkey login unavailable for this account type."
    description = "Passkey needs an email account."


class UnknownPasskey(ApiError):
    code, status, message = 1325, 403, "Invalid Passkey ID"
    description = "Passkey id unknown."


class PasskeyAutofillOff(ApiError):
    code, status, message = 1326, 403, "Passkeys autofill not enabled in this application."
    description = "Passkey autofill is off."


class PasskeyFactorOff(ApiError):
    code, status, message = 1327, 403, "Passkeys are not set up for Two-Factor Authentication"
    description = "Passkey factor is off."


class PasskeyFactorNotEnrolled(ApiError):
    code, status, message = 1328, 403, "Passkey as two factor authentication is not configured for this profile"
    description = "Passkey factor not enrolled."


class PasskeyUrlRefused(ApiError):
    code, status, message = 1329, 403, "The reset passkey URL is invalid"
    description = "resetpasskeyurl not on the allow-list."
