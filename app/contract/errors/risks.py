"""Errors of risk checks (interface mfa.md section 9)."""

from app.kit.errors import ApiError


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
