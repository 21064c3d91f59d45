"""Errors of the tenant's consent forms."""

from app.kit.errors import ApiError


class NoConsentForm(ApiError):
    code, status, message = 1224, 403, "Consent form is not available"
    description = "No live consent form."


class ConsentRefused(ApiError):
    code, status, message = 1225, 403, "Consent form validation failed"
    description = "Consent answers incomplete or wrong."


class ConsentNeeded(ApiError):
    """`data` is `{"ConsentToken": ...}`."""

    code, status, message = 1226, 403, "Consent form not submitted"
    description = "Consent needed; Data has ConsentToken."


class ConsentsOff(ApiError):
    code, status, message = 1227, 403, "Consent Management is not enabled."
    description = "Consent is off."


class NoConsentLogs(ApiError):
    code, status, message = 1228, 403, "Consent logs not available"
    description = "No consent logs."


class WrongConsentToken(ApiError):
    code, status, message = 1229, 403, "Consent token is invalid"
    description = "Consent token unknown."


class ExpiredConsentToken(ApiError):
    code, status, message = 1230, 403, "Consent token has expired"
    description = "Consent token past its life."
