"""Errors of sign-ins without a password."""

from app.kit.operations.errors import ApiError


class UsedPasswordlessLink(ApiError):
    code, status, message = 1062, 403, "The password less login link has already been used"
    description = "The sign-in link was used before. Request a new one."


class ClientGuidTaken(ApiError):
    code, status, message = 1136, 403, "Client GUID must be unique"
    description = "The client GUID was used before. Choose a new one for each sign-in."


class UsedSmartLink(ApiError):
    code, status, message = 1137, 403, "This smart login link has already been used"
    description = "The smart login link was used before. Start the sign-in again."


class VerifiedSmartLink(ApiError):
    code, status, message = 1138, 403, "The smart login link has already been verified"
    description = "The smart login was approved already. The waiting device gets its session when it polls."


class SmartLinkWaits(ApiError):
    code, status, message = 1139, 403, "The smart login link has not been verified"
    description = "The link wasn’t opened yet. Poll again in 5 seconds."


class PasswordlessOff(ApiError):
    code, status, message = 1059, 403, "Password less login option is not enabled for your site"
    description = "Passwordless sign-in is off for this tenant."


class SmartLoginOff(ApiError):
    code, status, message = 1135, 403, "Smart login option is not enabled for your site"
    description = "Smart login is off for this tenant."


class OneTouchOff(ApiError):
    code, status, message = 1146, 403, "One touch login is not enabled for your site"
    description = "One-touch login is off for this tenant."


class UsedOneTouchLink(ApiError):
    code, status, message = 1145, 403, "The one touch login link has already been used"
    description = "The one-touch login link was used before. Start the sign-in again."
