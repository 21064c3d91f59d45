"""Links by which a customer's administrator sets up the organization's connection, and the guide that they open.

The tenant's servers create and revoke links. The hub reads and saves what an administrator enters in the guide, by the session that a
link opens: without an account, and of this one organization.
"""

from typing import Annotated, Final, Literal

from pydantic import Field

from app.contract import errors
from app.contract.auth import ORGANIZATION_MANAGEMENT
from app.contract.catalogue import hub_operation, operation
from app.contract.error_profiles import ORGANIZATIONS
from app.contract.organizations.models import OrgPath
from app.contract.organizations.organization_operations import ACTIVE, FOUND
from app.contract.organizations.pages.domain_pages import OwnDomain
from app.contract.paging import PagedByDefault
from app.contract.shared_responses import Posted
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Wire

PAGE: Final = "/setup"
"""The page that a link opens; the link's token is its parameter `link`."""
TOKEN: Final = "link"
MAX_DAYS: Final = 30
MAX_HOURS: Final = 24
MAX_OPENINGS: Final = 100
Status = Literal["active", "used_up", "expired", "revoked", "completed"]


class ListSetupLinks(OrgPath, PagedByDefault):
    pass


class CreateSetupLink(OrgPath):
    """A link for an administrator of the organization. It opens the guide `MaxOpenings` times within `DaysToOpen`, each time for
    `SessionHours`; what was entered stays until the link is completed. With `ConnectionId`, it only adds certificates to that active SAML
    connection."""

    days_to_open: int = Field(default=7, ge=1, le=MAX_DAYS)
    session_hours: int = Field(default=8, ge=1, le=MAX_HOURS)
    max_openings: int = Field(default=10, ge=1, le=MAX_OPENINGS)
    jit_provisioning: Annotated[bool, Field(alias="JITProvisioning")] = True
    connection_id: str | None = Field(default=None, max_length=64)


class SetupLinkPath(OrgPath):
    """A set-up link of an organization, by the ids in the path."""

    link_id: Annotated[str, From.PATH, Field(alias="linkId")]


class SetupLink(Wire):
    """A link to the set-up guide. `Openings` counts how often it was opened; `ConnectionId` is the connection that was set up with it."""

    id: str
    org_id: str
    status: Status
    openings: int
    max_openings: int
    session_hours: int
    jit_provisioning: Annotated[bool, Field(alias="JITProvisioning")]
    connection_id: str | None
    created_date: str
    expiration_date: str
    last_opened_date: str | None


class CreatedSetupLink(SetupLink):
    """A new set-up link with its address. No other operation returns it, because Gatehouse stores only a hash."""

    url: str


class SetupLinks(Wire):
    data: list[SetupLink]


_PATH = "/v2/manage/organizations/{orgId}/setup-links"
_ONE = f"{_PATH}/{{linkId}}"

list_all = operation(
    "organization_setup_links.list", f"GET {_PATH}", ListSetupLinks, SetupLinks, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:read", error_profile=ORGANIZATIONS, errors=FOUND, takes_blank_segments=True,
    summary="List set-up links",
    description="Returns the links by which administrators of an organization set up its connection, oldest first, until 30 days after "
    "they expired.",
)  # fmt: skip
create = operation(
    "organization_setup_links.create", f"POST {_PATH}", CreateSetupLink, CreatedSetupLink, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:update", accepts=Accept.JSON, error_profile=ORGANIZATIONS, errors=(*ACTIVE, errors.TooManySetupLinks),
    takes_blank_segments=True,
    summary="Create a set-up link",
    description="Creates a link to a guide on your tenant’s host, in which an administrator of the organization verifies a domain, sets "
    "up a connection to the identity provider, tries it and activates it, without an account. Only this response has its address: send "
    "it to one person you trust.",
)  # fmt: skip
read = operation(
    "organization_setup_links.read", f"GET {_ONE}", SetupLinkPath, SetupLink, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:read", error_profile=ORGANIZATIONS, errors=(*FOUND, errors.UnknownSetupLink), takes_blank_segments=True,
    summary="Get a set-up link",
    description="Returns a set-up link with how often it was opened. Its address isn’t returned.",
)  # fmt: skip
revoke = operation(
    "organization_setup_links.revoke", f"DELETE {_ONE}", SetupLinkPath, SetupLink, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:update", error_profile=ORGANIZATIONS, errors=(*FOUND, errors.UnknownSetupLink, errors.ClosedSetupLink),
    takes_blank_segments=True,
    summary="Revoke a set-up link",
    description="Ends a set-up link and the sessions that it opened. A connection that was activated with it stays.",
)  # fmt: skip


Token = Annotated[str, Field(max_length=100)]
Session = Annotated[str, Field(max_length=100)]
Short = Annotated[str, Field(max_length=2_000)]
MAX_METADATA: Final = 40_000
"""Characters of pasted metadata: with what encodes it, a form of a page takes no more."""
Protocol = Literal["openid", "saml"]
MAPPED: Final = ("ID", "Email", "FirstName", "LastName", "Groups")
"""The members of `Attributes` that the guide maps."""
ANSWER: Final = "/setup/answer"
"""Where the browser comes back from a sign-in that tries a connection."""
TRIAL_STATE: Final = "setup-trial"
"""Begins the state of such a sign-in, in place of an interaction."""


class SetupToken(Wire):
    """The token in the address of a link."""

    token: Token


class SetupLinkState(Wire):
    """What the page of a link shows before it is opened."""

    state: Literal["active", "used_up", "expired", "revoked", "completed", "unknown"]
    organization: str = ""
    ends_at: str | None = None
    renews: bool = False


class SetupSession(Wire):
    """The session that an opened link has."""

    session: Session


class OpenedSetup(SetupSession):
    lifetime_seconds: int


class SetupProduct(Wire):
    """An identity provider's product to choose. `protocols`: the recommended one first. A generic one is any provider of its protocol."""

    name: str
    title: str
    is_generic: bool = False
    protocols: list[Protocol]


class SetupInstruction(Wire):
    """One thing to do in the product: its kind, the product's own words for it, and the value to paste there or the address to open."""

    do: Literal["visit", "go", "choose", "enter", "press", "copy", "assign", "attribute"]
    words: list[str]
    value: str = ""


class SetupField(Wire):
    """A value to paste back. `label`: what the product calls it, if it has a name of its own."""

    name: Literal["issuer", "client_id", "client_secret", "metadata_url", "metadata"]
    label: str = ""
    example: str = ""
    text: str = ""
    has_secret: bool = False


class SetupClaim(Wire):
    """A claim of the tried sign-in; `text` is masked where it may be secret, and empty in another session than tried it."""

    name: str
    text: str = ""


class SetupTrial(Wire):
    """The last sign-in that tried the connection as it is now; of a refused one, which check failed, with the doctor's texts."""

    is_accepted: bool
    at: str
    claims: list[SetupClaim] = Field(default_factory=list)
    email: str = ""
    has_foreign_email: bool = False  # an address outside of the organization's verified domains
    groups: list[str] = Field(default_factory=list)
    problem: str = ""
    advice: str = ""
    expected: str = ""
    received: str = ""


class SetupGuide(Wire):
    """Everything that the guide shows."""

    organization: str
    ends_at: str
    checks_dns: bool
    domains: list[OwnDomain]
    domain: str = ""
    skips_domain: bool = False
    products: list[SetupProduct]
    product: SetupProduct | None = None
    protocol: Protocol = "openid"
    instructions: list[SetupInstruction] = Field(default_factory=list)
    fields: list[SetupField] = Field(default_factory=list)
    is_configured: bool = False
    trial: SetupTrial | None = None
    attributes: dict[str, str] = Field(default_factory=dict)
    joins: bool = True
    is_completed: bool = False
    renews: bool = False  # a link that only adds certificates


class SetupDomain(SetupSession):
    """A domain: its name to add it, its ID to verify it, its name or nothing to use it."""

    domain: Annotated[str, Field(max_length=320)] = ""


class ChooseSetupProduct(SetupSession):
    product: Annotated[str, Field(max_length=40)]
    protocol: Protocol | None = None


class SaveSetupEntries(SetupSession):
    """What was pasted back. An empty secret keeps the present one."""

    issuer: Short = ""
    client_id: Short = ""
    client_secret: Short = ""
    metadata_url: Short = ""
    metadata: Annotated[str, Field(max_length=MAX_METADATA)] = ""


class SaveSetupMapping(SetupSession):
    """The claim of each member of `MAPPED`; an empty one has the default."""

    attributes: dict[str, Annotated[str, Field(max_length=200)]] = Field(max_length=10)


class RenewalCertificate(Wire):
    """A certificate that a connection trusts. `ends_at`: when it expires."""

    fingerprint: str
    ends_at: str
    is_expired: bool = False


class Renewal(Wire):
    """What a link that renews certificates shows."""

    organization: str
    connection: str
    entity_id: str
    certificates: list[RenewalCertificate]
    reads_metadata: bool = False  # the provider's metadata is read on a schedule, too


class AddRenewedCertificate(SetupSession):
    """A certificate in PEM or base64, or metadata."""

    certificate: Annotated[str, Field(max_length=MAX_METADATA)] = ""


class SetupTrialAnswer(SetupSession):
    """The provider's authorization response to a sign-in that tries the connection. After a posted SAML answer, `code` names that."""

    state: Annotated[str, Field(max_length=4_000)] = ""
    code: Annotated[str, Field(max_length=4_000)] = ""
    error: Annotated[str, Field(max_length=4_000)] = ""
    iss: Annotated[str, Field(max_length=4_000)] = ""


class SetupTrialBegun(Wire):
    """Where the browser signs in: it goes there, or posts these fields to a SAML provider that takes forms alone."""

    address: str
    fields: dict[str, str] = Field(default_factory=dict)


_OVER = (errors.SetupSessionOver,)
_CLOSED = (errors.SetupSessionOver, errors.ClosedSetupLink)

look_up = hub_operation(
    "hub.look_up_setup_link", "POST /hub/setup/link", SetupToken, SetupLinkState,
    summary="Read the state of a set-up link without opening it.",
)  # fmt: skip
open_link = hub_operation(
    "hub.open_setup_link", "POST /hub/setup/open", SetupToken, OpenedSetup, errors=(errors.ClosedSetupLink,),
    summary="Count one opening of a set-up link, and begin a session of its guide.",
)  # fmt: skip
read_guide = hub_operation(
    "hub.read_setup_guide", "POST /hub/setup/read", SetupSession, SetupGuide, errors=_OVER,
    summary="Read everything that the set-up guide shows.",
)  # fmt: skip
add_domain = hub_operation(
    "hub.add_setup_domain", "POST /hub/setup/domains/add", SetupDomain, Posted,
    errors=(*_CLOSED, errors.BadField, errors.DomainTaken, errors.TooManyDomains),
    summary="Add a domain to the organization of a set-up link.",
)  # fmt: skip
verify_domain = hub_operation(
    "hub.verify_setup_domain", "POST /hub/setup/domains/verify", SetupDomain, Posted,
    errors=(*_CLOSED, errors.UnknownOrganizationDomain, errors.DomainVerified, errors.DomainNotProven, errors.DomainTaken),
    summary="Look up the TXT record of a domain of the organization of a set-up link.",
)  # fmt: skip
use_domain = hub_operation(
    "hub.use_setup_domain", "POST /hub/setup/domains/use", SetupDomain, Posted, errors=(*_CLOSED, errors.DomainNotVerified),
    summary="Choose the verified domain whose addresses lead to the connection, or none.",
)  # fmt: skip
choose_product = hub_operation(
    "hub.choose_setup_product", "POST /hub/setup/product", ChooseSetupProduct, Posted, errors=(*_CLOSED, errors.BadField),
    summary="Choose the product of the identity provider.",
)  # fmt: skip
save_entries = hub_operation(
    "hub.save_setup_entries", "POST /hub/setup/entries", SaveSetupEntries, Posted,
    errors=(*_CLOSED, errors.SetupIncomplete, errors.SetupEntryRefused),
    summary="Save what was pasted back, and read the provider’s configuration.",
)  # fmt: skip
save_mapping = hub_operation(
    "hub.save_setup_mapping", "POST /hub/setup/mapping", SaveSetupMapping, Posted, errors=_CLOSED,
    summary="Save which claims fill the profile.",
)  # fmt: skip
begin_trial = hub_operation(
    "hub.begin_setup_trial", "POST /hub/setup/trial", SetupSession, SetupTrialBegun, errors=(*_CLOSED, errors.SetupIncomplete),
    summary="Begin a sign-in that tries the connection and signs nobody in.",
)  # fmt: skip
finish_trial = hub_operation(
    "hub.finish_setup_trial", "POST /hub/setup/trial/finish", SetupTrialAnswer, Posted, errors=_CLOSED,
    summary="Record what the provider answered to a sign-in that tries the connection.",
)  # fmt: skip
read_renewal = hub_operation(
    "hub.read_certificate_renewal", "POST /hub/setup/renewal", SetupSession, Renewal, errors=_OVER,
    summary="Read the certificates of the connection of a renewal link.",
)  # fmt: skip
add_certificate = hub_operation(
    "hub.add_renewed_certificate", "POST /hub/setup/renewal/add", AddRenewedCertificate, Posted,
    errors=(*_CLOSED, errors.SetupEntryRefused),
    summary="Trust a certificate beside those of the connection of a renewal link.",
)  # fmt: skip
activate = hub_operation(
    "hub.activate_setup", "POST /hub/setup/activate", SetupSession, Posted,
    errors=(*_CLOSED, errors.SetupIncomplete, errors.DomainNotVerified, errors.DomainOfOtherConnection),
    summary="Activate the connection, and complete the link.",
)  # fmt: skip
