"""What the hub's operations around mailed links and codes have in common (callers H only)."""

from typing import Annotated, Final

from pydantic import Field

from app.kit.wire import Wire

MAX_TOKEN_LENGTH: Final = 300
Token = Annotated[str, Field(max_length=MAX_TOKEN_LENGTH)]


class LinkLookup(Wire):
    token: Token
    is_machine: bool = False  # a scanner of mail, as far as one can tell


class SentTo(Wire):
    """What a refusal's `Data` says, so that the page can be drawn again without asking."""

    sent_to: str = ""
    resend_in_seconds: int = 0
    by: str = "mail"  # or sms
    can_change: bool = False  # as in `Next`
