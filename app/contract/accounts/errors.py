"""Errors of account operations, by servers and by the account itself."""

from app.kit.operations.errors import ApiError


class UnknownUid(ApiError):
    code, status, message = 984, 403, "Account ID is invalid"
    description = "There’s no account with this ID."


class MalformedUid(ApiError):
    code, status, message = 1200, 403, "Uid is not valid"
    description = "The account ID is malformed. Use 1 to 50 letters, digits, hyphens and underscores."


class EmailRegistered(ApiError):
    code, status, message = 936, 403, "Email address is already registered with your site"
    description = "Another account has this email address. Sign in to it, or use another address."


class EmailHasAccount(ApiError):
    code, status, message = 988, 403, "An account already exists for this email"
    description = "An account has this email address already. Sign in to it, or use another address."


class EmailTaken(ApiError):
    code, status, message = 1046, 403, "This email has already been registered with your site"
    description = "Another account has this email address. Use another one."


class UsernameTaken(ApiError):
    code, status, message = 1017, 403, "This username is already registered with this website"
    description = "Another account has this username. Choose another one."


class PhoneTaken(ApiError):
    code, status, message = 1058, 403, "Phone number is already registered with your site"
    description = "Another account has this phone number. Use another one."


class UidTaken(ApiError):
    code, status, message = 1044, 403, "This account ID is already registered with your site"
    description = "Another account has this ID. Choose another one."


class MalformedEmail(ApiError):
    code, status, message = 1038, 400, "Valid email ID is required"
    description = "The email address is missing or malformed."


class MalformedPhone(ApiError):
    code, status, message = 1096, 400, "Invalid phone number"
    description = "The phone number is malformed. Use the international form, such as +4915112345678."


class AddressTypeTwice(ApiError):
    code, status, message = 1107, 400, "Address type can not be same"
    description = "Two postal addresses have the same type. Give each a type of its own."


class PhoneTypeTwice(ApiError):
    code, status, message = 1124, 400, "Phone type cannot be same"
    description = "Two phone numbers have the same type. Give each a type of its own."


class AddressTypeMissing(ApiError):
    code, status, message = 1125, 400, "Address type is required"
    description = "Send the type of the address."


class EmailTypeMissing(ApiError):
    code, status, message = 1201, 400, "Email type is required"
    description = "Send the type of the email address."


class EmailTwice(ApiError):
    code, status, message = 1202, 400, "Email address can not be same"
    description = "The request contains an email address twice. Remove one of them."


class PrimaryEmailTwice(ApiError):
    code, status, message = 1203, 400, "Primary email address can be only one"
    description = "Only one email address can have the type Primary."


class PhoneTypeMissing(ApiError):
    code, status, message = 1213, 400, "Phone type is required"
    description = "Send the type of the phone number."


class WeakPassword(ApiError):
    code, status, message = 1216, 403, "Weak password"
    description = "The password is too easy to guess: it’s common, or contains profile data. Choose another one."


class FieldsRefused(ApiError):
    code, status, message = 1134, 403, "Validation failed for one or more fields"
    description = "One or more fields aren’t valid. Errors says for each what is wrong."


class UnknownPolicyVersion(ApiError):
    code, status, message = 1197, 403, "Privacy policy version is not valid"
    description = "There’s no such version of the privacy notice."


class MalformedDate(ApiError):
    code, status, message = 968, 400, "The date is invalid or has an invalid format"
    description = "The birth date is in the future or malformed. Use MM-dd-yyyy."


class UnknownCustomField(ApiError):
    code, status, message = 993, 403, "Custom field is invalid"
    description = "The tenant has no custom field with this name."


class PasswordMissing(ApiError):
    code, status, message = 1089, 400, "Password is missing"
    description = "Send the password."


class UnknownUsername(ApiError):
    code, status, message = 1022, 403, "Username does not exist"
    description = "There’s no account with this username."


class UnknownPhone(ApiError):
    code, status, message = 1043, 403, "Phone number is invalid or does not exist"
    description = "There’s no account with this phone number, or the number is malformed. Use the form +4915112345678."


class IdentifierMissing(ApiError):
    code, status, message = 1118, 400, "Email, UID or phone is required"
    description = "Send one of email, username, phone or uid."


class EmailMissing(ApiError):
    code, status, message = 1032, 400, "Email address is required"
    description = "Send the email address."


class LastEmail(ApiError):
    code, status, message = 1005, 403, "User account should have at least one email address"
    description = "An account needs at least one email address. Add another one first."


class EmailNotOnProfile(ApiError):
    code, status, message = 1023, 403, "Email address does not exist"
    description = "The account doesn’t have this email address."


class NoEmailProfile(ApiError):
    code, status, message = 1039, 403, "An email profile is not created or does not exist"
    description = "The account has no email address, or no password of its own."


class MalformedUsername(ApiError):
    code, status, message = 1204, 403, "Username is not valid"
    description = "The username contains a space, or is empty or too long."


class UsernameFormatRefused(ApiError):
    code, status, message = 1024, 403, "This username format is invalid"
    description = "The username contains characters that aren’t allowed. Choose another one."


class UsernameMissing(ApiError):
    code, status, message = 1075, 400, "Username is required"
    description = "Send the username."


class EmailActionRefused(ApiError):
    code, status, message = 1006, 403, "Invalid action for adding or removing email addresses"
    description = "The account has a primary email address already. Add this one with another type."


class EmailUpdateRefused(ApiError):
    code, status, message = 1174, 403, "Email update is not allowed"
    description = (
        "This request can’t change the email addresses, or the account has as many as it can. Use the email operations."
    )


class PasswordNotAcceptable(ApiError):
    code, status, message = 1015, 403, "The new password is invalid"
    description = "The new password can’t be used, for example because it was used before. Choose another one."


class NewPasswordBreached(ApiError):
    code, status, message = 1315, 403, "The password you're trying to set is exposed in an external data breach"
    description = "The password is in a list of stolen passwords. Choose another one."


class RegistrationOff(ApiError):
    code, status, message = 1190, 403, "Registration disabled"
    description = "Sign-up is off for this tenant."


class EmailDomainRefused(ApiError):
    code, status, message = 1247, 403, "Email id domain is not allowed to register"
    description = (
        "Email addresses of this domain can’t sign up. Use another one, or change the tenant’s email restrictions."
    )


class EmailRefused(ApiError):
    code, status, message = 1056, 403, "Email is not allowed to register"
    description = "This email address can’t sign up. Use another one, or change the tenant’s email restrictions."


class NoEmailToInvalidate(ApiError):
    code, status = 1113, 403
    message = "The profile cannot be enforced to invalidate the email verification."
    description = "The account has no email address to verify again."


class EmailUnverifiedBefore(ApiError):
    code, status = 1115, 403
    message = "The profile cannot be enforced to invalidate the email verification."
    description = "The email address isn’t verified yet, so nothing changed."


class NoPhoneToInvalidate(ApiError):
    code, status = 1147, 403
    message = "The profile cannot be enforced to invalidate the phone verification."
    description = "The account has no phone number to verify again."


class PhoneUnverifiedBefore(ApiError):
    code, status, message = 1161, 403, "This phone number is already unverified"
    description = "The phone number isn’t verified yet, so nothing changed."


class EmailOrUsernameMissing(ApiError):
    code, status, message = 1141, 400, "Email address or username is required"
    description = "Send email or username."


class EmailOrPhoneMissing(ApiError):
    code, status, message = 1189, 403, "Email Id or Phone number is required"
    description = "Send an email address or a phone number."


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
    """Internal: raised to the hub only, after a correct password."""

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
