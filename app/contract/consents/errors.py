"""Errors of the tenant's consent forms."""

from app.kit.operations.errors import ApiError


class NoConsentForm(ApiError):
    code, status, message = 1224, 403, "Consent form is not available"
    description = "There’s no published consent form for this event."


class ConsentRefused(ApiError):
    code, status, message = 1225, 403, "Consent form validation failed"
    description = "The answers are incomplete or wrong. Answer each mandatory option of the form."


class ConsentNeeded(ApiError):
    """`data` is `{"ConsentToken": ...}`."""

    code, status, message = 1226, 403, "Consent form not submitted"
    description = "The account must answer a consent form. Send the answers with the ConsentToken in Data."


class ConsentsOff(ApiError):
    code, status, message = 1227, 403, "Consent Management is not enabled."
    description = "Consent forms are off for this tenant."


class NoConsentLogs(ApiError):
    code, status, message = 1228, 403, "Consent logs not available"
    description = "The account has no consent history."


class WrongConsentToken(ApiError):
    code, status, message = 1229, 403, "Consent token is invalid"
    description = "The consent token is wrong or was used. Sign in again."


class ExpiredConsentToken(ApiError):
    code, status, message = 1230, 403, "Consent token has expired"
    description = "The consent token has expired. Sign in again."
