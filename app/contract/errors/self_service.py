"""Errors of what people change on their own accounts."""

from app.kit.errors import ApiError


class UsernameFixed(ApiError):
    code, status = 1018, 403
    message = "Username cannot be changed, as the existing username provided is incorrect or invalid"
    description = "Old username wrong."


class EmailNotAddable(ApiError):
    code, status, message = 1177, 403, "Cannot add the email address"
    description = "No verified email yet."


class NoEmailOnProfile(ApiError):
    code, status, message = 1340, 403, "Email address does not exist in the profile"
    description = "Profile has no email."


class NoPhoneOnProfile(ApiError):
    code, status, message = 1292, 403, "A phone number is not currently linked to your account"
    description = "Account has no phone."


class WrongDeleteToken(ApiError):
    code, status, message = 1119, 403, "The DeleteToken is invalid"
    description = "Deletion token unknown."


class NotProcessable(ApiError):
    code, status, message = 1173, 403, "Unable to process the request"
    description = "The address that the deletion would be confirmed by is not verified."


class UnlockedAlready(ApiError):
    code, status, message = 1221, 403, "Account is already unlocked"
    description = "Account is not locked."


class PolicyAcceptedAlready(ApiError):
    code, status, message = 1222, 403, "Current privacy policy is already accepted"
    description = "Newest policy accepted before."


class AccountLeaving(ApiError):
    """Ours alone: answered to the hub's pages, after a right password."""

    code, status, message = 9991, 403, "The account is being deleted"
    description = "Data says until when it can be kept, and holds a token that keeps it."


class RequestInvalid(ApiError):
    code, status, message = 2017, 400, "Request is invalid"
    description = "Text messages are not set up here."


class PhoneRegistered(ApiError):
    code, status, message = 1106, 403, "This phone number is already registered"
    description = "Phone is already the account's own."


class NoPhoneRegistered(ApiError):
    code, status, message = 1117, 403, "This phone number is not registered"
    description = "No phone on the profile."


class PhoneVerifiedOrNoToken(ApiError):
    code, status, message = 1120, 403, "Access token is invalid or phone number is already verified"
    description = "Token not valid, or phone verified before."
