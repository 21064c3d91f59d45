"""Models that the operations of organizations share."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from app.contract import errors
from app.contract.federation.connections import is_local, is_provider_url
from app.contract.organizations.settings import SignInMethod
from app.contract.tenants.branding import ThemeName
from app.kit.operations.partial_update import PartialUpdate
from app.kit.operations.wire import From, Wire
from app.kit.web.urls import is_web_url

Query = From.QUERY


def _https(address: str) -> str:
    if not (is_web_url(address) and (address.startswith("https://") or is_local(address))):
        raise ValueError("an https address (http works on localhost only)")
    return address


def _of_provider(address: str) -> str:
    if not is_provider_url(address):
        raise ValueError("an https address (http works on localhost only)")
    return address


ProviderUrl = Annotated[str, Field(max_length=2_000), AfterValidator(_of_provider)]
HttpsUrl = Annotated[str, Field(max_length=2_000), AfterValidator(_https)]
HexColor = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
Id = Annotated[str, Field(max_length=200)]
Ids = Annotated[list[Id], Field(min_length=1, max_length=200)]


class OrgPath(Wire):
    """An organization, by the id in the path."""

    org_id: Annotated[str, From.PATH, Field(alias="orgId")]


class Status(Wire):
    """Whether it is active: true or false."""

    active: Annotated[Any, Field(json_schema_extra={"type": "boolean"})] = None

    @property
    def is_active(self) -> bool:
        """The requested state. Raises WrongStatus for anything but a boolean."""
        if not isinstance(self.active, bool):
            raise errors.WrongStatus
        return self.active


class IsActive(Wire):
    is_active: bool


class Display(Wire):
    """The organization's name, logo and color on its sign-in pages and in its emails. Anyone who knows the organization's name
    can see them."""

    name: Annotated[str | None, Field(max_length=100)] = None
    logo_url: Annotated[HttpsUrl | None, Field(alias="LogoURL")] = None
    color: HexColor | None = None
    theme_name: Annotated[
        ThemeName | None, Field(description="The theme of its sign-in pages, under its name, logo and color.")
    ] = None


class DisplayUpdate(Display, PartialUpdate):
    """The look to change."""


class DomainProblem(StrEnum):
    RECORD_MISSING = "record_missing"
    RECORD_LOST = "record_lost"  # it verified the domain before
    VERIFIED_ELSEWHERE = "verified_elsewhere"  # by another organization
    CONTESTED = "contested"  # another organization also verified the domain, which stays verified


class Domain(Wire):
    """A domain of an organization. `VerificationToken` is the value of the TXT record that proves it.

    `Reason` of a failed domain: its record was not found, its record is gone since it was verified, or another organization has
    verified it. Of a verified domain: another organization proved it too.
    """

    id: str
    domain_name: str
    is_verified: bool
    verification_strategy: Literal["manual", "dns_txt"]
    verification_token: str
    status: Literal["pending", "verified", "failed"]
    reason: DomainProblem | None = None


class GroupRole(Wire):
    """A role for the members of a group at the identity provider."""

    id: str
    group_id: str
    name: str
    role_id: str


AttributeName = Annotated[str, Field(min_length=1, max_length=200)]
CustomMapping = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=100)], AttributeName], Field(max_length=50)
]


class Attributes(Wire):
    """Which attribute of the identity provider fills which profile field."""

    id: Annotated[AttributeName, Field(alias="ID")] = "sub"
    email: AttributeName = "email"
    first_name: AttributeName = "firstName"
    last_name: AttributeName = "lastName"
    groups: AttributeName = "groups"
    custom_mapping: CustomMapping = Field(default_factory=dict)


class AttributesUpdate(PartialUpdate):
    """The attributes to change."""

    id: Annotated[AttributeName | None, Field(alias="ID")] = None
    email: AttributeName | None = None
    first_name: AttributeName | None = None
    last_name: AttributeName | None = None
    groups: AttributeName | None = None
    custom_mapping: CustomMapping | None = None


class DatedCertificate(Wire):
    """An X.509 certificate in PEM, and its validity."""

    certificate: str
    not_after: str | None
    not_before: str | None


class TrustedCertificate(DatedCertificate):
    """An X.509 certificate that verifies the identity provider’s signatures. `TrustedUntil` is the end of the overlap, for one that
    the provider’s metadata no longer has."""

    trusted_until: str | None


class ConnectionCertificate(Wire):
    """The X.509 certificate that Gatehouse generated, in PEM."""

    certificate: str


def _only_of(kind: str) -> Any:
    """Return the member's field that connections of the other kind do not have."""
    return Field(exclude_if=lambda value: value is None, description=f"Of {kind} connections alone.")


_SAML, _OIDC = _only_of("SAML"), _only_of("OpenID Connect")


class Connection(Wire):
    """A connection to an organization's identity provider. Responses mask `ClientSecret`."""

    id: str
    is_active: bool
    created_date: str
    modified_date: str
    name: str
    domain: str
    connection_type: str
    group_roles: list[GroupRole]
    attributes: Attributes
    idp_entity_id: Annotated[str | None, _SAML, Field(alias="IDPEntityId")] = None
    idp_metadata_url: Annotated[str | None, _SAML, Field(alias="IDPMetadataUrl")] = None
    is_idp_initiated: Annotated[bool | None, _SAML, Field(alias="IsIDPInitiated")] = None
    idp_certificate: Annotated[DatedCertificate | None, _SAML, Field(alias="IDPCertificate")] = None
    idp_certificates: Annotated[list[TrustedCertificate] | None, _SAML, Field(alias="IDPCertificates")] = None
    idp_sign_in_url: Annotated[str | None, _SAML, Field(alias="IDPSignInUrl")] = None
    idp_sign_out_url: Annotated[str | None, _SAML, Field(alias="IDPSignOutUrl")] = None
    entity_id: Annotated[str | None, _SAML] = None
    metadata_url: Annotated[str | None, _SAML] = None
    acs_endpoint: Annotated[str | None, _SAML, Field(alias="ACSEndpoint")] = None
    sp_certificate: Annotated[ConnectionCertificate | None, _SAML, Field(alias="SPCertificate")] = None
    next_certificate: Annotated[DatedCertificate | None, _SAML] = None
    former_certificate: Annotated[DatedCertificate | None, _SAML] = None
    issuer: Annotated[str | None, _OIDC] = None
    authorization_url: Annotated[str | None, _OIDC] = None
    token_url: Annotated[str | None, _OIDC] = None
    user_info_url: Annotated[str | None, _OIDC] = None
    client_id: Annotated[str | None, _OIDC] = None
    client_secret: Annotated[str | None, _OIDC] = None
    scopes: Annotated[list[str] | None, _OIDC] = None
    token_auth_method: Annotated[str | None, _OIDC] = None
    redirect_uri: Annotated[str | None, _OIDC, Field(alias="RedirectURI")] = None


class JitPolicy(PartialUpdate):
    """Whether accounts whose verified address has a verified domain of the organization join it.

    With `RequireApproval` they ask to join, and a manager approves; this needs no connection, and goes before `Enabled`.
    """

    enabled: bool | None = None
    require_approval: bool | None = None


class MfaPolicy(PartialUpdate):
    """Whether members need a second factor."""

    enforcement_mode: Literal["optional", "force", "none"] | None = None


class MemberPolicy(PartialUpdate):
    """The role of new members, and how many members the organization can have. When all `Seats` are taken, invitations are
    refused, and accounts of its domains don't join."""

    default_member_role: Annotated[str | None, Field(max_length=200)] = None
    seats: Annotated[int | None, Field(ge=1, le=1_000_000)] = None


class OrganizationPasswordPolicy(PartialUpdate):
    """The requirements for members' passwords. Of this policy and the tenant's, the stricter rule applies."""

    expiry_days: Annotated[int | None, Field(ge=0, le=3_650)] = None
    min_length: Annotated[int | None, Field(ge=1, le=128)] = None
    max_length: Annotated[int | None, Field(ge=8, le=1_024)] = None
    require_lowercase: bool | None = None
    require_uppercase: bool | None = None
    require_number: bool | None = None
    require_special_char: bool | None = None


class SessionPolicy(PartialUpdate):
    """How long the tokens of members last, in seconds."""

    access_token_ttl: Annotated[int | None, Field(alias="AccessTokenTTL", ge=60, le=7_776_000)] = None
    refresh_token_ttl: Annotated[int | None, Field(alias="RefreshTokenTTL", ge=60, le=31_536_000)] = None


Methods = Annotated[list[SignInMethod], Field(min_length=1, max_length=20)]


class MethodPolicy(PartialUpdate):
    """How members may sign in. Members who haven’t set up any of these ways may use another. The LDAP provider checks the passwords of
    people with an address of the organization’s verified domains."""

    allowed_methods: Methods | None = None
    ldap_provider: Annotated[str | None, Field(min_length=1, max_length=60)] = None


class Policies(Wire):
    """The policies of an organization. Where a policy is null, the tenant's settings apply."""

    jit_policy: Annotated[JitPolicy, Field(alias="JITPolicy")] = JitPolicy()
    mfa_policy: Annotated[MfaPolicy, Field(alias="MFAPolicy")] = MfaPolicy()
    member_policy: MemberPolicy = MemberPolicy()
    password_policy: OrganizationPasswordPolicy = OrganizationPasswordPolicy()
    session_policy: SessionPolicy = SessionPolicy()
    method_policy: MethodPolicy = MethodPolicy()
