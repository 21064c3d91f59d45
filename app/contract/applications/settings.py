"""Settings of an application (RFC 7591 section 2), as the store returns them."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field, WithJsonSchema

from app.contract.applications.application_urls import Resource
from app.contract.applications.client_authentication import AuthenticationSettings
from app.contract.applications.client_protocol import ClientProtocol
from app.contract.applications.localized_texts import LocalizedSettings
from app.contract.applications.logout_settings import LogoutSettings
from app.contract.applications.security_profile import SecurityProfileSettings
from app.contract.applications.subject_types import SubjectSettings
from app.contract.applications.token_signing import SigningAlgorithm, SigningSettings
from app.contract.auth import ACCOUNT_READ, ACCOUNT_WRITE
from app.contract.configuration_model import ConfigurationModel, Different
from app.contract.federation.connections import STANDARD_CLAIMS, ClaimedMember
from app.contract.tenants.branding import ThemeName
from app.contract.tenants.settings import DAY, HOUR
from app.contract.workflows.names import WorkflowName
from app.contract.workflows.token_hook import TokenHook

_INTERFACE_SCOPES: Final[Mapping[str, tuple[str, ...]]] = {
    "none": (),
    "read": (ACCOUNT_READ,),
    "full": (ACCOUNT_READ, ACCOUNT_WRITE),
}


MetadataName = Annotated[str, Field(min_length=1, max_length=60)]


class TrustedIssuer(ConfigurationModel):
    """An issuer whose signed assertions an application exchanges for tokens of its users (RFC 7523 section 2.1)."""

    issuer: Annotated[str, Field(min_length=1, max_length=500)]
    jwks: dict[str, Any] | None = None
    jwks_uri: str | None = None
    audience: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    subject: Literal["uid", "email", "identity"] = "uid"
    connection: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    creates_accounts: bool = False
    trusts_email: bool = False
    links_accounts: bool = False
    claims: dict[ClaimedMember, Annotated[str, Field(min_length=1, max_length=200)]] = Field(default_factory=dict)

    @property
    def names(self) -> Mapping[str, str]:
        """The issuer's name of each claim."""
        return {**STANDARD_CLAIMS, **{str(member): claim for member, claim in self.claims.items()}}


class NamedApplication(ConfigurationModel):
    """What an application is. A base of its own, so that these keys come first in the documentation."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,59}$")]
    client_name: str | None = None  # the display name; absent: the name
    protocol: Annotated[
        ClientProtocol, WithJsonSchema({"enum": [*ClientProtocol], "title": "Protocol", "type": "string"})
    ] = ClientProtocol.OPENID
    application_type: Literal["web", "native", "spa", "m2m"] = "web"


class ApplicationSettings(
    SubjectSettings,
    SigningSettings,
    SecurityProfileSettings,
    AuthenticationSettings,
    LogoutSettings,
    LocalizedSettings,
    NamedApplication,
):
    """An application: RFC 7591 names, plus name, protocol, require_consent and our own lifetimes."""

    redirect_uris: tuple[str, ...] = ()
    post_logout_redirect_uris: tuple[str, ...] = ()
    grant_types: tuple[str, ...] = ("authorization_code", "refresh_token")
    response_types: tuple[str, ...] = ("code",)
    request_object_signing_alg: SigningAlgorithm | None = None
    require_signed_request_object: bool = False
    request_uris: tuple[str, ...] = ()
    scope: str = "openid profile email phone address offline_access"
    authorization_details_types: tuple[str, ...] = ()
    optional_scopes: tuple[str, ...] = ()
    require_consent: bool = False
    contacts: tuple[str, ...] = ()
    initiate_login_uri: str | None = None
    default_max_age: int | None = Field(default=None, ge=0, le=10 * 365 * DAY)
    require_auth_time: bool = False
    default_acr_values: tuple[str, ...] = ()
    software_id: str | None = None
    software_version: str | None = None
    organization_usage: Literal["deny", "allow", "prompt", "require"] = "allow"
    cors: bool = True
    cors_origins: tuple[str, ...] = ()
    client_uri: str | None = None
    logo_uri: str | None = None
    policy_uri: str | None = None
    tos_uri: str | None = None
    force_reauthentication: bool = False
    workflows: Annotated[tuple[WorkflowName, ...], Different, Field(max_length=20)] = Field(
        default=(),
        description="Workflows that its sign-ins can follow, by name. The first is the default; the parameter `workflow` of a request "
        "chooses another one. An empty list: the tenant's `default_workflow`.",
    )
    theme_name: ThemeName = Field(
        default="",
        description="The [theme](theming.md#several-brands) of the pages and messages of its sign-ins, by name. What it doesn’t set, "
        "they have from the tenant.",
    )
    token_hook: TokenHook | None = Field(
        default=None, description="Its token hook, in place of the tenant's `token_hook`. If absent, the tenant's."
    )
    access_token_seconds: int | None = Field(default=None, ge=30, le=90 * DAY)
    refresh_token_seconds: int | None = Field(default=None, ge=60, le=365 * DAY)
    device_code_seconds: int = Field(default=300, ge=60, le=1_800)
    device_poll_seconds: int = Field(default=5, ge=1, le=60)
    id_token_seconds: int = Field(default=HOUR, ge=30, le=DAY)
    audience_scopes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    refresh_tokens: Literal["always", "offline_access"] = "always"
    tokens_outlive_session: bool = (
        False  # its tokens stay valid after sign-out and session end even without `offline_access`
    )
    resources: tuple[Resource, ...] = Field(
        default=(),
        description="APIs that it can request as `resource` (RFC 8707), which becomes the `aud` of its access tokens.",
    )
    interface_access: Literal["none", "read", "full"] = Field(
        default="none",
        description="What its access tokens can do in the account API: nothing, what `account:read` allows, or also what "
        "`account:write` allows.",
    )
    exchange_audiences: tuple[Annotated[str, Field(min_length=1, max_length=500)], ...] = Field(
        default=(),
        max_length=50,
        description="Other audiences that it can request by token exchange (RFC 8693): resources, or client IDs.",
    )
    may_act: tuple[Annotated[str, Field(min_length=1, max_length=128)], ...] = Field(
        default=(),
        max_length=50,
        description="Client IDs that can exchange its access tokens and act for its users (RFC 8693).",
    )
    id_token_audiences: tuple[Annotated[str, Field(min_length=1, max_length=500)], ...] = Field(
        default=(),
        max_length=20,
        description="Other audiences of its ID tokens, such as the client ID of a server that gets them from an app.",
    )
    pushed_authorization_requests: bool = Field(
        default=True, description="Whether it may push its authorization requests (RFC 9126)."
    )
    metadata: dict[MetadataName, Annotated[str, Field(max_length=1_000)]] = Field(
        default_factory=dict,
        max_length=50,
        description="Notes of your own. Gatehouse stores and returns them; no token and no page has them.",
    )
    assertion_issuers: tuple[TrustedIssuer, ...] = Field(default=(), max_length=10)
    resource_server: bool = False  # it may introspect access tokens of the tenant's other applications
    is_active: bool = True

    @property
    def interface_scopes(self) -> tuple[str, ...]:
        """The scopes of its tokens for account operations."""
        return _INTERFACE_SCOPES[self.interface_access]
