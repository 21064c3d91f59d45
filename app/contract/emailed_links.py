"""Models that the hub's operations with emailed links and codes share."""

from typing import Annotated, Final

from pydantic import Field

from app.kit.wire import Wire

MAX_TOKEN_LENGTH: Final = 300
Token = Annotated[str, Field(max_length=MAX_TOKEN_LENGTH)]


class LinkLookup(Wire):
    token: Token
    is_machine: bool = False  # probably a mail scanner


class SentTo(Wire):
    """`Data` of an error: enough to render the page again without another call."""

    sent_to: str = ""
    resend_in_seconds: int = 0
    by: str = "mail"  # or sms
    can_change: bool = False  # as in `Next`
