"""The captcha responses of a request, for every provider. Used ones are stored, so that all processes see them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Column, Index, select

from app.contract.captcha.models import CaptchaAnswer
from app.contract.shared_parameters import CaptchaSolution, CaptchaSolutionQuery
from app.identity.platform.context import Context
from app.identity.platform.store import upserts
from app.identity.platform.store.tables import Id, Instant, tenant_table
from app.kit.randomness import digest

_MAX_LENGTH = 8_000  # reCAPTCHA's have about 2,000 characters
_QUERY = tuple(CaptchaSolutionQuery.model_fields)


@dataclass(frozen=True)
class SubmittedCaptcha:
    """All captcha responses of a request. The tenant's provider decides which one counts."""

    recaptcha: str = ""
    hcaptcha: str = ""
    ticket: str = ""
    randstr: str = ""
    own: CaptchaAnswer | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether there is no response at all."""
        return not (self.recaptcha or self.hcaptcha or self.ticket or self.own)


def from_parameters(query: CaptchaSolutionQuery) -> SubmittedCaptcha:
    """Return the responses of a program's request, in any of the accepted spellings and places."""
    req = (
        query
        if isinstance(query, CaptchaSolution)
        else CaptchaSolution.model_construct(**{name: getattr(query, name) for name in _QUERY})
    )
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
    """Return the responses of a hosted page; a challenge without work counts as none."""
    if answer is None:
        return SubmittedCaptcha()
    own = answer if answer.challenge and answer.work else None
    response = answer.proof  # from the widget of the tenant's provider
    return SubmittedCaptcha(recaptcha=response, hcaptcha=response, ticket=response, randstr=answer.randstr, own=own)


def _without_overlong(text: str | None) -> str:
    """Replace a text too long for any provider; it is refused like a wrong one."""
    return (text or "") if len(text or "") <= _MAX_LENGTH else "?"


spent_captchas = tenant_table(
    "spent_captchas",
    Column("captcha_hash", Id, primary_key=True),
    Column("expires_at", Instant, nullable=False),
    Index("ix_spent_captchas_expiry", "tenant_id", "expires_at"),
)


T = spent_captchas.c


def is_spent(context: Context, response: str) -> bool:
    """Return whether a response was used."""
    where = (T.tenant_id == context.tenant.tenant_id, T.captcha_hash == digest(response))
    return context.work.one(select(T.captcha_hash).where(*where)) is not None


def spend(context: Context, response: str, lifetime: timedelta) -> bool:
    """Record a use in a separate transaction, which survives an error. Return False if it was used before."""
    row = {
        "tenant_id": context.tenant.tenant_id,
        "captcha_hash": digest(response),
        "expires_at": context.now + lifetime,
    }
    inserted = upserts.insert(spent_captchas, is_sqlite=context.services.database.is_sqlite).values(row)
    inserted = inserted.on_conflict_do_nothing(index_elements=[T.tenant_id, T.captcha_hash])
    with context.work.separate_transaction() as transaction:
        return transaction.one(inserted.returning(T.captcha_hash)) is not None
