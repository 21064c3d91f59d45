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
from app.identity.credentials.captcha import built_in, used_answers
from app.identity.credentials.captcha.answers import SubmittedCaptcha, from_form, from_parameters
from app.identity.credentials.captcha.built_in import challenge as built_in_challenge
from app.identity.credentials.captcha.providers import PROVIDERS, CaptchaUnavailable, ProviderRequest
from app.identity.directory.tenants import changes
from app.identity.platform.context import Context
from app.kit.errors import ApiError

log = logging.getLogger("gatehouse.identity")

_REPLAY_WINDOW = timedelta(hours=1)  # providers take an answer for some minutes at most


def challenge(context: Context) -> Challenge | None:
    """Return a challenge for whoever calls; None where only the provider's counts."""
    return built_in_challenge(context) if _accepts_built_in(context) else None


def require_solved(context: Context, shown: SubmittedCaptcha) -> None:
    """Let those pass who solved a captcha; each answer opens once. Only while nothing is written: it may call out.

    Raises:
        WrongCaptcha, WrongSecondCaptcha: not solved, used before, over, or another tenant's. Where our own captcha counts,
            the data is a `contract.captcha.Lock` that has the next challenge.
        TooManyRequests: too many answers in words from this address.
        CaptchaUnavailable: the provider cannot tell and nothing else counts; answered with 503.
    """
    chosen = context.tenant.settings.captcha
    answer = _provider_answer(chosen, shown)
    if answer or not _accepts_built_in(context):
        is_solved = _is_accepted_by_provider(context, chosen, answer, shown.randstr)
    else:
        is_solved = shown.own is not None and built_in.is_solved(context, _as_allowed(chosen, shown.own))
    if not is_solved:
        raise _refusal(context, chosen)


def _accepts_built_in(context: Context) -> bool:
    chosen = context.tenant.settings.captcha
    return chosen.provider == "own" or (context.visit is not None and chosen.fallback)


def _as_allowed(chosen: Captcha, given: CaptchaAnswer) -> CaptchaAnswer:
    return given if chosen.provider == "own" else given.model_copy(update={"work": ""})


def _provider_answer(chosen: Captcha, shown: SubmittedCaptcha) -> str:
    if chosen.provider == "own":
        return ""
    if chosen.provider == "tencent":
        return shown.ticket
    return shown.hcaptcha if chosen.provider == "hcaptcha" else shown.recaptcha


def _is_accepted_by_provider(context: Context, chosen: Captcha, answer: str, randstr: str) -> bool:
    """Return whether the provider does, for the first time; where it cannot tell, a page goes on to our own question."""
    if not answer:
        return False
    context.work.release_connection()
    try:
        is_solved = PROVIDERS[chosen.provider].is_solved(_provider_request(context, chosen, answer, randstr))
    except CaptchaUnavailable as problem:
        if not _accepts_built_in(context):
            raise
        log.warning("a page asks our own question instead: %s", problem)
        return False
    return is_solved and used_answers.spend(context, f"{chosen.provider} {answer}", _REPLAY_WINDOW)


def _provider_request(context: Context, chosen: Captcha, answer: str, randstr: str) -> ProviderRequest:
    sealed = context.tenant.sealed_captcha_secret
    if sealed is None:
        raise CaptchaUnavailable(f"the tenant has no captcha_secret for {chosen.provider}")
    secret = context.services.encryption.decrypt(
        sealed, changes.captcha_associated_data(context.tenant.tenant_id)
    ).decode()
    url = dict(context.services.settings.captcha_urls).get(chosen.provider, "")
    return ProviderRequest(answer, chosen.site_key, secret, chosen.threshold, context.address, randstr, url)


def _refusal(context: Context, chosen: Captcha) -> ApiError:
    is_second = chosen.provider == "tencent" and context.visit is None
    refusal: ApiError = e.WrongSecondCaptcha() if is_second else e.WrongCaptcha()
    if (asked := challenge(context)) is not None:
        refusal.data = Lock(captcha=asked).to_data()
    return refusal


__all__ = ["SubmittedCaptcha", "challenge", "require_solved", "from_form", "from_parameters", "built_in_challenge"]
