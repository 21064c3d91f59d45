"""Captcha providers: one file each behind one protocol."""

from app.identity.credentials.captcha.providers import hcaptcha, recaptcha, tencent
from app.identity.credentials.captcha.providers.protocol import CaptchaProvider, CaptchaUnavailable, ProviderRequest

PROVIDERS: dict[str, CaptchaProvider] = {
    "recaptcha_v2": recaptcha.RecaptchaV2(),
    "recaptcha_v3": recaptcha.RecaptchaV3(),
    "hcaptcha": hcaptcha.HCaptcha(),
    "tencent": tencent.TencentCaptcha(),
}
"""By the name in a tenant's settings."""

__all__ = ["PROVIDERS", "ProviderRequest", "CaptchaProvider", "CaptchaUnavailable"]
