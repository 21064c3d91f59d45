"""The configuration file of tenants, as `gatehouse apply` reads it and `gatehouse export` writes it.

Only the keys that are present are applied. A key that is absent within `settings`, `brand`, an application or a template gets
its default, unless an operation set it (decisions/0162).
"""

import re
from functools import cache
from typing import Annotated, Any, Literal, cast
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, create_model, model_validator

from app.contract.auth import INTERFACE_SCOPES
from app.contract.authorization_details import TypeName
from app.contract.branding import Brand
from app.contract.client_addresses import AuthenticationClass, RequestUri, SecureAddress
from app.contract.client_authentication import problem_of
from app.contract.client_keys import public_keys
from app.contract.configuration import ApplicationSettings, AssertionIssuer, TenantSettings
from app.contract.configuration_model import ConfigurationModel, Picture, WebAddress, plain, web_origin
from app.contract.configuration_texts import describe
from app.contract.connections import (
    PRESETS,
    ConnectionFile,
    ConnectionName,
    ProviderAddress,
    complete,
)
from app.contract.logout_settings import LogoutFile, is_at_home
from app.contract.messages import MailTemplate, SmsTemplate
from app.contract.oauth_response_types import ID_TOKEN, IMPLICIT, ResponseType
from app.contract.oauth_response_types import contradiction as response_contradiction
from app.contract.organizations_file import OrganizationFile, TenantRoleFile
from app.contract.registration_form import FormField, contradiction
from app.contract.resources import file_resources
from app.contract.roles import MAX_ACCOUNT_ROLES, MAX_NAME, MAX_PERMISSIONS, MAX_ROLES
from app.contract.security_profile import contradiction as security_contradiction
from app.contract.services_settings import DuoFile, PushFile
from app.contract.subject_types import sector_of
from app.kit.resource import Resource
from app.kit.resource_models import file_model

RESERVED_TENANTS = frozenset({"api", "inbox", "shop", "www"})
RESERVED_APPLICATIONS = frozenset(
    {
        "authorize",
        "token",
        "device",
        "userinfo",
        "jwks",
        "logout",
        "register",
        "introspect",
        "revoke",
        "par",
        "check-session",
    }
    | {"gatehouse-profile"}
)
LATER = frozenset({"webhooks"})
"""Keys of a tenant that are reserved for later versions."""
BESIDE_SETTINGS = ("url_whitelist", "registration_form", "push", "duo", "connections")
"""Settings with a key of their own beside `settings`: long lists, and services with their secrets."""
LATER_OF_ACCOUNTS = frozenset({"organizations"})

_LOCAL_HOST = re.compile(r"(localhost|.+\.localhost|127(\.\d{1,3}){3}|::1)\Z")
_SCRIPT_SCHEMES = frozenset({"javascript", "data", "vbscript", "file", "blob", "about", "view-source"})
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_GUID = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"


def redirect_uri(uri: str) -> str:
    """Check a redirect URI (RFC 9700 section 2.1, RFC 8252 section 7)."""
    parts = urlsplit(plain(uri))
    if not parts.scheme or "#" in uri or "*" in uri:
        raise ValueError("a complete address with its scheme, without * or #")
    if parts.scheme in ("http", "https") and (not parts.hostname or parts.username is not None):
        raise ValueError("an address with a host and without a password")
    if parts.scheme == "http" and not _LOCAL_HOST.match(parts.hostname or ""):
        raise ValueError("an https address (http works on localhost and 127.0.0.1 only)")
    if parts.scheme.lower() in _SCRIPT_SCHEMES:
        raise ValueError("an https address, or an application's own scheme such as com.example.app:/done")
    return uri


def allowed_address(entry: str) -> str:
    """Check an entry of the whitelist: scheme, host (a leading `*.` allows subdomains), port and path prefix."""
    parts = urlsplit(plain(entry))
    host = (parts.hostname or "").removeprefix("*.")
    if (
        parts.scheme not in ("http", "https")
        or not host
        or "*" in host
        or parts.query
        or parts.fragment
        or "@" in entry
    ):
        raise ValueError("an address such as https://app.example.com or https://*.example.com/path")
    return entry


def _free_application(name: str) -> str:
    if name.lower() in RESERVED_APPLICATIONS:
        raise ValueError("another name; the service uses this one in its own addresses")
    return name


def _free_tenant(name: str) -> str:
    if name in RESERVED_TENANTS:
        raise ValueError("another name; this one is reserved")
    return name


Jwks = Annotated[dict[str, Any], AfterValidator(public_keys)]


RedirectUri = Annotated[str, AfterValidator(redirect_uri), Field(max_length=2_000)]
Origin = Annotated[str, AfterValidator(web_origin), Field(max_length=300)]
AllowedAddress = Annotated[str, AfterValidator(allowed_address), Field(max_length=2_000)]
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EXCHANGE_TOKEN = "http://gatehouse/oauth/grant-type/exchange_token"
"""The interface's own exchange (federation.md section 2); a request may name it with any host."""
GrantType = Literal[
    "authorization_code",
    "refresh_token",
    "client_credentials",
    "urn:ietf:params:oauth:grant-type:device_code",
    "urn:ietf:params:oauth:grant-type:token-exchange",
    "urn:ietf:params:oauth:grant-type:jwt-bearer",
    "http://gatehouse/oauth/grant-type/exchange_token",
    "implicit",
]
_OF_ACCOUNTS = frozenset({DEVICE_GRANT, TOKEN_EXCHANGE, JWT_BEARER, EXCHANGE_TOKEN})
"""Grants beside authorization_code whose tokens are an account's."""
_CONFIDENTIAL = ("client_credentials", TOKEN_EXCHANGE, JWT_BEARER)


class AssertionIssuerFile(AssertionIssuer):
    """An issuer of assertions, with the keys that verify them."""

    jwks: Jwks | None = None
    jwks_uri: ProviderAddress | None = None

    @model_validator(mode="after")
    def _agrees(self) -> "AssertionIssuerFile":
        if (self.jwks is None) == (self.jwks_uri is None):
            raise ValueError("jwks: a key set, or jwks_uri its address")
        if (self.subject == "identity") != (self.connection is not None):
            raise ValueError("connection: the connection's name if subject is identity, else none")
        return self


class ApplicationFile(LogoutFile, ApplicationSettings):
    """An application: RFC 7591 names, plus name, protocol, require_consent and our own lifetimes."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,59}$"), AfterValidator(_free_application)]
    client_id: Annotated[str, Field(pattern=r"^[!-~]{1,128}$")] | None = Field(
        default=None, description="Generated and printed once if absent."
    )
    client_secret: str | None = Field(
        default=None,
        min_length=16,
        max_length=256,
        description="Generated and printed once if absent; an existing one is never overwritten.",
    )
    redirect_uris: tuple[RedirectUri, ...] = ()
    post_logout_redirect_uris: tuple[RedirectUri, ...] = ()
    grant_types: tuple[GrantType, ...] = ("authorization_code", "refresh_token")
    response_types: tuple[ResponseType, ...] = ("code",)
    jwks: Jwks | None = None
    jwks_uri: ProviderAddress | None = None
    sector_identifier_uri: ProviderAddress | None = None
    request_uris: tuple[RequestUri, ...] = Field(default=(), max_length=20)
    authorization_details_types: tuple[TypeName, ...] = Field(default=(), max_length=50)
    cors_origins: tuple[Origin, ...] = ()
    assertion_issuers: tuple[AssertionIssuerFile, ...] = Field(default=(), max_length=10)
    contacts: tuple[Annotated[str, Field(min_length=3, max_length=254)], ...] = Field(default=(), max_length=10)
    initiate_login_uri: SecureAddress | None = None
    default_acr_values: tuple[AuthenticationClass, ...] = Field(default=(), max_length=10)
    software_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    software_version: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    client_uri: WebAddress | None = None
    logo_uri: Picture | None = None
    policy_uri: WebAddress | None = None
    tos_uri: WebAddress | None = None

    @model_validator(mode="after")
    def _has_its_keys(self) -> "ApplicationFile":
        if self.jwks is not None and self.jwks_uri is not None:
            raise ValueError("jwks: none, because jwks_uri has the keys (RFC 7591)")
        if self.require_signed_request_object and self.jwks is None and self.jwks_uri is None:
            raise ValueError("require_signed_request_object: false, because neither jwks nor jwks_uri has a key")
        if JWT_BEARER in self.grant_types and not self.assertion_issuers:
            raise ValueError("assertion_issuers: at least one issuer, because grant_types has jwt-bearer")
        return self

    @model_validator(mode="after")
    def _can_authenticate(self) -> "ApplicationFile":
        if (problem := problem_of(self, self.client_secret)) is not None:
            raise ValueError(problem)
        return self

    @model_validator(mode="after")
    def _has_a_sector(self) -> "ApplicationFile":
        if not self.is_pairwise:
            return self
        if sector_of(self.sector_identifier_uri, self.redirect_uris) is None:
            raise ValueError(
                "sector_identifier_uri: an address, because subject_type is pairwise and redirect_uris don't all have one host"
                " (OpenID Connect Core section 8.1)"
            )
        if self.interface_access != "none":
            raise ValueError("interface_access: none, because subject_type is pairwise and an account has its Uid")
        if (field := next(self.claims_mapping.identifiers(), None)) is not None:
            raise ValueError(f"claims_mapping: without {field}, because subject_type is pairwise")
        return self

    @model_validator(mode="after")
    def _agrees(self) -> "ApplicationFile":
        secret = next((name for name in _CONFIDENTIAL if name in self.grant_types), None)
        if self.is_public and secret is not None:
            raise ValueError(f"grant_types: without {secret}, because the application has no secret")
        if not self.grant_types or self.grant_types == ("refresh_token",):
            raise ValueError("grant_types: one beside refresh_token, which can't start a sign-in")
        if any(name in INTERFACE_SCOPES for name in self.scope.split()):
            raise ValueError("scope: no account:read or account:write; interface_access grants them")
        if "authorization_code" not in self.grant_types:
            if self.interface_access != "none" and _OF_ACCOUNTS.isdisjoint(self.grant_types):
                raise ValueError("interface_access: none, because grant_types has no authorization_code")
            return self
        if not self.redirect_uris:
            raise ValueError("redirect_uris: at least one address, because grant_types has authorization_code")
        if not self.response_types:
            raise ValueError("response_types: code, because grant_types has authorization_code")
        if self.protocol == "openid" and "openid" not in self.scope.split():
            raise ValueError("scope: a value that includes openid, because protocol is openid")
        return self

    @model_validator(mode="after")
    def _logs_out_at_home(self) -> "ApplicationFile":
        if not is_at_home(self, self.redirect_uris):
            raise ValueError("frontchannel_logout_uri: an address at the host of one of redirect_uris")
        return self

    @model_validator(mode="after")
    def _response_types_agree(self) -> "ApplicationFile":
        if expected := response_contradiction(self.protocol, self.response_types, self.grant_types):
            raise ValueError(expected)
        if not {"openid", *self.optional_scopes} <= {"openid", *self.scope.split()} or "openid" in self.optional_scopes:
            raise ValueError("optional_scopes: some of scope, without openid")
        if expected := security_contradiction(self, self):
            raise ValueError(expected)
        if IMPLICIT in self.grant_types and not self.redirect_uris:
            raise ValueError("redirect_uris: at least one address, because grant_types has implicit")
        if any(ID_TOKEN in one.split() for one in self.response_types) and "openid" not in self.scope.split():
            raise ValueError("scope: a value that includes openid, because response_types has id_token")
        return self

    def settings(self) -> ApplicationSettings:
        """Return the settings for the store: only those in the file, so that defaults stay defaults."""
        explicit = self.model_dump(mode="json", exclude_unset=True, exclude={"client_id", "client_secret"})
        return ApplicationSettings.model_validate(explicit)


class RoleFile(ConfigurationModel):
    """A role that accounts have, with all of its permissions."""

    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
    permissions: tuple[Annotated[str, Field(min_length=1, max_length=MAX_NAME)], ...] = Field(
        default=(), max_length=MAX_PERMISSIONS
    )


class AccountFile(ConfigurationModel):
    """An account. Created if no account has its email, username or phone; an existing password is never overwritten."""

    email: Annotated[str, Field(max_length=320)] | None = None
    username: Annotated[str, Field(pattern=r"^[^\s@]{2,64}$")] | None = None
    phone: Annotated[str, Field(pattern=r"^\+[1-9][0-9]{5,14}$", description="E.164, such as +4930123456.")] | None = (
        None
    )
    password: Annotated[str, Field(min_length=1, max_length=1024)] | None = None
    email_verified: bool = False
    phone_verified: bool = False
    is_active: bool = True
    prefix: str | None = None
    first_name: str | None = None
    middle_name: str | None = None
    last_name: str | None = None
    suffix: str | None = None
    nick_name: str | None = None
    birth_date: str | None = None
    gender: str | None = None
    website: str | None = None
    company: str | None = None
    local_language: str | None = None
    custom_fields: dict[str, str] = Field(default_factory=dict)
    roles: tuple[str, ...] = Field(
        default=(), max_length=MAX_ACCOUNT_ROLES, description="Names of the tenant's roles; the account has no others."
    )

    @model_validator(mode="after")
    def _can_be_named(self) -> "AccountFile":
        if not (self.email or self.username or self.phone):
            raise ValueError("email: at least one of email, username and phone")
        for kind in ("email", "phone"):
            if getattr(self, f"{kind}_verified") and not getattr(self, kind):
                raise ValueError(f"{kind}_verified: false, because the account has no {kind}")
        return self

    @property
    def label(self) -> str:
        """The account's name in plans and problems."""
        return self.email or self.username or self.phone or ""


class TenantFile(ConfigurationModel):
    """One tenant. `theme` names a folder with theme.yaml, whose keys are those of `brand`, and with the logo."""

    name: Annotated[
        str,
        Field(pattern=rf"^{_LABEL}$", description="The first label of the tenant's host name."),
        AfterValidator(_free_tenant),
    ]
    api_key: Annotated[str, Field(pattern=_GUID)] | None = Field(
        default=None, description="A GUID; generated and printed once if absent."
    )
    api_secret: Annotated[str, Field(pattern=_GUID)] | None = Field(
        default=None, description="A GUID; generated and printed once if absent."
    )
    captcha_secret: Annotated[str, Field(min_length=1, max_length=500)] | None = Field(
        default=None,
        description="The secret that the provider of settings.captcha issued with the site key; stored encrypted. Unlike our own "
        "secrets it can be replaced.",
    )
    settings: TenantSettings | None = None
    url_whitelist: tuple[AllowedAddress, ...] | None = None
    registration_form: tuple[FormField, ...] | None = Field(
        default=None,
        max_length=60,
        description="The fields of the registration form, in this order. An empty list: those that sign-in needs.",
    )
    push: PushFile | None = Field(
        default=None,
        description="The cloud service for push notifications. Another secret replaces the current one.",
    )
    duo: DuoFile | None = Field(
        default=None, description="Your application at Duo. Another secret replaces the current one."
    )
    connections: Annotated[dict[ConnectionName, ConnectionFile], AfterValidator(complete)] | None = Field(
        default=None,
        max_length=30,
        description="Identity providers for sign-ins, by their names in addresses and profiles. "
        "A name belongs to its provider permanently: give another provider another one. "
        f"These names have presets: {', '.join(PRESETS)}. Another secret replaces the current one.",
    )
    theme: str | None = Field(default=None, description="A folder beside the file.")
    brand: Brand | None = Field(default=None, description="The theme's tokens in place; instead of `theme`.")
    applications: tuple[ApplicationFile, ...] | None = None
    mail_templates: tuple[MailTemplate, ...] | None = Field(
        default=None,
        max_length=200,
        description="Mails of the tenant's own, in place of ours (docs/mail-templates.md).",
    )
    sms_templates: tuple[SmsTemplate, ...] | None = Field(
        default=None, max_length=100, description="Text messages of the tenant's own."
    )
    roles: tuple[RoleFile, ...] | None = Field(
        default=None, max_length=MAX_ROLES, description="The roles of accounts, known by their names."
    )
    accounts: tuple[AccountFile, ...] | None = None
    organization_roles: tuple[TenantRoleFile, ...] | None = Field(
        default=None, max_length=1_000, description="Roles for the members of all organizations."
    )
    organizations: tuple[OrganizationFile, ...] | None = Field(
        default=None,
        max_length=10_000,
        description="The companies among your customers. Nothing is removed, not even by `--prune`.",
    )

    @model_validator(mode="after")
    def _agrees(self) -> "TenantFile":
        if self.theme is not None and self.brand is not None:
            raise ValueError("theme: theme or brand, not both")
        for key in BESIDE_SETTINGS:
            if self.settings is not None and key in self.settings.model_fields_set:
                raise ValueError(f"settings.{key}: {key} next to settings, not inside")
        known = self.settings.custom_fields if self.settings is not None else None
        if self.registration_form and (expected := contradiction(self.registration_form, known)):
            raise ValueError(f"registration_form: {expected}")
        settings = self.settings or TenantSettings()
        if settings.lockout.type == "security_question" and not settings.security_questions:
            raise ValueError(
                "settings.lockout.type: another type, because settings.security_questions has no questions"
            )
        return self


class ConfigurationFile(ConfigurationModel):
    """The whole file."""

    tenants: tuple[TenantFile, ...]


@cache
def configuration_file(resources: tuple[Resource, ...]) -> type[ConfigurationFile]:
    """Return the model of the file with a key for each resource: a list of its items."""
    fields: dict[str, Any] = {}
    for one in resources:
        if one.file_key not in TenantFile.model_fields:
            item: Any = file_model(one)
            note = Field(default=None, max_length=one.most, description=one.file_note)
            fields[one.file_key] = (tuple[item, ...] | None, note)
    if not fields:
        return ConfigurationFile
    tenant: Any = create_model("TenantFile", __base__=TenantFile, __doc__=TenantFile.__doc__, **fields)
    made: Any = create_model("ConfigurationFile", __base__=ConfigurationFile, tenants=(tuple[tenant, ...], ...))
    return cast("type[ConfigurationFile]", made)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file."""
    whole = configuration_file(file_resources())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **describe(whole.model_json_schema())}
