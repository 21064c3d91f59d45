"""Captchas: which one counts for whom, and whether it was solved. Sign-in asks; registration and mails ask alike.

Where the tenant chose a provider, its answer counts. On our own pages a question of ours counts as well, unless the tenant
turns that off: they work without scripts, and while the provider does not. It is answered in words then, never by work:
so the limit of answers in words bounds what goes past the provider (decisions/0041).
"""

from __future__ import annotations

import logging
from datetime import timedelta

from app.contract import errors as e
from app.contract.captcha import CaptchaAnswer, Challenge, Lock
from app.contract.configuration import Captcha
from app.identity.call import Call
from app.identity.captcha import own, spent
from app.identity.captcha.answers import Shown, of_form, of_parameters
from app.identity.captcha.own import challenge as own_challenge
from app.identity.providers.captcha import PROVIDERS, Asked, CaptchaUnavailable
from app.identity.tenants import changes
from app.kit.errors import ApiError

log = logging.getLogger("gatehouse.identity")

_REMEMBERED = timedelta(hours=1)  # providers take an answer for some minutes at most


def challenge(call: Call) -> Challenge | None:
    """Return a challenge for whoever calls; None where only the provider's counts."""
    return own_challenge(call) if _takes_own(call) else None


def demand(call: Call, shown: Shown) -> None:
    """Let those pass who solved a captcha; each answer opens once. Only while nothing is written: it may call out.

    Raises:
        WrongCaptcha, WrongSecondCaptcha: not solved, used before, over, or another tenant's. Where our own captcha counts,
            the data is a `contract.captcha.Lock` that has the next challenge.
        TooManyRequests: too many answers in words from this address.
        CaptchaUnavailable: the provider cannot tell and nothing else counts; answered with 503.
    """
    chosen = call.tenant.settings.captcha
    answer = _of_provider(chosen, shown)
    if answer or not _takes_own(call):
        is_solved = _believes(call, chosen, answer, shown.randstr)
    else:
        is_solved = shown.own is not None and own.is_solved(call, _weighed(chosen, shown.own))
    if not is_solved:
        raise _refusal(call, chosen)


def _takes_own(call: Call) -> bool:
    chosen = call.tenant.settings.captcha
    return chosen.provider == "own" or (call.visit is not None and chosen.fallback)


def _weighed(chosen: Captcha, given: CaptchaAnswer) -> CaptchaAnswer:
    return given if chosen.provider == "own" else given.model_copy(update={"work": ""})


def _of_provider(chosen: Captcha, shown: Shown) -> str:
    if chosen.provider == "own":
        return ""
    if chosen.provider == "tencent":
        return shown.ticket
    return shown.hcaptcha if chosen.provider == "hcaptcha" else shown.recaptcha


def _believes(call: Call, chosen: Captcha, answer: str, randstr: str) -> bool:
    """Return whether the provider does, for the first time; where it cannot tell, a page goes on to our own question."""
    if not answer:
        return False
    call.work.pause()
    try:
        is_solved = PROVIDERS[chosen.provider].is_solved(_asked(call, chosen, answer, randstr))
    except CaptchaUnavailable as problem:
        if not _takes_own(call):
            raise
        log.warning("a page asks our own question instead: %s", problem)
        return False
    return is_solved and spent.spend(call, f"{chosen.provider} {answer}", _REMEMBERED)


def _asked(call: Call, chosen: Captcha, answer: str, randstr: str) -> Asked:
    sealed = call.tenant.sealed_captcha_secret
    if sealed is None:
        raise CaptchaUnavailable(f"the tenant has no captcha_secret for {chosen.provider}")
    secret = call.house.vault.open(sealed, changes.captcha_context(call.tenant.tenant_id)).decode()
    url = dict(call.house.settings.captcha_urls).get(chosen.provider, "")
    return Asked(answer, chosen.site_key, secret, chosen.threshold, call.address, randstr, url)


def _refusal(call: Call, chosen: Captcha) -> ApiError:
    is_second = chosen.provider == "tencent" and call.visit is None
    refusal: ApiError = e.WrongSecondCaptcha() if is_second else e.WrongCaptcha()
    if (asked := challenge(call)) is not None:
        refusal.data = Lock(captcha=asked).told()
    return refusal


__all__ = ["Shown", "challenge", "demand", "of_form", "of_parameters", "own_challenge"]
