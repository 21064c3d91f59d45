"""Errors of captchas."""

from app.kit.operations.errors import ApiError


class WrongCaptcha(ApiError):
    code, status, message = 982, 403, "CAPTCHA is invalid"
    description = "The captcha is wrong or missing. Solve a new one."
    remedy = "Tencent’s captcha has a code of its own, 1218."


class WrongSecondCaptcha(ApiError):
    code, status, message = 1218, 403, "CAPTCHA is invalid"
    description = "The captcha is wrong or missing. Solve a new one."
    remedy = "It’s Tencent’s captcha; the others answer 982."
