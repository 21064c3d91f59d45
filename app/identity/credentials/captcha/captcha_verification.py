"""Captchas of sign-in, registration and emails: which response counts, and whether it is right.

If the tenant has a provider, its response counts. On hosted pages the built-in captcha counts too, unless the tenant disables that,
because it works where the widget does not: for people who cannot use it, without scripts, and during an outage of the provider.
A limit per address bounds what bypasses the provider (decision 0402).
"""

from __future__ import annotations

import logging
from datetime import timedelta

from app.contract import errors
from app.contract.captcha.models import CaptchaAnswer, CaptchaChallenge, CaptchaUse, LockChallenge
from app.contract.tenants.settings import Captcha
from app.identity.credentials.captcha import answers, built_in
from app.identity.credentials.captcha.answers import SubmittedCaptcha
from app.identity.credentials.captcha.providers import PROVIDERS, CaptchaUnavailable, ProviderRequest
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.context import Context
from app.kit.operations.errors import ApiError

log = logging.getLogger("gatehouse.identity")

_REPLAY_WINDOW = timedelta(hours=1)  # providers accept a response for some minutes at most


def challenge(context: Context, use: CaptchaUse) -> CaptchaChallenge | None:
    """Return a built-in challenge, or None if only the provider's response counts."""
    return built_in.challenge(context, use) if _accepts_built_in(context) else None


def require_solved(context: Context, use: CaptchaUse, submitted: SubmittedCaptcha) -> None:
    """Require a solved captcha for this use. Each response counts once. Call it before any write: it may call the provider.

    Raises:
        WrongCaptcha, WrongSecondCaptcha: not solved, used before, expired, or for another tenant or use. If the built-in
            captcha counts, the data is a `contract.captcha.Lock` with the next challenge.
        TooManyRequests: too many built-in captchas from this address, beside a provider.
        CaptchaUnavailable: the provider fails and nothing else counts; the response is 503.
    """
    settings = context.tenant.settings.captcha
    answer = _provider_answer(settings, submitted)
    if answer or not _accepts_built_in(context):
        is_solved = _is_accepted_by_provider(context, settings, answer, submitted.randstr)
    else:
        is_solved = submitted.own is not None and _is_solved_here(context, use, settings, submitted.own)
    if not is_solved:
        raise _refusal(context, use, settings)


def require_solved_at(context: Context, place: str, submitted: SubmittedCaptcha) -> None:
    """Require a solved captcha if the tenant shows one at `place`. Raises the errors of `require_solved`."""
    if place in context.tenant.settings.captcha_at:
        require_solved(context, CaptchaUse(place), submitted)


def _accepts_built_in(context: Context) -> bool:
    settings = context.tenant.settings.captcha
    return settings.provider == "own" or (context.visit is not None and settings.fallback)


def _is_solved_here(context: Context, use: CaptchaUse, settings: Captcha, answer: CaptchaAnswer) -> bool:
    if settings.provider != "own":
        limit = context.tenant.settings.limits.captcha_question_per_minute_per_address
        context.count_request("captcha_fallback", limit)
    return built_in.is_solved(context, use, answer)


def _provider_answer(settings: Captcha, submitted: SubmittedCaptcha) -> str:
    if settings.provider == "own":
        return ""
    if settings.provider == "tencent":
        return submitted.ticket
    return submitted.hcaptcha if settings.provider == "hcaptcha" else submitted.recaptcha


def _is_accepted_by_provider(context: Context, settings: Captcha, answer: str, randstr: str) -> bool:
    """Return whether the provider accepts a response not used before. If it fails, hosted pages fall back to the built-in one."""
    if not answer:
        return False
    context.work.release_connection()
    try:
        is_solved = PROVIDERS[settings.provider].is_solved(_provider_request(context, settings, answer, randstr))
    except CaptchaUnavailable as problem:
        if not _accepts_built_in(context):
            raise
        log.warning("a page offers the built-in captcha instead: %s", problem)
        return False
    return is_solved and answers.spend(context, f"{settings.provider} {answer}", _REPLAY_WINDOW)


def _provider_request(context: Context, settings: Captcha, answer: str, randstr: str) -> ProviderRequest:
    ciphertext = context.tenant.sealed_captcha_secret
    if ciphertext is None:
        raise CaptchaUnavailable(f"the tenant has no captcha_secret for {settings.provider}")
    secret = context.services.encryption.decrypt(
        ciphertext, tenant_writes.captcha_associated_data(context.tenant.tenant_id)
    ).decode()
    url = dict(context.services.settings.captcha_urls).get(settings.provider, "")
    return ProviderRequest(answer, settings.site_key, secret, settings.threshold, context.ip_address, randstr, url)


def _refusal(context: Context, use: CaptchaUse, settings: Captcha) -> ApiError:
    is_second = settings.provider == "tencent" and context.visit is None
    refusal: ApiError = errors.WrongSecondCaptcha() if is_second else errors.WrongCaptcha()
    if (next_challenge := challenge(context, use)) is not None:
        refusal.data = LockChallenge(captcha=next_challenge).to_data()
    return refusal
