"""Errors of second factors, their enrolment and step-up."""

from app.kit.operations.errors import ApiError


class FactorError(ApiError):
    """An error of one authenticator, which the operations of all of them may answer."""


class TwoFactorOff(ApiError):
    code, status, message = 1097, 403, "Two factor authentication is not enabled"
    description = "Second factors are off for this tenant. Sign in with POST /identity/v2/auth/login."


class NoTwoFactorMethod(ApiError):
    code, status, message = 1098, 403, "Two-factor authentication is not configured"
    description = "Second factors are on, but none is available. Switch one on in the second factor settings."


class TotpNotEnrolled(FactorError):
    code, status, message = 1099, 403, "Two-factor authenticator is not configured"
    description = "The account has no authenticator app, or authenticator apps are off."


class TotpOff(FactorError):
    code, status, message = 1279, 403, "The authenticator method is not enabled for two-factor authentication"
    description = "Authenticator apps are off for this tenant."


class WrongTotpCode(FactorError):
    code, status, message = 1102, 403, "The two-factor authenticator code is incorrect"
    description = "The code is wrong or was used before. Enter the code that the app shows now."


class SmsFactorOff(FactorError):
    code, status, message = 1100, 403, "OTP two factor authentication is not enabled"
    description = "Text messages as a second factor are off for this tenant."
    remedy = "Choose another factor, or turn it on in the second factor settings."


class SmsFactorOffAtLogin(ApiError):
    code, status, message = 1277, 403, "OTP two factor authentication is not enabled"
    description = "Text messages as a second factor are off for this tenant."
    remedy = "It was turned off after this sign-in began. Answer the challenge with another factor."


class NoSecondFactor(ApiError):
    code, status, message = 1101, 403, "Two factor authentication is not configured for this profile"
    description = "The account has no second factor."


class UnknownFactorToken(ApiError):
    code, status, message = 1103, 403, "Two factor authentication token is invalid"
    description = "The second factor token is wrong or was used. Start the sign-in again."


class ExpiredFactorToken(ApiError):
    code, status, message = 1104, 403, "Two factor authentication token has expired"
    description = "The second factor token has expired. Start the sign-in again."


class FactorCodeMissing(ApiError):
    code, status, message = 1105, 403, "At least one verification code is required"
    description = "Send the verification code."
    remedy = "The operation sets up or answers a second factor."


class FactorRemovalRefused(ApiError):
    code, status, message = 1121, 403, "This is not valid request for removing two factor authentication"
    description = "The body doesn’t name a second factor. Send authenticator or otpauthenticator as true."


class BackupCodesMade(ApiError):
    code, status, message = 1127, 403, "Two factor authentication backup code is already generated"
    description = "The account has backup codes already. Replace them with the reset operation."


class NoBackupCodes(FactorError):
    code, status, message = 1128, 403, "Two factor authentication backup code is not configured"
    description = "The account has no backup codes."


class WrongBackupCode(FactorError):
    code, status, message = 1129, 403, "Two factor authentication backup code is not valid or has already been used"
    description = "The backup code is wrong or was used before."


class TwoFactorOn(ApiError):
    code, status, message = 1176, 403, "Two factor authentication is enabled"
    description = "Second factors are on for this tenant. Sign in with POST /identity/v2/auth/login/2fa."


class StepUpOff(ApiError):
    code, status, message = 1191, 403, "Event Based two factor authentication is not enabled"
    description = "Step-up is off for this tenant."


class StepUpCodeMissing(ApiError):
    code, status, message = 1192, 403, "At least one verification code is required"
    description = "Send the verification code."
    remedy = "The operation confirms a signed-in account."


class WrongValidationToken(ApiError):
    code, status, message = 1193, 403, "Two factor validation token is invalid"
    description = "The validation token is wrong, was used or has expired. Step up again."


class WrongStepUpPassword(ApiError):
    code, status, message = 1205, 401, "Invalid password"
    description = "The password is wrong."


class FactorPhoneFixed(ApiError):
    code, status, message = 1250, 403, "Invalid request to update the phone number for two-factor authentication."
    description = (
        "The account has a second factor already. Answer with it, then change the phone number in the account."
    )


class EmailFactorOff(FactorError):
    code, status, message = 1256, 403, "Email OTP two factor authentication is not enabled"
    description = "Email as a second factor is off for this tenant."


class QuestionFactorOff(FactorError):
    code, status, message = 1257, 403, "Security question two factor authentication is not enabled"
    description = "Security questions as a second factor are off for this tenant."


class FactorEnrolledBefore(ApiError):
    code, status, message = 1258, 403, "One of the two factor authentication method is already enabled"
    description = "The account has a second factor already. Answer the challenge with it."


class QuestionFactorNotEnrolled(FactorError):
    code, status, message = 1259, 403, "Security question two factor authentication is not verified on the profile"
    description = "The account has no security questions as a second factor."


class TooFewAnswers(FactorError):
    code, status, message = 1260, 403, "Minimum required security questions answers not provided"
    description = "Answer as many security questions as the tenant requires."


class VerificationDenied(ApiError):
    code, status, message = 1278, 403, "Verification has been denied."
    description = "User pressed No."


class PushPending(FactorError):
    code, status, message = 1295, 403, "Push Notification Verification Pending"
    description = "The device hasn’t answered yet. Poll again in 5 seconds."


class WrongPushToken(FactorError):
    code, status, message = 1296, 403, "Invalid Push Token"
    description = "The push token is wrong or has expired. Start the sign-in again."


class PushFailed(FactorError):
    code, status, message = 1297, 403, "Push Notification Verification Failed"
    description = "The device’s signature is wrong."


class PushMisconfigured(FactorError):
    code, status, message = 1298, 403, "Push Notification configuration error"
    description = "The push notification settings are incomplete."


class PushOff(FactorError):
    code, status, message = 1299, 403, "Push Notifications are not set up for Two-Factor Authentication"
    description = "Push notifications are off for this tenant."


class PushAnswered(FactorError):
    code, status, message = 1311, 403, "Push Notification Verification Already Done"
    description = "The push notification was answered already."


class PushDenied(FactorError):
    code, status, message = 1312, 403, "Push Notification Verification Denied"
    description = "The sign-in was denied on the device."


class PushNotEnrolled(FactorError):
    code, status = 1313, 403
    message = "Push notification as two factor authentication is not configured for this profile"
    description = "The account has no push device."


class DuoOff(FactorError):
    code, status, message = 1330, 403, "Duo Authenticator is not set up for two-factor authentication"
    description = "Duo is off for this tenant."


class DuoMisconfigured(FactorError):
    code, status, message = 1331, 403, "Duo Authenticator configuration error"
    description = "The Duo settings are wrong. Check the client ID, the secret and the API host."


class DuoFailed(FactorError):
    code, status, message = 1332, 403, "Duo Authenticator verification failed"
    description = "Duo didn’t confirm the sign-in."


class WrongDuoState(FactorError):
    code, status, message = 1333, 403, "Duo Authenticator state is not valid"
    description = "The state isn’t the one that started the Duo prompt. Start it again."


class DuoNotEnrolled(FactorError):
    code, status = 1334, 403
    message = "Duo Authenticator as two-factor authentication method is not configured for this profile"
    description = "The account doesn’t use Duo."


class DuoRedirectRefused(FactorError):
    code, status, message = 1335, 403, "Duo Authenticator redirect URI is not whitelisted"
    description = "duoredirecturi isn’t an allowed return address. Add it to the tenant’s list."


class MalformedDuoRedirect(FactorError):
    code, status, message = 1336, 403, "Duo Authenticator redirect URI is invalid"
    description = "duoredirecturi isn’t a valid address."


class SecurityQuestionExists(ApiError):
    code, status, message = 7948, 409, "Security question already exists"
    description = "There’s a security question with this text already."


class NoTotpSettings(ApiError):
    code, status, message = 7952, 404, "Authenticator settings not found"
    description = "The tenant has no settings for authenticator apps."


class NoPushSettings(ApiError):
    code, status, message = 8050, 404, "Push Notification settings not found or does not exist"
    description = "The push notification settings aren’t set. Create them first."
