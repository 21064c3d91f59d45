"""Parameters that many rows share, under the letters of the interface's tables (user.md section 0)."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from app.kit.wire import Also, From, Lower, Wire

Query = From.QUERY


def _with_plus(text: object) -> object:
    """Give a number back the + that it was sent with: unescaped, a query string has it as a blank (WHATWG URL, section 5.1)."""
    if isinstance(text, str) and re.match(r"\s+[1-9]", text):  # no country's code begins with 0
        return f"+{text.lstrip()}"
    return text


PhoneInQuery = Annotated[str | None, Query, BeforeValidator(_with_plus)]


class F(Lower):
    """`fields`: which profile members the answer holds: `a,b`, `*`, `a/b`, `a(b,c)`."""

    fields_: Annotated[str | None, Query] = Field(default=None, alias="fields")


class PW(Lower):
    """Suppresses webhooks where either spelling is true."""

    prevent_webhook: Annotated[bool, Query] = Field(default=False, alias="prevent_webhook")
    prevent_webhook_header: Annotated[bool, From.HEADER] = Field(default=False, alias="X-PreventWebhook")

    @property
    def suppress_webhook(self) -> bool:
        return self.prevent_webhook or self.prevent_webhook_header


class AT(Lower):
    """The access token where it travels in the query; the header and the body are read too."""

    access_token: Annotated[str | None, Query] = Field(default=None, alias="access_token")


class CaptchaQuery(Lower):
    """A captcha's answer, in every spelling that clients use, in the query."""

    recaptcha_query: Annotated[str | None, Query] = Field(default=None, alias="g-recaptcha-response")
    recaptcha_query_older: Annotated[str | None, Query] = Field(default=None, alias="g_recaptcha_response")
    hcaptcha_query: Annotated[str | None, Query] = Field(default=None, alias="h-captcha-response")
    ticket_query: Annotated[str | None, Query] = Field(default=None, alias="qq_captcha_ticket")
    randstr_query: Annotated[str | None, Query] = Field(default=None, alias="qq_captcha_randstr")
    ticket_query_older: Annotated[str | None, Query] = Field(default=None, alias="qq_recaptcha_ticket")
    randstr_query_older: Annotated[str | None, Query] = Field(default=None, alias="qq_recaptcha_randstr")
    challenge_query: Annotated[str | None, Query] = Field(default=None, alias="captcha_challenge")
    work_query: Annotated[str | None, Query] = Field(default=None, alias="captcha_work")


class CAP(CaptchaQuery):
    """The same, or in the body."""

    recaptcha: Annotated[str | None, Also("g_recaptcha_response")] = Field(default=None, alias="g-recaptcha-response")
    hcaptcha: str | None = Field(default=None, alias="h-captcha-response")
    ticket: Annotated[str | None, Also("qq_recaptcha_ticket")] = Field(default=None, alias="qq_captcha_ticket")
    randstr: Annotated[str | None, Also("qq_recaptcha_randstr")] = Field(default=None, alias="qq_captcha_randstr")
    challenge: str | None = Field(default=None, alias="captcha_challenge")  # of our own captcha, and the work on it
    work: str | None = Field(default=None, alias="captcha_work")


SecurityAnswer = Annotated[str, Field(max_length=500)]
"""As long as people answer: a much longer one would cost its reader minutes (Unicode's normal forms)."""


class LOCK(Lower):
    """What answers a lock challenge beside CAP: answers by question id."""

    security_answer: dict[str, SecurityAnswer] | None = Field(default=None, max_length=10)  # each costs a hash


class Options(Lower):
    """`options`: what is not sent; several stand with commas between them."""

    options: Annotated[str | None, Query] = Field(default=None, max_length=200)

    def has_option(self, name: str) -> bool:
        """Whether `options` names this one, in any letter case."""
        return name in [one.strip().lower() for one in (self.options or "").split(",")]


NO_MAIL, NO_SMS = "preventverificationemail", "preventverificationsms"


class MF(Lower):
    """Inline second factor: which templates are sent and where Duo returns to."""

    sms_template_2fa: Annotated[str | None, Query] = Field(default=None, alias="smstemplate2fa")
    email_template_2fa: Annotated[str | None, Query] = Field(default=None, alias="emailtemplate2fa")
    duo_redirect_uri: Annotated[str | None, Query] = Field(default=None, alias="duoredirecturi")
    is_voice_otp: Annotated[bool, Query] = Field(default=False, alias="isvoiceotp")


Template = Annotated[str | None, Query, Field(max_length=100)]


class RBQ(Lower):
    """The templates of notifications about risk checks (mfa.md)."""

    rba_browser_email_template: Template = None
    rba_city_email_template: Template = None
    rba_country_email_template: Template = None
    rba_ip_email_template: Template = None
    rba_browser_sms_template: Template = None
    rba_city_sms_template: Template = None
    rba_country_sms_template: Template = None
    rba_ip_sms_template: Template = None


class Uid(Lower):
    """An account addressed by the id in the path."""

    uid: Annotated[str, From.PATH]


class Posted(Wire):
    is_posted: bool = True


class SmsSent(Wire):
    account_sid: str
    sid: str


class PostedSms(Wire):
    is_posted: bool = True
    data: SmsSent


class Deleted(Wire):
    is_deleted: bool = True


Json = dict[str, Any]
