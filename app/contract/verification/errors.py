"""Errors of links and codes, and of those that a tenant's server delivers itself."""

from app.kit.operations.errors import ApiError


class WrongVerificationLink(ApiError):
    code, status, message = 973, 403, "Invalid email verification link"
    description = "The verification link is wrong. Request a new one."


class UsedLink(ApiError):
    code, status, message = 974, 403, "The email verification link has already been used"
    description = "The link was used before. Request a new one if you still need it."


class ExpiredLink(ApiError):
    code, status, message = 975, 403, "Your verification link has expired"
    description = "The link has expired. Request a new one."


class ClosedLink(ApiError):
    code, status, message = 979, 403, "The link cannot be accessed"
    description = "The link has expired or was used. Request a new one."


class UnknownLink(ApiError):
    code, status, message = 1063, 403, "Verification token (vtoken) is invalid"
    description = "The link’s token is wrong or was replaced by a newer one. Request a new one."


class EmailAlreadyVerified(ApiError):
    code, status, message = 1025, 403, "This email address is already verified"
    description = "The email address is verified already. No email was sent."


class EmailVerifiedBefore(ApiError):
    code, status, message = 1126, 403, "Email has already been verified"
    description = "The email address is already verified."


class EmailVerificationOff(ApiError):
    code, status = 1034, 403
    message = "Verification emails cannot be sent, as the email verification option is disabled for your site"
    description = "Email verification is off for this tenant."


class EmailCodesOff(ApiError):
    code, status, message = 1237, 403, "OTP email verification is not enabled"
    description = "Email verification by code is off for this tenant. Verify with the emailed link."


class VerificationUrlRefused(ApiError):
    code, status, message = 1249, 403, "The VerificationUrl URL is invalid"
    description = "verificationurl isn’t an allowed return address. Add it to the tenant’s list."


class WrongClientGuid(ApiError):
    code, status, message = 1140, 403, "Client GUID is invalid"
    description = "The client GUID is unknown or has expired. Start the sign-in again."


class WrongSmsCode(ApiError):
    code, status, message = 1067, 403, "Invalid OTP Code"
    description = "The code is wrong. Check it, or request a new one."
    remedy = "It came by text message."


class UsedSmsCode(ApiError):
    code, status, message = 1068, 403, "The OTP has already been used"
    description = "The code was used before. Request a new one."
    remedy = "It came by text message."


class ExpiredSmsCode(ApiError):
    code, status, message = 1069, 403, "Verification OTP has expired"
    description = "The code has expired. Request a new one."
    remedy = "It came by text message."


class ClosedSmsCode(ApiError):
    code, status, message = 1070, 403, "The OTP cannot be accessed"
    description = "The code stopped working after too many wrong attempts, or because a newer code replaced it. Request a new one."
    remedy = "It came by text message."


class WrongMailCode(ApiError):
    code, status, message = 1185, 403, "Verification OTP is invalid"
    description = "The code is wrong. Check it, or request a new one."
    remedy = "It came by email."


class UsedMailCode(ApiError):
    code, status, message = 1186, 403, "The email verification OTP has already been used"
    description = "The code was used before. Request a new one."
    remedy = "It came by email."


class ExpiredMailCode(ApiError):
    code, status, message = 1187, 403, "Email verification OTP has expired"
    description = "The code has expired. Request a new one."
    remedy = "It came by email."


class ClosedMailCode(ApiError):
    code, status, message = 1188, 403, "Invalid email verification OTP"
    description = "The code stopped working after too many wrong attempts, or because a newer code replaced it. Request a new one."
    remedy = "It came by email."


class WrongTokenType(ApiError):
    code, status, message = 1181, 403, "You have entered an invalid token type"
    description = "There’s no such token type. Use one that the path parameter lists."


class WrongCodeType(ApiError):
    code, status, message = 1182, 403, "You have entered an invalid sms otp type"
    description = "There’s no such code type. Use one that the path parameter lists."


class CodeLimitReached(ApiError):
    code, status, message = 1179, 403, "You have reached a limit for generating OTP"
    description = "Too many codes were created for this account. Try again later."


class PhoneVerifiedBefore(ApiError):
    code, status, message = 1073, 403, "This phone number has already been confirmed"
    description = "The phone number is verified already."
