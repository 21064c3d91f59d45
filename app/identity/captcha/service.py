"""Captchas: which one counts for whom, and whether it was solved. Sign-in asks; registration and mails ask alike.

Our own pages always ask our own challenge, because they fetch nothing from elsewhere and work without scripts. Programs
bring the answer of the provider that the tenant chose.
"""

from __future__ import annotations

from datetime import timedelta

from app.contract import errors as e
from app.contract.captcha import Challenge, Lock
from app.contract.configuration import Captcha
from app.identity.call import Call
from app.identity.captcha import own, spent
from app.identity.captcha.answers import Shown, of_form, of_parameters
from app.identity.captcha.own import challenge as own_challenge
from app.identity.providers.captcha import PROVIDERS, Asked, CaptchaUnavailable
from app.identity.tenants import changes
from app.kit.errors import ApiError

_REMEMBERED = timedelta(hours=1)  # providers take an answer for some minutes at most


def challenge(call: Call) -> Challenge | None:
    """Return a challenge for whoever calls; None where the provider shows its own."""
    return own_challenge(call) if _is_own(call) else None


def demand(call: Call, shown: Shown) -> None:
    """Let those pass who solved a captcha; each answer opens once. Only while nothing is written: it may call out.

    Raises:
        WrongCaptcha, WrongSecondCaptcha: not solved, used before, over, or another tenant's. With our own captcha the
            data is a `contract.captcha.Lock` that has the next challenge.
        TooManyRequests: too many answers in words from this address.
        CaptchaUnavailable: the provider cannot tell; answered with 503.
    """
    if _is_own(call):
        if shown.own is None or not own.is_solved(call, shown.own):
            raise e.WrongCaptcha(data=Lock(captcha=own_challenge(call)).told())
        return
    chosen = call.tenant.settings.captcha
    answer = _of_provider(chosen, shown)
    call.work.pause()
    if not answer or not PROVIDERS[chosen.provider].is_solved(_asked(call, chosen, answer, shown.randstr)):
        raise _refusal(chosen)
    if not spent.spend(call, f"{chosen.provider} {answer}", _REMEMBERED):
        raise _refusal(chosen)


def _is_own(call: Call) -> bool:
    return call.visit is not None or call.tenant.settings.captcha.provider == "own"


def _of_provider(chosen: Captcha, shown: Shown) -> str:
    if chosen.provider == "tencent":
        return shown.ticket
    return shown.hcaptcha if chosen.provider == "hcaptcha" else shown.recaptcha


def _asked(call: Call, chosen: Captcha, answer: str, randstr: str) -> Asked:
    sealed = call.tenant.sealed_captcha_secret
    if sealed is None:
        raise CaptchaUnavailable(f"the tenant has no captcha_secret for {chosen.provider}")
    secret = call.house.vault.open(sealed, changes.captcha_context(call.tenant.tenant_id)).decode()
    url = dict(call.house.settings.captcha_urls).get(chosen.provider, "")
    return Asked(answer, chosen.site_key, secret, chosen.threshold, call.address, randstr, url)


def _refusal(chosen: Captcha) -> ApiError:
    return e.WrongSecondCaptcha() if chosen.provider == "tencent" else e.WrongCaptcha()


__all__ = ["Shown", "challenge", "demand", "of_form", "of_parameters", "own_challenge"]
