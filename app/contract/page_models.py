"""Models that the operations behind several pages share."""

from typing import Annotated, Final

from pydantic import Field

from app.contract.messages.models import Carries
from app.contract.step_reasons import Channel
from app.kit.operations.wire import Wire

MAX_TOKEN_LENGTH: Final = 300
Token = Annotated[str, Field(max_length=MAX_TOKEN_LENGTH)]


class NoParameters(Wire):
    """The visit alone: the session identifies the account."""


class InteractionOnly(Wire):
    interaction_id: str


class InteractionDecision(InteractionOnly):
    """The visitor's answer to the question of an interaction."""

    allow: bool
    account: str = Field(default="", max_length=64)  # uid of the account that the page asked


class CodeRequest(InteractionOnly):
    code: str = Field(max_length=64)


class LinkToken(Wire):
    """The one-time token of an emailed link."""

    token: Token


class LinkRequest(LinkToken):
    """`interaction_id`: the interaction to continue; None begins one. `number`: of the page that waits in another browser, if typed."""

    interaction_id: str | None = None
    number: str = Field(default="", max_length=20)


class LinkLookup(LinkToken):
    is_machine: bool = False  # probably a mail scanner


class LinkView(Wire):
    """The state of a link: open, used, expired or unknown. `label`: the account's identifier."""

    state: str
    label: str = ""
    is_awaited: bool = False  # a page in another browser waits for it, and shows a number


class SentTo(Wire):
    """`Data` of an error: enough to render the page again without another call."""

    sent_to: str = ""
    resend_in_seconds: int = 0
    channel: Channel = Channel.MAIL
    can_change: bool = False  # as in `CheckMailStep`
    number: str = ""  # as in `MessageSent`
    carries: Carries = "both"
