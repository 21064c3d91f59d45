"""Errors of a sign-in, of a session and of risk checks (interface mfa.md section 9)."""

from app.kit.errors import ApiError


class UnknownAccount(ApiError):
    code, status, message = 938, 403, "User does not exist"
    description = "No such account."


class WrongCredentials(ApiError):
    code, status, message = 966, 401, "Invalid user ID and/or password"
    description = "Identifier and password do not match."


class WrongCurrentPassword(ApiError):
    code, status, message = 967, 401, "Current password is invalid"
    description = "Current password does not match."


class EmailUnverified(ApiError):
    code, status, message = 970, 403, "Email is not verified"
    description = "Address not verified yet; mail sent again."


class PhoneUnverified(ApiError):
    code, status, message = 1066, 403, "Phone number is not verified"
    description = "Phone not verified."


class AccountBlocked(ApiError):
    code, status, message = 991, 403, "Your account is blocked"
    description = "Account blocked by an administrator or by lockout type Block."


class LoginDisabled(ApiError):
    code, status, message = 1130, 403, "Login services have been disabled for your account"
    description = "Login switched off for this account."


class LockedForCaptcha(ApiError):
    code, status, message = 1132, 403, "Your account has been locked"
    description = "Account locked; repeat with a captcha answer."


class LockedForSecurityQuestion(ApiError):
    code, status, message = 1148, 403, "Your account has been locked"
    description = "Account locked; repeat with a security answer."


class LockedForAWhile(ApiError):
    code, status, message = 1198, 403, "Your account has been locked"
    description = "Locked for a while; Data has LoginLockedTimeout."


class LockedDuringStep(ApiError):
    code, status, message = 1264, 403, "Account has been locked"
    description = "Locked during a later step; start again at login."


class PhoneLoginOff(ApiError):
    code, status, message = 1074, 403, "Phone number login is not enabled"
    description = "Phone login is off."


class PhoneLoginOn(ApiError):
    code, status, message = 1077, 403, "Phone number login is enabled"
    description = "Phone login is on, so email login or lookup is refused."


class UsernameLoginOn(ApiError):
    code, status, message = 1183, 403, "UserName authentication is enabled"
    description = "Username login is on; email and phone refused."


class UsernameLoginOff(ApiError):
    code, status, message = 1238, 403, "UserName authentication is not enabled"
    description = "Username login is off."


class PrivacyPolicyOutdated(ApiError):
    code, status, message = 1194, 403, "Privacy policy does not match"
    description = "The newest privacy policy is not accepted. Data holds an access token to accept it with."


class TooManySessions(ApiError):
    code, status, message = 1338, 403, "Exceeded active login session limit"
    description = "Too many live sessions; log out elsewhere first."


class PasswordBreached(ApiError):
    code, status, message = 1316, 403, "Your password is exposed in an external data breach"
    description = "Current password found in a breach list; mail sent."


class PasswordResetMailed(ApiError):
    code, status, message = 1317, 403, "Please reset your password via the email we sent you"
    description = "Current password breached earlier; reset first."


class LoginNotAllowed(ApiError):
    code, status, message = 1220, 403, "Account is not allowed to login"
    description = "Account may not log in here."


class WrongCaptcha(ApiError):
    code, status, message = 982, 403, "CAPTCHA is invalid"
    description = "Captcha answer rejected."


class WrongSecondCaptcha(ApiError):
    code, status, message = 1218, 403, "CAPTCHA is invalid"
    description = "Captcha answer rejected (second provider)."


class UnknownSecurityQuestion(ApiError):
    code, status, message = 1091, 403, "Security question is invalid"
    description = "Question id unknown."


class WrongSecurityAnswer(ApiError):
    code, status, message = 1093, 403, "Your security answer is incorrect"
    description = "Answer wrong."


class WrongQuestionOrAnswer(ApiError):
    code, status, message = 1094, 403, "Your security answer or question is incorrect"
    description = "Question or answer wrong."


class WrongRefreshToken(ApiError):
    code, status, message = 1217, 403, "Refresh token invalid"
    description = "Refresh token unknown, used or revoked."


class SessionExpired(ApiError):
    code, status, message = 1055, 403, "Session has expired"
    description = "No live session for the user."


class ProfileIdMissing(ApiError):
    code, status, message = 1061, 400, "Profile ID is missing"
    description = "Profile id absent."


class WrongRequestToken(ApiError):
    code, status, message = 903, 403, "Request token is invalid"
    description = "Request token not valid."


class ExpiredRequestToken(ApiError):
    code, status, message = 904, 403, "Request token has expired"
    description = "Request token past its life."


class MailLimitReached(ApiError):
    code, status, message = 1122, 403, "You have reached a limit for sending emails"
    description = "Mail limit of the account reached."


class SmsLimitReached(ApiError):
    code, status, message = 1123, 403, "You have reached a limit for sending SMS"
    description = "SMS limit of the account reached."


class NoSmsConfiguration(ApiError):
    code, status, message = 1071, 403, "The SMS configuration does not exist"
    description = "No SMS configuration."


class DelegationFailed(ApiError):
    """Passwords are stored by this service alone."""

    code, status, message = 1215, 403, "An error has occurred at the cloud api end"
    description = "Password-delegation service failed: none is configured."


class VoiceOtpOff(ApiError):
    code, status, message = 1281, 403, "Voice OTP has not been configured"
    description = "Voice OTP not set up."


class SharedSmsLimitReached(ApiError):
    code, status, message = 1149, 403, "Your default Configured SMS Sending Limit Exceed"
    description = "Shared SMS quota used up."


class NoPrivacyPolicy(ApiError):
    code, status, message = 1195, 403, "Privacy policy is not available"
    description = "Tenant has no privacy policy."


class SessionLimitOff(ApiError):
    code, status, message = 1339, 403, "Restrict Login Sharing feature not enabled"
    description = "Session restriction is off."


class RiskBlocked(ApiError):
    code, status, message = 1164, 403, "Your account has been blocked due to suspicious activity"
    description = "Risk check: blocked."


class RiskAsksQuestions(ApiError):
    code, status, message = 1165, 403, "Please answer the security question's to secure your account"
    description = "Risk check: answer the questions."


class RiskMailedCode(ApiError):
    code, status, message = 1166, 403, "A verification code has been sent to your email"
    description = "Risk check: code mailed."


class RiskTextedCode(ApiError):
    code, status, message = 1167, 403, "A verification code has been sent to your phone"
    description = "Risk check: code sent by SMS."


class NewBrowser(ApiError):
    code, status, message = 1168, 403, "Login attempt from a new browser is detected"
    description = "Risk check: new browser."


class NewCity(ApiError):
    code, status, message = 1169, 403, "Login attempt from a new city is detected"
    description = "Risk check: new city."


class NewCountry(ApiError):
    code, status, message = 1170, 403, "Login attempt from a new country is detected"
    description = "Risk check: new country."


class NewAddress(ApiError):
    code, status, message = 1171, 403, "Login attempt from a new ip is detected"
    description = "Risk check: new IP."


class NewDevice(ApiError):
    code, status, message = 1287, 403, "Login attempt from a new device is detected"
    description = "Risk check: new device."
