"""Errors of second factors, their enrolment and step-up (interface mfa.md)."""

from app.kit.errors import ApiError


class TwoFactorOff(ApiError):
    code, status, message = 1097, 403, "Two factor authentication is not enabled"
    description = "MFA is off."


class NoTwoFactorMethod(ApiError):
    code, status, message = 1098, 403, "Two-factor authentication is not configured"
    description = "No MFA method is switched on."


class TotpNotEnrolled(ApiError):
    code, status, message = 1099, 403, "Two-factor authenticator is not configured"
    description = "Authenticator app not enrolled or not switched on."


class TotpOff(ApiError):
    code, status, message = 1279, 403, "The authenticator method is not enabled for two-factor authentication"
    description = "Authenticator factor is off."


class WrongTotpCode(ApiError):
    code, status, message = 1102, 403, "The two-factor authenticator code is incorrect"
    description = "Authenticator code wrong."


class SmsFactorOff(ApiError):
    code, status, message = 1100, 403, "OTP two factor authentication is not enabled"
    description = "SMS factor is off."


class SmsFactorOffAtLogin(ApiError):
    code, status, message = 1277, 403, "OTP two factor authentication is not enabled"
    description = "SMS factor is off."


class NoSecondFactor(ApiError):
    code, status, message = 1101, 403, "Two factor authentication is not configured for this profile"
    description = "User has no factor."


class UnknownFactorToken(ApiError):
    code, status, message = 1103, 403, "Two factor authentication token is invalid"
    description = "MFA token unknown."


class ExpiredFactorToken(ApiError):
    code, status, message = 1104, 403, "Two factor authentication token has expired"
    description = "MFA token past its life."


class FactorCodeMissing(ApiError):
    code, status, message = 1105, 403, "At least one verification code is required"
    description = "No code in the body."


class FactorRemovalRefused(ApiError):
    code, status, message = 1121, 403, "This is not valid request for removing two factor authentication"
    description = "Factor removal request wrong."


class BackupCodesMade(ApiError):
    code, status, message = 1127, 403, "Two factor authentication backup code is already generated"
    description = "Codes exist; use the reset operation."


class NoBackupCodes(ApiError):
    code, status, message = 1128, 403, "Two factor authentication backup code is not configured"
    description = "No backup codes set up."


class WrongBackupCode(ApiError):
    code, status, message = 1129, 403, "Two factor authentication backup code is not valid or has already been used"
    description = "Backup code wrong or used."


class TwoFactorOn(ApiError):
    code, status, message = 1176, 403, "Two factor authentication is enabled"
    description = "MFA is on; use the MFA login."


class StepUpOff(ApiError):
    code, status, message = 1191, 403, "Event Based two factor authentication is not enabled"
    description = "Step-up is off."


class StepUpCodeMissing(ApiError):
    code, status, message = 1192, 403, "At least one verification code is required"
    description = "No code in the step-up body."


class WrongValidationToken(ApiError):
    code, status, message = 1193, 403, "Two factor validation token is invalid"
    description = "Step-up token unknown."


class WrongStepUpPassword(ApiError):
    code, status, message = 1205, 401, "Invalid password"
    description = "Password wrong."


class FactorPhoneFixed(ApiError):
    code, status, message = 1250, 403, "Invalid request to update the phone number for two-factor authentication."
    description = "MFA phone can change only while no factor is enrolled."


class EmailFactorOff(ApiError):
    code, status, message = 1256, 403, "Email OTP two factor authentication is not enabled"
    description = "Email factor is off."


class QuestionFactorOff(ApiError):
    code, status, message = 1257, 403, "Security question two factor authentication is not enabled"
    description = "Question factor is off."


class FactorEnrolledBefore(ApiError):
    code, status, message = 1258, 403, "One of the two factor authentication method is already enabled"
    description = "A factor exists already."


class QuestionFactorNotEnrolled(ApiError):
    code, status, message = 1259, 403, "Security question two factor authentication is not verified on the profile"
    description = "Question factor not enrolled."


class TooFewAnswers(ApiError):
    code, status, message = 1260, 403, "Minimum required security questions answers not provided"
    description = "Too few answers."


class VerificationDenied(ApiError):
    code, status, message = 1278, 403, "Verification has been denied."
    description = "User pressed No."


class PushPending(ApiError):
    code, status, message = 1295, 403, "Push Notification Verification Pending"
    description = "Device has not answered yet; poll again."


class WrongPushToken(ApiError):
    code, status, message = 1296, 403, "Invalid Push Token"
    description = "Push token wrong or expired."


class PushFailed(ApiError):
    code, status, message = 1297, 403, "Push Notification Verification Failed"
    description = "Device signature wrong."


class PushMisconfigured(ApiError):
    code, status, message = 1298, 403, "Push Notification configuration error"
    description = "Push settings wrong."


class PushOff(ApiError):
    code, status, message = 1299, 403, "Push Notifications are not set up for Two-Factor Authentication"
    description = "Push factor is off."


class PushAnswered(ApiError):
    code, status, message = 1311, 403, "Push Notification Verification Already Done"
    description = "Push answered before."


class PushDenied(ApiError):
    code, status, message = 1312, 403, "Push Notification Verification Denied"
    description = "User pressed No."


class PushNotEnrolled(ApiError):
    code, status = 1313, 403
    message = "Push notification as two factor authentication is not configured for this profile"
    description = "Push factor not enrolled."


class DuoOff(ApiError):
    code, status, message = 1330, 403, "Duo Authenticator is not set up for two-factor authentication"
    description = "Duo factor is off."


class DuoMisconfigured(ApiError):
    code, status, message = 1331, 403, "Duo Authenticator configuration error"
    description = "Duo settings wrong."


class DuoFailed(ApiError):
    code, status, message = 1332, 403, "Duo Authenticator verification failed"
    description = "Duo check failed."


class WrongDuoState(ApiError):
    code, status, message = 1333, 403, "Duo Authenticator state is not valid"
    description = "Duo state wrong."


class DuoNotEnrolled(ApiError):
    code, status = 1334, 403
    message = "Duo Authenticator as two-factor authentication method is not configured for this profile"
    description = "Duo factor not enrolled."


class DuoRedirectRefused(ApiError):
    code, status, message = 1335, 403, "Duo Authenticator redirect URI is not whitelisted"
    description = "duoredirecturi not on the allow-list."


class MalformedDuoRedirect(ApiError):
    code, status, message = 1336, 403, "Duo Authenticator redirect URI is invalid"
    description = "duoredirecturi malformed."


class SecurityQuestionExists(ApiError):
    code, status, message = 7948, 409, "Security question already exists"
    description = "A similar question is configured."


class NoTotpSettings(ApiError):
    code, status, message = 7952, 404, "Authenticator settings not found"
    description = "The tenant has no settings of authenticator apps."


class NoPushSettings(ApiError):
    code, status, message = 8050, 404, "Push Notification settings not found or does not exist"
    description = "Not configured."
