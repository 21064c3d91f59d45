"""Management programs read and write OAuth clients: the applications that sign people in.

The docstrings are published."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.applications.application_urls import AuthenticationClass, RequestUri, SecureUrl
from app.contract.applications.claims_mapping import Claims
from app.contract.applications.client_authentication import AssertionAlg, AuthMethod, CertificateName
from app.contract.applications.file import GrantType, Jwks, Origin, RedirectUri
from app.contract.applications.localized_texts import MAX_LANGUAGES, EachOnce, LanguageTag
from app.contract.applications.logout_settings import MAX_LOGOUT_URLS
from app.contract.applications.security_profile import ReuseSeconds
from app.contract.applications.settings import ApplicationSettings, MetadataName
from app.contract.applications.subject_types import SubjectType
from app.contract.applications.token_signing import DEFAULT_ALGORITHM, SigningAlgorithm
from app.contract.configuration_model import Picture, WebUrl
from app.contract.federation.connections import ClaimedMember, ProviderAddress
from app.contract.oauth.authorization_details import TypeName
from app.contract.oauth.response_types import ResponseMode, ResponseType
from app.contract.resources import collection
from app.contract.tenants.branding import ThemeName
from app.contract.workflows.names import WorkflowName
from app.contract.workflows.token_hook import TokenHookMembers
from app.kit.operations.wire import Wire
from app.kit.resources.resource import (  # fmt: skip
    COMPUTED,
    CREATE,
    CREATED_AT,
    DELETE,
    LIST,
    ONCE,
    READ,
    READ_ONLY,
    UPDATE,
    InOwnStore,
    Key,
    ResourceAction,
    StoredAs,
)

OVERLAP_HOURS = 24
"""How long the former secret of a rotated client is still accepted."""

Addresses = Annotated[list[RedirectUri], Field(max_length=50)]
Scope = Annotated[str, Field(pattern=r"^[!#-\[\]-~]{1,100}$")]
Scopes = Annotated[list[Scope], Field(max_length=100)]


class AssertionIssuer(Wire):
    """An issuer whose assertions the client exchanges (RFC 7523, section 2.1). `Subject` says how its `sub` names an account."""

    issuer: Annotated[str, Field(min_length=1, max_length=500)]
    jwks: Jwks | None = None
    jwks_uri: ProviderAddress | None = None
    audience: Annotated[str | None, Field(min_length=1, max_length=500)] = None
    subject: Literal["uid", "email", "identity"] = "uid"
    connection: Annotated[str | None, Field(min_length=1, max_length=100)] = None
    creates_accounts: bool = False
    trusts_email: bool = False
    links_accounts: bool = False
    claims: dict[ClaimedMember, Annotated[str, Field(min_length=1, max_length=200)]] = Field(default_factory=dict)


class LogoutReasons(Wire):
    """The events after which Gatehouse sends logout tokens."""

    rp_logout: Annotated[bool, Field(alias="RPLogout")] = True
    idp_logout: Annotated[bool, Field(alias="IDPLogout")] = True
    password_change: bool = True
    account_delete: bool = True


class LogoutInitiator(LogoutReasons):
    """The events after which Gatehouse sends logout tokens. `Intiators`, with this spelling, has them too."""

    mode: Literal["RPInitiated"] = "RPInitiated"
    intiators: LogoutReasons | None = None


class DeviceCodeConfig(Wire):
    """How devices get codes. It replaces the whole object: a member that you leave out gets its default."""

    device_code_expire: Annotated[int, Field(ge=60, le=1_800)] = 300
    polling_interval: Annotated[int, Field(ge=1, le=60)] = 5
    user_code_character_set: Literal["Base20"] = "Base20"
    user_code_mask: Literal["****-****"] = "****-****"


class BackChannelLogout(Wire):
    """Where the application gets logout tokens, and when. `IsEnabled` false removes the addresses."""

    is_enabled: bool = True
    logout_uris: Annotated[list[ProviderAddress], Field(max_length=MAX_LOGOUT_URLS + 1, alias="LogoutURIs")] = Field(
        default_factory=list
    )
    logout_token_ttl: Annotated[int, Field(ge=30, le=86_400, alias="LogoutTokenTTL")] = 3_600
    session_required: bool = False
    logout_initiator: LogoutInitiator = Field(default_factory=LogoutInitiator)


class DataMapping(Wire):
    """A field of the profile for each claim of these tokens and responses; `CustomFields.NAME` is a custom field."""

    id_token: Claims = Field(default_factory=dict)
    userinfo: Annotated[Claims, Field(alias="UserInfo")] = Field(default_factory=dict)
    access_token: Claims = Field(default_factory=dict)


class LocalizedDisplay(Wire):
    """What pages in one language show of the application, in place of its own values."""

    client_name: Annotated[str | None, Field(min_length=1, max_length=100, alias="DisplayName")] = None
    client_uri: Annotated[WebUrl | None, Field(alias="ClientURI")] = None
    logo_uri: Annotated[Picture | None, Field(alias="LogoURI")] = None
    policy_uri: Annotated[WebUrl | None, Field(alias="PolicyURI")] = None
    tos_uri: Annotated[WebUrl | None, Field(alias="TosURI")] = None


class OAuthClient(Wire):
    """An application. Only the response that creates or rotates the secret has `ClientSecret`; later ones mask it, and a public
    client has none. Lifetimes are in seconds. `AudienceScopes` are the scopes of a machine at an audience. You can create, change,
    delete and rotate only a client whose management scopes you have, before and after. Assertion issuers, `MayAct`,
    `ExchangeAudiences`, `IdTokenAudiences`, `TokenHook`, other audiences and access to the account API need the scope `all`.
    `RegisteredBy` says how an application registered itself: by open registration, an initial access token, or a client ID metadata
    document. Such an application always asks for consent. These members have two names, of which you send one or change one:
    `RequirePAR` and `RequirePushedAuthorizationRequests`, `AllowedWebOrigin` and `AllowedCorsOrigin`,
    `DeviceCodeConfig.DeviceCodeExpire` and `DeviceCodeTTL`."""

    app_name: Annotated[str, Key("oAuthClientName"), StoredAs("name"), Field(max_length=60)]
    protocol: Annotated[Literal["OpenID", "OAuth 2.0"], COMPUTED] = "OpenID"
    application_type: Annotated[Literal["Web", "Native", "SPA", "M2M"], COMPUTED] = "Web"
    app_id: Annotated[str, READ_ONLY] = ""
    client_id: Annotated[str, READ_ONLY] = ""
    client_secret: Annotated[str | None, ONCE] = None
    display_name: Annotated[str | None, StoredAs("client_name"), Field(max_length=100)] = None
    localized: Annotated[dict[LanguageTag, LocalizedDisplay], EachOnce, Field(max_length=MAX_LANGUAGES)] = Field(
        default_factory=dict
    )
    grant_types: Annotated[list[GrantType], Field(max_length=10)] = ["authorization_code", "refresh_token"]
    response_types: Annotated[list[ResponseType], Field(max_length=7)] = ["code"]
    response_modes: Annotated[list[ResponseMode], Field(max_length=7)] = Field(default_factory=list)
    authorization_signed_response_alg: SigningAlgorithm = DEFAULT_ALGORITHM
    allowed_scopes: Annotated[Scopes, COMPUTED] = ["openid", "profile", "email", "phone", "address", "offline_access"]
    audience_scopes: Annotated[dict[Annotated[str, Field(max_length=500)], Scopes], Field(max_length=20)] = Field(
        default_factory=dict
    )
    optional_scopes: Scopes = Field(default_factory=list)
    authorization_details_types: Annotated[list[TypeName], Field(max_length=50)] = Field(default_factory=list)
    redirect_uris: Annotated[Addresses, Field(alias="RedirectURIs")] = Field(default_factory=list)
    post_logout_redirect_uris: Annotated[Addresses, Field(alias="PostLogoutRedirectURIs")] = Field(default_factory=list)
    back_channel_logout: Annotated[BackChannelLogout | None, COMPUTED] = None
    front_channel_logout_uri: Annotated[
        ProviderAddress | None, Field(alias="FrontChannelLogoutURI"), StoredAs("frontchannel_logout_uri")
    ] = None
    front_channel_logout_session_required: Annotated[bool, StoredAs("frontchannel_logout_session_required")] = False
    token_endpoint_auth_method: AuthMethod = "client_secret_basic"
    token_endpoint_auth_signing_alg: AssertionAlg | None = None
    tls_client_auth_subject_dn: CertificateName | None = None
    tls_client_auth_san_dns: CertificateName | None = None
    tls_client_auth_san_uri: CertificateName | None = None
    tls_client_auth_san_ip: CertificateName | None = None
    tls_client_auth_san_email: CertificateName | None = None
    tls_client_certificate_bound_access_tokens: bool = False
    jwks: Jwks | None = None
    jwks_uri: ProviderAddress | None = None
    request_object_signing_alg: SigningAlgorithm | None = None
    require_signed_request_object: bool = False
    request_uris: Annotated[list[RequestUri], Field(max_length=20, alias="RequestURIs")] = Field(default_factory=list)
    require_pushed_authorization_requests: bool = False
    enable_par: Annotated[bool, Field(alias="EnablePAR"), StoredAs("pushed_authorization_requests")] = True
    require_par: Annotated[bool | None, COMPUTED, Field(alias="RequirePAR")] = None
    access_token_ttl: Annotated[
        int | None, Field(ge=30, le=7_776_000, alias="AccessTokenTTL"), StoredAs("access_token_seconds")
    ] = None
    refresh_token_ttl: Annotated[
        int | None, Field(ge=60, le=31_536_000, alias="RefreshTokenTTL"), StoredAs("refresh_token_seconds")
    ] = None
    id_token_ttl: Annotated[int, Field(ge=30, le=86_400, alias="IdTokenTTL"), StoredAs("id_token_seconds")] = 3_600
    device_code_ttl: Annotated[int, Field(ge=60, le=1_800, alias="DeviceCodeTTL"), StoredAs("device_code_seconds")] = (
        300
    )
    device_code_config: Annotated[DeviceCodeConfig | None, COMPUTED] = None
    refresh_tokens: Literal["always", "offline_access"] = "always"
    subject_type: SubjectType = "public"
    sector_identifier_uri: Annotated[ProviderAddress | None, Field(alias="SectorIdentifierURI")] = None
    access_token_format: Literal["opaque", "jwt"] = "opaque"
    access_token_signing_alg: SigningAlgorithm = DEFAULT_ALGORITHM
    id_token_signed_response_alg: SigningAlgorithm = DEFAULT_ALGORITHM
    signed_user_info: Annotated[bool, StoredAs("signed_userinfo")] = False
    userinfo_signed_response_alg: SigningAlgorithm | None = None
    introspection_signed_response_alg: SigningAlgorithm = DEFAULT_ALGORITHM
    claims_mapping: Annotated[DataMapping, Field(alias="DataMapping")] = DataMapping()
    require_pkce: Annotated[bool, Field(alias="RequirePKCE")] = False
    dpop_bound_access_tokens: bool = False
    require_dpop_nonce: bool = False
    contacts: Annotated[list[Annotated[str, Field(min_length=3, max_length=254)]], Field(max_length=10)] = Field(
        default_factory=list
    )
    initiate_login_uri: Annotated[SecureUrl | None, Field(alias="InitiateLoginURI")] = None
    default_max_age: Annotated[int | None, Field(ge=0, le=315_360_000)] = None
    require_auth_time: bool = False
    default_acr_values: Annotated[list[AuthenticationClass], Field(max_length=10)] = Field(default_factory=list)
    software_id: Annotated[str | None, Field(max_length=200)] = None
    software_version: Annotated[str | None, Field(max_length=100)] = None
    refresh_token_rotation: bool | None = None
    refresh_token_reuse_interval: Annotated[ReuseSeconds | None, StoredAs("refresh_token_reuse_seconds")] = None
    security_profile: Literal["plain", "fapi2"] = "plain"
    force_re_authentication: Annotated[bool, StoredAs("force_reauthentication")] = False
    workflows: Annotated[list[WorkflowName], Field(max_length=20)] = Field(default_factory=list)
    theme_name: ThemeName = ""
    token_hook: Annotated[TokenHookMembers | None, COMPUTED] = None
    allowed_cors_origin: Annotated[list[Origin], Field(max_length=50), StoredAs("cors_origins")] = Field(
        default_factory=list
    )
    enable_cors_origin: Annotated[bool, StoredAs("cors")] = True
    allowed_web_origin: Annotated[list[Origin] | None, COMPUTED, Field(max_length=50)] = None
    id_token_audiences: Annotated[list[Annotated[str, Field(min_length=1, max_length=500)]], Field(max_length=20)] = (
        Field(default_factory=list)
    )
    metadata: Annotated[dict[MetadataName, Annotated[str, Field(max_length=1_000)]], Field(max_length=50)] = Field(
        default_factory=dict
    )
    exchange_audiences: Annotated[list[Annotated[str, Field(max_length=500)]], Field(max_length=50)] = Field(
        default_factory=list
    )
    assertion_issuers: Annotated[list[AssertionIssuer], Field(max_length=10)] = Field(default_factory=list)
    may_act: Annotated[list[Annotated[str, Field(max_length=128)]], Field(max_length=50)] = Field(default_factory=list)
    is_active: bool = True
    registered_by: Annotated[Literal["open", "token", "document"] | None, READ_ONLY] = None
    created_date: Annotated[str | None, CREATED_AT] = None


class StoredApplication(ApplicationSettings):
    """An application as the store returns it."""

    client_id: str = ""
    registered_by: str | None = None


class Credentials(Wire):
    """A client's ID and its new secret."""

    client_id: str
    client_secret: str


CLIENTS = collection(
    "oauth_clients", "/v2/manage/oauth-clients", OAuthClient, verbs=(LIST, CREATE, READ, UPDATE, DELETE), noun="OAuth client",
    about="An OAuth client is an application that people sign in to, or a server that gets machine tokens.",
    scope="client", unique=("app_name",), exists=errors.OAuthClientExists, unknown=errors.UnknownOAuthClient, backing=InOwnStore(),
    content=StoredApplication, ids=("name",), partial=True, max_items=10_000,
    actions=(
        ResourceAction(
            "rotate", "PUT /v2/manage/oauth-clients/credentials/{oAuthClientName}",
            "Rotate a client secret",
            description=f"Creates a new secret and returns it once. The former one is accepted for {OVERLAP_HOURS} hours more.",
            answer=Credentials, renews=("client_secret",), errors=(errors.BadField,),
        ),
    ),
)  # fmt: skip
