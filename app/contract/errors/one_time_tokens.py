"""Errors of links and codes, and of those that a tenant's server delivers itself."""

from app.kit.errors import ApiError


class WrongVerificationLink(ApiError):
    code, status, message = 973, 403, "Invalid email verification link"
    description = "Verification link unknown."


class UsedLink(ApiError):
    code, status, message = 974, 403, "The email verification link has already been used"
    description = "Verification link used before."


class ExpiredLink(ApiError):
    code, status, message = 975, 403, "Your verification link has expired"
    description = "Verification link past its life."


class ClosedLink(ApiError):
    code, status, message = 979, 403, "The link cannot be accessed"
    description = "Link expired or used."


class UnknownLink(ApiError):
    code, status, message = 1063, 403, "Verification token (vtoken) is invalid"
    description = "Verification token unknown."


class EmailAlreadyVerified(ApiError):
    code, status, message = 1025, 403, "This email address is already verified"
    description = "Address confirmed before; no mail sent."


class EmailVerifiedBefore(ApiError):
    code, status, message = 1126, 403, "Email has already been verified"
    description = "Address verified before; no token made."


class EmailVerificationOff(ApiError):
    code, status = 1034, 403
    message = "Verification emails cannot be sent, as the email verification option is disabled for your site"
    description = "Email verification is off."


class EmailCodesOff(ApiError):
    code, status, message = 1237, 403, "OTP email verification is not enabled"
    description = "OTP mode of email verification is off."


class VerificationUrlRefused(ApiError):
    code, status, message = 1249, 403, "The VerificationUrl URL is invalid"
    description = "verificationurl not on the allow-list."


class WrongClientGuid(ApiError):
    code, status, message = 1140, 403, "Client GUID is invalid"
    description = "Client GUID unknown or expired."


class WrongSmsCode(ApiError):
    code, status, message = 1067, 403, "Invalid OTP Code"
    description = "OTP wrong."


class UsedSmsCode(ApiError):
    code, status, message = 1068, 403, "The OTP has already been used"
    description = "OTP used before."


class ExpiredSmsCode(ApiError):
    code, status, message = 1069, 403, "Verification OTP has expired"
    description = "OTP past its life."


class ClosedSmsCode(ApiError):
    code, status, message = 1070, 403, "The OTP cannot be accessed"
    description = "OTP expired or used."


class WrongMailCode(ApiError):
    code, status, message = 1185, 403, "Verification OTP is invalid"
    description = "OTP not valid."


class UsedMailCode(ApiError):
    code, status, message = 1186, 403, "The email verification OTP has already been used"
    description = "Email OTP used before."


class ExpiredMailCode(ApiError):
    code, status, message = 1187, 403, "Email verification OTP has expired"
    description = "Email OTP past its life."


class ClosedMailCode(ApiError):
    code, status, message = 1188, 403, "Invalid email verification OTP"
    description = "Email OTP void after too many wrong tries, or replaced by a newer one."


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
