"""Errors of passkeys."""

from app.kit.operations.errors import ApiError


class PasskeysOff(ApiError):
    code, status, message = 1320, 403, "Passkeys not enabled in this application."
    description = "Passkeys are off for this tenant."


class PasskeyRefused(ApiError):
    code, status, message = 1321, 403, "An unexpected error occurred while verifying your passkey."
    description = "The passkey couldn’t be verified. Start again with the begin operation."


class PasskeyMisconfigured(ApiError):
    code, status, message = 1322, 403, "Passkey configuration error."
    description = "The passkey settings don’t fit this host. Check RPID and RPOrigins."


class TooManyPasskeys(PasskeyMisconfigured):
    """The account has as many passkeys as it may. The interface has no number of its own for it."""


class NoPasskey(ApiError):
    code, status, message = 1323, 403, "Passkey not configured in your profile."
    description = "The account has no passkey."


class PasskeyNeedsEmail(ApiError):
    code, status, message = 1324, 403, "Passkey login unavailable for this account type."
    description = "Passkeys need an account with an email address."


class UnknownPasskey(ApiError):
    code, status, message = 1325, 403, "Invalid Passkey ID"
    description = "The account has no passkey with this ID."


class PasskeyAutofillOff(ApiError):
    code, status, message = 1326, 403, "Passkeys autofill not enabled in this application."
    description = "Passkey autofill is off for this tenant."


class PasskeyFactorOff(ApiError):
    code, status, message = 1327, 403, "Passkeys are not set up for Two-Factor Authentication"
    description = "Passkeys as a second factor are off for this tenant."


class PasskeyFactorNotEnrolled(ApiError):
    code, status, message = 1328, 403, "Passkey as two factor authentication is not configured for this profile"
    description = "The account has no passkey as a second factor."


class PasskeyUrlRefused(ApiError):
    code, status, message = 1329, 403, "The reset passkey URL is invalid"
    description = "resetpasskeyurl isn’t an allowed return address. Add it to the tenant’s list."
