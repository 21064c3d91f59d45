"""Models that several operations of the hub share."""

from typing import Annotated, Final

from pydantic import Field

from app.contract.branding import ButtonShape, Scene
from app.contract.messages import Carries
from app.contract.step_reasons import Channel
from app.kit.wire import Wire

MAX_TOKEN_LENGTH: Final = 300
MAX_STATE: Final = 8_192
"""Of what an application sends and gets back, at sign-in and sign-out: some keep the address of a page in it."""
MAX_RETURN_URL: Final = 16_384
"""Of an authorization request that the browser returns to: its `state`, and the rest."""
Token = Annotated[str, Field(max_length=MAX_TOKEN_LENGTH)]


COPIED_LOGOS: Final = "/application-logo/"
"""Where the hub serves copies of applications' logos, by their digests."""


class NoParameters(Wire):
    """The visit alone: the session identifies the account."""


class InteractionOnly(Wire):
    interaction_id: str


class InteractionDecision(InteractionOnly):
    """The visitor's answer to the question of an interaction."""

    allow: bool
    account: str = Field(default="", max_length=64)  # uid of the account that the page asked


class SwitchAccountRequest(InteractionOnly):
    account: str = Field(default="", max_length=64)  # uid of the account that the page shows; empty: unknown
    chooses: bool = False  # show the page that chooses an account; the session stays


class Session(Wire):
    """A session for an opaque cookie."""

    token: str
    lifetime_seconds: int | None = None  # None: until the browser closes


class OtherSessions(Wire):
    """The cookie with the sessions of the browser's other accounts; without tokens it is deleted."""

    tokens: list[str] = Field(default_factory=list)
    lifetime_seconds: int | None = None


class PersonView(Wire):
    """The signed-in account, as pages show it."""

    uid: str
    label: str  # email, username or phone
    name: str | None = None
    language: str | None = None  # the profile's LocalLanguage, unchanged
    has_organizations: bool = False  # the account joined one at some time


class RelyingPartyView(Wire):
    """The relying party, as pages show it."""

    name: str  # empty for the tenant's own pages
    client_id: str
    home: str | None = None  # where "back to the app" and "start again" lead
    logo: str | None = None
    redirect_origin: str | None = None  # scheme://host[:port] of the redirect address, or its bare scheme
    policy: str | None = None
    terms: str | None = None
    is_self_registered: bool = False  # the tenant does not vouch for it
    document_host: str | None = None  # of the client-id metadata document that describes it


class AccountOption(Wire):
    """An account that the browser is signed in to."""

    id: str  # of its session
    label: str
    name: str | None = None
    is_current: bool = False


class ScopeView(Wire):
    """A requested scope; the page describes the standard scopes."""

    name: str
    description: str | None = None
    is_optional: bool = False  # the person may leave it out
    is_granted: bool = False  # before; the page asks for the others


class DetailLine(Wire):
    """A field of authorization details: its name, the tenant's label by language, and its values as text."""

    name: str
    label: dict[str, str] = Field(default_factory=dict)
    values: list[str]


class DetailView(Wire):
    """What an application asks to do (RFC 9396)."""

    type: str
    title: dict[str, str] = Field(default_factory=dict)
    lines: list[DetailLine] = Field(default_factory=list)


class OrganizationBranding(Wire):
    """How pages show the organization that a sign-in is for; empty after the visitor chose the personal account."""

    name: str = ""
    logo: str | None = None
    color: str | None = None


class OrganizationOption(Wire):
    """An organization that the visitor may continue with."""

    id: str
    name: str
    logo: str | None = None
    roles: list[str] = Field(default_factory=list)
    people: int  # its members
    is_last_used: bool = False  # chosen last for this application


class BrandView(Wire):
    """A tenant's branding; pages compute readable colours from it."""

    color: str = "#3b49d9"
    logo: str | None = None
    logo_dark: str | None = None
    favicon: str | None = None
    scene: Scene = "dusk"
    picture: str | None = None
    background: str | None = None
    background_dark: str | None = None
    font: str | None = None
    font_file: str | None = None
    sentence: dict[str, str] = Field(default_factory=dict)  # by locale; shown beside the form
    signature: str | None = None
    radius_px: int = 10
    button_shape: ButtonShape = "rounded"
    links: dict[str, str] = Field(default_factory=dict)  # privacy, terms, help


class InvitationHint(Wire):
    """How many open invitations the account has, and the names of the first organizations."""

    count: int = 0
    organizations: list[str] = Field(default_factory=list)


class JoinableOrganization(Wire):
    """An organization that the visitor may ask to join."""

    id: str
    name: str
    logo: str | None = None
    is_asked: bool = False  # a request is open
    until: str | None = None  # when the visitor can ask again, after a declined request


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


class AddressView(Wire):
    """An email address of the account."""

    email: str
    is_first: bool = False
    is_confirmed: bool = False
    is_asked: bool = False  # pending: not verified yet
    can_resend: bool = False  # its link and code may be sent again
    resend_in_seconds: int = 0
    carries: Carries = "both"  # if it can be resent: what the mail contains


class SentTo(Wire):
    """`Data` of an error: enough to render the page again without another call."""

    sent_to: str = ""
    resend_in_seconds: int = 0
    channel: Channel = Channel.MAIL
    can_change: bool = False  # as in `CheckMailStep`
    number: str = ""  # as in `MessageSent`
    carries: Carries = "both"
