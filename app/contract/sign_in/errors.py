"""Errors of a sign-in, of its captchas and of risk checks."""

from app.kit.operations.errors import ApiError


class UnknownAccount(ApiError):
    code, status, message = 938, 403, "User does not exist"
    description = "There’s no account with this email address, username or phone number."


class WrongCredentials(ApiError):
    code, status, message = 966, 401, "Invalid user ID and/or password"
    description = "The password doesn’t match, or there’s no such account. Check both, then try again."


class WrongCurrentPassword(ApiError):
    code, status, message = 967, 401, "Current password is invalid"
    description = "The current password is wrong."


class EmailUnverified(ApiError):
    code, status, message = 970, 403, "Email is not verified"
    description = (
        "The email address isn’t verified. A new verification email was sent; verify the address, then sign in."
    )


class PhoneUnverified(ApiError):
    code, status, message = 1066, 403, "Phone number is not verified"
    description = "The phone number isn’t verified. Verify it with the texted code first."


class AccountBlocked(ApiError):
    code, status, message = 991, 403, "Your account is blocked"
    description = "The account is blocked. Your server can unblock it: set IsActive to true and IsLoginLocked to false."


class LoginDisabled(ApiError):
    code, status, message = 1130, 403, "Login services have been disabled for your account"
    description = "Sign-in is switched off for this account. Your server can switch it on: set DisableLogin to false."


class LockedForCaptcha(ApiError):
    code, status, message = 1132, 403, "Your account has been locked"
    description = "Too many failed attempts. Repeat the request with a solved captcha."


class LockedForSecurityQuestion(ApiError):
    code, status, message = 1148, 403, "Your account has been locked"
    description = "Too many failed attempts. Repeat the request with the answer to a security question."


class LockedForAWhile(ApiError):
    code, status, message = 1198, 403, "Your account has been locked"
    description = "Too many failed attempts. Try again after LoginLockedTimeout, which is in Data."


class LockedDuringStep(ApiError):
    code, status, message = 1264, 403, "Account has been locked"
    description = "The account was locked after too many failed attempts. Start the sign-in again."


class PhoneLoginOff(ApiError):
    code, status, message = 1074, 403, "Phone number login is not enabled"
    description = "Sign-in by phone number is off for this tenant."


class PhoneLoginOn(ApiError):
    code, status, message = 1077, 403, "Phone number login is enabled"
    description = "Accounts of this tenant sign in by phone number. Send phone instead of email."


class UsernameLoginOn(ApiError):
    code, status, message = 1183, 403, "UserName authentication is enabled"
    description = "Accounts of this tenant sign in by username. Send username instead."


class UsernameLoginOff(ApiError):
    code, status, message = 1238, 403, "UserName authentication is not enabled"
    description = "Sign-in by username is off for this tenant."


class PrivacyPolicyOutdated(ApiError):
    code, status, message = 1194, 403, "Privacy policy does not match"
    description = "The account hasn’t accepted the current privacy notice. Accept it with the access token in Data."


class PasswordBreached(ApiError):
    code, status, message = 1316, 403, "Your password is exposed in an external data breach"
    description = "The password is in a list of stolen passwords. A reset email was sent; set a new password with it."


class PasswordResetMailed(ApiError):
    code, status, message = 1317, 403, "Please reset your password via the email we sent you"
    description = "The password must be reset. Set a new one with the email that was sent."


class LoginNotAllowed(ApiError):
    code, status, message = 1220, 403, "Account is not allowed to login"
    description = "The account may not sign in to this application."


class UnknownSecurityQuestion(ApiError):
    code, status, message = 1091, 403, "Security question is invalid"
    description = "There’s no security question with this ID."


class WrongSecurityAnswer(ApiError):
    code, status, message = 1093, 403, "Your security answer is incorrect"
    description = "The answer is wrong."


class WrongQuestionOrAnswer(ApiError):
    code, status, message = 1094, 403, "Your security answer or question is incorrect"
    description = "A security question or its answer is wrong."


class ProfileIdMissing(ApiError):
    code, status, message = 1061, 400, "Profile ID is missing"
    description = "Send the profile ID."


class DelegationFailed(ApiError):
    """Passwords are stored by this service alone."""

    code, status, message = 1215, 403, "An error has occurred at the cloud api end"
    description = "Another service can’t check the password. Repeat the request without passworddelegation."


class NoPrivacyPolicy(ApiError):
    code, status, message = 1195, 403, "Privacy policy is not available"
    description = "The tenant has no privacy notice."


class RiskBlocked(ApiError):
    code, status, message = 1164, 403, "Your account has been blocked due to suspicious activity"
    description = "The sign-in looked suspicious, so Gatehouse blocked the account. Your server can unblock it: set IsActive to true."


class RiskAsksQuestions(ApiError):
    code, status, message = 1165, 403, "Please answer the security question's to secure your account"
    description = "The sign-in is unusual. Repeat it with the answers to the security questions."


class RiskMailedCode(ApiError):
    code, status, message = 1166, 403, "A verification code has been sent to your email"
    description = "The sign-in is unusual. A code was emailed to the account; continue with it."


class RiskTextedCode(ApiError):
    code, status, message = 1167, 403, "A verification code has been sent to your phone"
    description = "The sign-in is unusual. A code was texted to the account; continue with it."


class NewBrowser(ApiError):
    code, status, message = 1168, 403, "Login attempt from a new browser is detected"
    description = "The account has never signed in from this browser, and the tenant refuses such sign-ins."


class NewCity(ApiError):
    code, status, message = 1169, 403, "Login attempt from a new city is detected"
    description = "The account has never signed in from this city, and the tenant refuses such sign-ins."


class NewCountry(ApiError):
    code, status, message = 1170, 403, "Login attempt from a new country is detected"
    description = "The account has never signed in from this country, and the tenant refuses such sign-ins."


class NewAddress(ApiError):
    code, status, message = 1171, 403, "Login attempt from a new ip is detected"
    description = "The account has never signed in from this IP address, and the tenant refuses such sign-ins."


class NewDevice(ApiError):
    code, status, message = 1287, 403, "Login attempt from a new device is detected"
    description = "The account has never signed in from this device, and the tenant refuses such sign-ins."


class WrongCaptcha(ApiError):
    code, status, message = 982, 403, "CAPTCHA is invalid"
    description = "The captcha is wrong or missing. Solve a new one."
    remedy = "Tencent’s captcha has a code of its own, 1218."


class WrongSecondCaptcha(ApiError):
    code, status, message = 1218, 403, "CAPTCHA is invalid"
    description = "The captcha is wrong or missing. Solve a new one."
    remedy = "It’s Tencent’s captcha; the others answer 982."
