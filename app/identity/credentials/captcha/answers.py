"""What came back with a challenge, whoever made it."""

from __future__ import annotations

from dataclasses import dataclass

from app.contract.captcha import CaptchaAnswer
from app.contract.groups import CAP, CaptchaQuery

_MAX_LENGTH = 8_000  # reCAPTCHA's are some 2,000 long
_QUERY = tuple(CaptchaQuery.model_fields)


@dataclass(frozen=True)
class SubmittedCaptcha:
    """Every answer that a request bears; the tenant's provider says which one counts."""

    recaptcha: str = ""
    hcaptcha: str = ""
    ticket: str = ""
    randstr: str = ""
    own: CaptchaAnswer | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was answered at all."""
        return not (self.recaptcha or self.hcaptcha or self.ticket or self.own)


def from_parameters(given: CaptchaQuery) -> SubmittedCaptcha:
    """Return what a program sent, in whichever spelling and place."""
    req = given if isinstance(given, CAP) else CAP.model_construct(**{name: getattr(given, name) for name in _QUERY})
    challenge, work = req.challenge or req.challenge_query, req.work or req.work_query
    own = (
        CaptchaAnswer.model_construct(challenge=_without_overlong(challenge), work=_without_overlong(work))
        if challenge
        else None
    )
    return SubmittedCaptcha(
        recaptcha=_without_overlong(req.recaptcha or req.recaptcha_query or req.recaptcha_query_older),
        hcaptcha=_without_overlong(req.hcaptcha or req.hcaptcha_query),
        ticket=_without_overlong(req.ticket or req.ticket_query or req.ticket_query_older),
        randstr=_without_overlong(req.randstr or req.randstr_query or req.randstr_query_older),
        own=own,
    )


def from_form(answer: CaptchaAnswer | None) -> SubmittedCaptcha:
    """Return what a visitor of our pages sent; a challenge with neither answer nor work is none."""
    if answer is None:
        return SubmittedCaptcha()
    own = answer if answer.challenge and (answer.answer.strip() or answer.work) else None
    proof = answer.proof  # whose widget it is of, the tenant's settings say
    return SubmittedCaptcha(recaptcha=proof, hcaptcha=proof, ticket=proof, randstr=answer.randstr, own=own)


def _without_overlong(text: str | None) -> str:
    """Leave out what is too long to be an answer of anybody: it is refused like a wrong one."""
    return (text or "") if len(text or "") <= _MAX_LENGTH else "?"
