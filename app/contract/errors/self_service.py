"""Errors of what people change on their own accounts."""

from app.kit.errors import ApiError


class UsernameFixed(ApiError):
    code, status = 1018, 403
    message = "Username cannot be changed, as the existing username provided is incorrect or invalid"
    description = "The current username is wrong."


class EmailNotAddable(ApiError):
    code, status, message = 1177, 403, "Cannot add the email address"
    description = "The account has no verified email address yet. Verify one before you add another."


class NoEmailOnProfile(ApiError):
    code, status, message = 1340, 403, "Email address does not exist in the profile"
    description = "The account has no email address."


class NoPhoneOnProfile(ApiError):
    code, status, message = 1292, 403, "A phone number is not currently linked to your account"
    description = "The account has no phone number."


class WrongDeleteToken(ApiError):
    code, status, message = 1119, 403, "The DeleteToken is invalid"
    description = "The deletion token is wrong or was used. Request a new one."


class NotProcessable(ApiError):
    code, status, message = 1173, 403, "Unable to process the request"
    description = "The email address or phone number that would confirm the deletion isn’t verified. Verify it first."


class UnlockedAlready(ApiError):
    code, status, message = 1221, 403, "Account is already unlocked"
    description = "The account isn’t locked."


class PolicyAcceptedAlready(ApiError):
    code, status, message = 1222, 403, "Current privacy policy is already accepted"
    description = "The account has accepted the current privacy notice already."


class AccountLeaving(ApiError):
    """Ours alone: answered to the hub's pages, after a right password."""

    code, status, message = 9991, 403, "The account is being deleted"
    description = "Data says until when it can be kept, and holds a token that keeps it."


class RequestInvalid(ApiError):
    code, status, message = 2017, 400, "Request is invalid"
    description = "The tenant can’t send text messages. Set up an SMS provider."


class PhoneRegistered(ApiError):
    code, status, message = 1106, 403, "This phone number is already registered"
    description = "The account has this phone number already."


class NoPhoneRegistered(ApiError):
    code, status, message = 1117, 403, "This phone number is not registered"
    description = "The account has no phone number."


class PhoneVerifiedOrNoToken(ApiError):
    code, status, message = 1120, 403, "Access token is invalid or phone number is already verified"
    description = "The access token is wrong, or the phone number is verified already."
