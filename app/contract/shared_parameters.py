"""Groups of parameters that many operations share, under the names of the interface's tables."""

import re
from typing import Annotated

from pydantic import BeforeValidator, Field

from app.kit.operations.wire import Also, From, Lower

Query = From.QUERY


def _restore_plus(text: object) -> object:
    """Restore the leading +: an unescaped + in a query string means a blank (WHATWG URL, section 5.1)."""
    if isinstance(text, str) and re.match(r"\s+[1-9]", text):  # no country code begins with 0
        return f"+{text.lstrip()}"
    return text


PhoneInQuery = Annotated[str | None, Query, BeforeValidator(_restore_plus)]


class FieldSelection(Lower):
    """`fields`: selects the profile members of the response: `a,b`, `*`, `a/b`, `a(b,c)`."""

    fields_: Annotated[str | None, Query] = Field(default=None, alias="fields")


class WebhookSuppression(Lower):
    """Suppresses webhooks if either spelling is true."""

    prevent_webhook: Annotated[bool, Query] = Field(default=False, alias="prevent_webhook")
    prevent_webhook_header: Annotated[bool, From.HEADER] = Field(default=False, alias="X-PreventWebhook")

    @property
    def suppress_webhook(self) -> bool:
        return self.prevent_webhook or self.prevent_webhook_header


class AccessTokenQuery(Lower):
    """The access token in the query; the header and the body are read too."""

    access_token: Annotated[str | None, Query] = Field(default=None, alias="access_token")


class CaptchaSolutionQuery(Lower):
    """A captcha's solution in the query, in every spelling that clients use."""

    recaptcha_query: Annotated[str | None, Query] = Field(default=None, alias="g-recaptcha-response")
    recaptcha_query_older: Annotated[str | None, Query] = Field(default=None, alias="g_recaptcha_response")
    hcaptcha_query: Annotated[str | None, Query] = Field(default=None, alias="h-captcha-response")
    ticket_query: Annotated[str | None, Query] = Field(default=None, alias="qq_captcha_ticket")
    randstr_query: Annotated[str | None, Query] = Field(default=None, alias="qq_captcha_randstr")
    ticket_query_older: Annotated[str | None, Query] = Field(default=None, alias="qq_recaptcha_ticket")
    randstr_query_older: Annotated[str | None, Query] = Field(default=None, alias="qq_recaptcha_randstr")
    challenge_query: Annotated[str | None, Query] = Field(default=None, alias="captcha_challenge")
    work_query: Annotated[str | None, Query] = Field(default=None, alias="captcha_work")


class CaptchaSolution(CaptchaSolutionQuery):
    """A captcha's solution in the query or the body."""

    recaptcha: Annotated[str | None, Also("g_recaptcha_response")] = Field(default=None, alias="g-recaptcha-response")
    hcaptcha: str | None = Field(default=None, alias="h-captcha-response")
    ticket: Annotated[str | None, Also("qq_recaptcha_ticket")] = Field(default=None, alias="qq_captcha_ticket")
    randstr: Annotated[str | None, Also("qq_recaptcha_randstr")] = Field(default=None, alias="qq_captcha_randstr")
    challenge: str | None = Field(default=None, alias="captcha_challenge")  # of the built-in captcha
    work: str | None = Field(default=None, alias="captcha_work")


SecurityAnswer = Annotated[str, Field(max_length=500)]
"""Limited, because normalizing a very long text takes minutes (Unicode normal forms)."""


class LockAnswers(Lower):
    """Answers to a lock challenge by question id, in addition to the captcha."""

    security_answer: dict[str, SecurityAnswer] | None = Field(default=None, max_length=10)  # each costs a hash


class SuppressedMessages(Lower):
    """`options`: messages to suppress, comma-separated."""

    options: Annotated[str | None, Query] = Field(default=None, max_length=200)

    def has_option(self, name: str) -> bool:
        """Return whether `options` contains the name, in any letter case."""
        return name in [part.strip().lower() for part in (self.options or "").split(",")]


PREVENT_EMAIL, PREVENT_SMS = "preventverificationemail", "preventverificationsms"


class SecondFactorOptions(Lower):
    """Inline second factor: templates, and Duo's redirect address."""

    sms_template_2fa: Annotated[str | None, Query] = Field(default=None, alias="smstemplate2fa")
    email_template_2fa: Annotated[str | None, Query] = Field(default=None, alias="emailtemplate2fa")
    duo_redirect_uri: Annotated[str | None, Query] = Field(default=None, alias="duoredirecturi")
    is_voice_otp: Annotated[bool, Query] = Field(default=False, alias="isvoiceotp")


Template = Annotated[str | None, Query, Field(max_length=100)]


class RiskMessageTemplates(Lower):
    """The templates of notifications about risk checks."""

    rba_browser_email_template: Template = None
    rba_city_email_template: Template = None
    rba_country_email_template: Template = None
    rba_ip_email_template: Template = None
    rba_browser_sms_template: Template = None
    rba_city_sms_template: Template = None
    rba_country_sms_template: Template = None
    rba_ip_sms_template: Template = None


class Uid(Lower):
    """An account, by the id in the path."""

    uid: Annotated[str, From.PATH]
