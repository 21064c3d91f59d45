"""Errors of account operations."""

from app.kit.errors import ApiError


class UnknownUid(ApiError):
    code, status, message = 984, 403, "Account ID is invalid"
    description = "Account id not valid or unknown."


class MalformedUid(ApiError):
    code, status, message = 1200, 403, "Uid is not valid"
    description = "Custom uid has bad characters or length."


class EmailRegistered(ApiError):
    code, status, message = 936, 403, "Email address is already registered with your site"
    description = "Address belongs to another account of the tenant."


class EmailHasAccount(ApiError):
    code, status, message = 988, 403, "An account already exists for this email"
    description = "Address already has an account."


class EmailTaken(ApiError):
    code, status, message = 1046, 403, "This email has already been registered with your site"
    description = "Address taken in the tenant."


class UsernameTaken(ApiError):
    code, status, message = 1017, 403, "This username is already registered with this website"
    description = "Username taken."


class PhoneTaken(ApiError):
    code, status, message = 1058, 403, "Phone number is already registered with your site"
    description = "Phone taken in the tenant."


class UidTaken(ApiError):
    code, status, message = 1044, 403, "This account ID is already registered with your site"
    description = "Account id taken."


class MalformedEmail(ApiError):
    code, status, message = 1038, 400, "Valid email ID is required"
    description = "Address absent or malformed."


class MalformedPhone(ApiError):
    code, status, message = 1096, 400, "Invalid phone number"
    description = "Phone malformed."


class AddressTypeTwice(ApiError):
    code, status, message = 1107, 400, "Address type can not be same"
    description = "Two addresses of one type."


class PhoneTypeTwice(ApiError):
    code, status, message = 1124, 400, "Phone type cannot be same"
    description = "Two phones of one type."


class AddressTypeMissing(ApiError):
    code, status, message = 1125, 400, "Address type is required"
    description = "Address type absent."


class EmailTypeMissing(ApiError):
    code, status, message = 1201, 400, "Email type is required"
    description = "Email type absent."


class EmailTwice(ApiError):
    code, status, message = 1202, 400, "Email address can not be same"
    description = "Same address twice."


class PrimaryEmailTwice(ApiError):
    code, status, message = 1203, 400, "Primary email address can be only one"
    description = "More than one Primary."


class PhoneTypeMissing(ApiError):
    code, status, message = 1213, 400, "Phone type is required"
    description = "Phone type absent."


class WeakPassword(ApiError):
    code, status, message = 1216, 403, "Weak password"
    description = "Password too common or equal to profile data."


class FieldsRefused(ApiError):
    code, status, message = 1134, 403, "Validation failed for one or more fields"
    description = "See Errors for each field."


class UnknownPolicyVersion(ApiError):
    code, status, message = 1197, 403, "Privacy policy version is not valid"
    description = "Policy version unknown."


class MalformedDate(ApiError):
    code, status, message = 968, 400, "The date is invalid or has an invalid format"
    description = "Birth date in the future or wrong format."


class UnknownCustomField(ApiError):
    code, status, message = 993, 403, "Custom field is invalid"
    description = "Custom field name unknown."


class PasswordMissing(ApiError):
    code, status, message = 1089, 400, "Password is missing"
    description = "Password absent."


class UnknownUsername(ApiError):
    code, status, message = 1022, 403, "Username does not exist"
    description = "No such username."


class UnknownPhone(ApiError):
    code, status, message = 1043, 403, "Phone number is invalid or does not exist"
    description = "No account with this phone, or phone malformed."


class IdentifierMissing(ApiError):
    code, status, message = 1118, 400, "Email, UID or phone is required"
    description = "One of email, uid, phone needed."


class EmailMissing(ApiError):
    code, status, message = 1032, 400, "Email address is required"
    description = "Address absent."


class LastEmail(ApiError):
    code, status, message = 1005, 403, "User account should have at least one email address"
    description = "Last address cannot be removed."


class EmailNotOnProfile(ApiError):
    code, status, message = 1023, 403, "Email address does not exist"
    description = "No such address on the profile."


class NoEmailProfile(ApiError):
    code, status, message = 1039, 403, "An email profile is not created or does not exist"
    description = "Account has no email profile."


class MalformedUsername(ApiError):
    code, status, message = 1204, 403, "Username is not valid"
    description = "Username has a space or bad length."


class UsernameFormatRefused(ApiError):
    code, status, message = 1024, 403, "This username format is invalid"
    description = "Username format not allowed."


class UsernameMissing(ApiError):
    code, status, message = 1075, 400, "Username is required"
    description = "Username absent."


class EmailActionRefused(ApiError):
    code, status, message = 1006, 403, "Invalid action for adding or removing email addresses"
    description = "Add/remove action not valid."


class EmailUpdateRefused(ApiError):
    code, status, message = 1174, 403, "Email update is not allowed"
    description = "Account already has an email; use the email operations."


class PasswordNotAcceptable(ApiError):
    code, status, message = 1015, 403, "The new password is invalid"
    description = "New password not acceptable."


class NewPasswordBreached(ApiError):
    code, status, message = 1315, 403, "The password you're trying to set is exposed in an external data breach"
    description = "New password found in a breach list."


class RegistrationOff(ApiError):
    code, status, message = 1190, 403, "Registration disabled"
    description = "Registration is off."


class EmailDomainRefused(ApiError):
    code, status, message = 1247, 403, "Email id domain is not allowed to register"
    description = "Email domain refused by the tenant."


class EmailRefused(ApiError):
    code, status, message = 1056, 403, "Email is not allowed to register"
    description = "Address is on the tenant's refuse list."


class NoEmailToInvalidate(ApiError):
    code, status = 1113, 403
    message = "The profile cannot be enforced to invalidate the email verification."
    description = "Account has no email profile."


class EmailUnverifiedBefore(ApiError):
    code, status = 1115, 403
    message = "The profile cannot be enforced to invalidate the email verification."
    description = "Address is unverified already."


class NoPhoneToInvalidate(ApiError):
    code, status = 1147, 403
    message = "The profile cannot be enforced to invalidate the phone verification."
    description = "Account has no phone."


class PhoneUnverifiedBefore(ApiError):
    code, status, message = 1161, 403, "This phone number is already unverified"
    description = "Phone is unverified already."


class EmailOrUsernameMissing(ApiError):
    code, status, message = 1141, 400, "Email address or username is required"
    description = "Email or username needed."


class EmailOrPhoneMissing(ApiError):
    code, status, message = 1189, 403, "Email Id or Phone number is required"
    description = "Email or phone needed."
