"""Operations for the captcha of pages: a challenge, and the emailed link that replaces the proof of work without scripts."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.captcha.models import CaptchaChallenge, CaptchaUse
from app.contract.catalogue import hub_operation
from app.contract.error_groups import LINK
from app.contract.page_models import LinkLookup, NoParameters
from app.contract.shared_responses import Posted
from app.kit.operations.wire import Wire

PageUse = Literal[CaptchaUse.UNLOCK, CaptchaUse.REGISTER]
"""The `CaptchaUse` of forms that a page shows a captcha for."""
TypedText = Annotated[str, Field(max_length=1_000)]


class CaptchaLinkRequest(Wire):
    """A form that was sent without scripts. `typed`: its other fields, which the link fills in again; never a password."""

    use: PageUse
    identifier: str = Field(max_length=320)  # of the account, or the email of a new one
    typed: dict[str, TypedText] = Field(default_factory=dict, max_length=80)
    interaction_id: str | None = None


class CaptchaLinkView(Wire):
    """The form that an emailed link continues, with its solved challenge."""

    use: CaptchaUse
    identifier: str
    typed: dict[str, str] = Field(default_factory=dict)
    captcha: CaptchaChallenge


read = hub_operation(
    "hub.captcha", "GET /hub/captcha", NoParameters, CaptchaChallenge,
    summary="Create a captcha for the sign-up form; the error of a locked sign-in holds its own.",
)  # fmt: skip
mail_link = hub_operation(
    "hub.mail_captcha_link", "POST /hub/captcha/links", CaptchaLinkRequest, Posted,
    errors=(errors.TooManyRequests, errors.MalformedEmail, errors.RegistrationOff),
    summary="Email a link that solves the captcha of a form without scripts.",
)  # fmt: skip
read_link = hub_operation(
    "hub.read_captcha_link", "GET /hub/captcha/links", LinkLookup, CaptchaLinkView, errors=LINK,
    summary="Read the form that an emailed link continues, without using the link.",
)  # fmt: skip
