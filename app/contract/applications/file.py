"""An application in the configuration file: RFC 7591 names, plus ours."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from app.contract.applications.application_urls import AuthenticationClass, RequestUri, SecureUrl
from app.contract.applications.client_authentication import problem_of
from app.contract.applications.client_protocol import ClientProtocol
from app.contract.applications.key_sets import usable_keys
from app.contract.applications.localized_texts import MAX_LANGUAGES, EachOnce, LanguageTag, LocalizedTextsFile
from app.contract.applications.logout_settings import LogoutFile, is_at_home
from app.contract.applications.redirect_schemes import is_of_no_application
from app.contract.applications.security_profile import contradiction as security_contradiction
from app.contract.applications.settings import ApplicationSettings, TrustedIssuer
from app.contract.applications.subject_types import sector_of
from app.contract.auth import INTERFACE_SCOPES
from app.contract.configuration_model import Picture, WebUrl, page_origin, plain
from app.contract.federation.connections import (
    ProviderAddress,
)
from app.contract.oauth.authorization_details import TypeName
from app.contract.oauth.response_types import ID_TOKEN, IMPLICIT, ResponseType
from app.contract.oauth.response_types import contradiction as response_contradiction
from app.kit.web.urls import is_web_url

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
_LOCAL_HOST = re.compile(r"(localhost|.+\.localhost|127(\.\d{1,3}){3}|::1)\Z")
_HOST_AND_PORT = re.compile(r"[A-Za-z0-9.-]+:[0-9]{1,5}(?:[/?]|\Z)")
"""Reads as the scheme `localhost`, but a scheme of an application has no number after it."""


def redirect_uri(uri: str) -> str:
    """Check a redirect URI (RFC 9700 section 2.1, RFC 8252 section 7)."""
    parts = urlsplit(plain(uri))
    if _HOST_AND_PORT.match(uri):
        raise ValueError(f"an address with its scheme, such as http://{uri[:200]}")
    if not parts.scheme or "#" in uri or "*" in uri:
        raise ValueError("a complete address with its scheme, without * or #")
    if parts.scheme in ("http", "https") and not is_web_url(uri):
        raise ValueError("an address with a host and without a password")
    if parts.scheme == "http" and not _LOCAL_HOST.match(parts.hostname or ""):
        raise ValueError("an https address (http works on localhost and 127.0.0.1 only)")
    if is_of_no_application(parts.scheme):
        raise ValueError("an https address, or an application's own scheme such as com.example.app:/done")
    return uri


def _free_application(name: str) -> str:
    if name.lower() in RESERVED_APPLICATIONS:
        raise ValueError("another name; the service uses this one in its own addresses")
    return name


Jwks = Annotated[dict[str, Any], AfterValidator(usable_keys)]


RedirectUri = Annotated[str, AfterValidator(redirect_uri), Field(max_length=2_000)]
Origin = Annotated[str, AfterValidator(page_origin), Field(max_length=300)]
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EXCHANGE_TOKEN = "http://gatehouse/oauth/grant-type/exchange_token"
"""The interface's own exchange; a request may name it with any host."""
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


class AssertionIssuerFile(TrustedIssuer):
    """An issuer of assertions, with the keys that verify them."""

    jwks: Jwks | None = None
    jwks_uri: ProviderAddress | None = None

    @model_validator(mode="after")
    def _agrees(self) -> "AssertionIssuerFile":
        if (self.jwks is None) == (self.jwks_uri is None):
            raise ValueError("jwks: a key set, or jwks_uri its address")
        if (self.subject == "identity") != (self.connection is not None):
            raise ValueError("connection: the connection's name if subject is identity, else none")
        if self.creates_accounts and self.subject != "identity":
            raise ValueError("subject: identity, because creates_accounts gives a new account its identity")
        if (self.trusts_email or self.claims) and not self.creates_accounts:
            raise ValueError("creates_accounts: true, because trusts_email and claims are about new accounts")
        if self.links_accounts and not self.trusts_email:
            raise ValueError("trusts_email: true, because links_accounts links by verified addresses")
        if "subject" in self.claims:
            raise ValueError("claims.subject: none, because the subject is always `sub` (RFC 7523)")
        return self


class ApplicationFile(LogoutFile, ApplicationSettings):
    """An application: RFC 7591 names, plus name, protocol, require_consent and our own lifetimes."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,59}$"), AfterValidator(_free_application)]
    client_id: Annotated[str, Field(pattern=r"^[!-~]{1,128}$")] | None = Field(
        default=None, description="If absent, Gatehouse generates one and prints it once."
    )
    client_secret: str | None = Field(
        default=None,
        min_length=16,
        max_length=256,
        description="If absent, Gatehouse generates one and prints it once. An existing secret is never overwritten.",
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
    initiate_login_uri: SecureUrl | None = None
    default_acr_values: tuple[AuthenticationClass, ...] = Field(default=(), max_length=10)
    software_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    software_version: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    client_uri: WebUrl | None = None
    logo_uri: Picture | None = None
    policy_uri: WebUrl | None = None
    tos_uri: WebUrl | None = None
    localized: Annotated[Mapping[LanguageTag, LocalizedTextsFile], EachOnce, Field(max_length=MAX_LANGUAGES)] = Field(
        default_factory=dict
    )

    @model_validator(mode="after")
    def _has_its_keys(self) -> "ApplicationFile":
        if self.jwks is not None and self.jwks_uri is not None:
            raise ValueError("jwks: none, because jwks_uri has the keys (RFC 7591)")
        if self.require_signed_request_object and self.jwks is None and self.jwks_uri is None:
            raise ValueError("require_signed_request_object: false, because neither jwks nor jwks_uri has a key")
        if self.must_push and not self.pushed_authorization_requests:
            raise ValueError("pushed_authorization_requests: true, because the application must push its requests")
        if repeated := len(self.id_token_audiences) - len({*self.id_token_audiences} - {self.client_id}):
            raise ValueError(f"id_token_audiences: each other audience once; {repeated} too many")
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
        if (odd := self._undotted_scheme()) is not None:
            raise ValueError(
                "redirect_uris: https addresses, or schemes with a dot such as com.example.app (RFC 8252); "
                f"{odd} needs application_type: native"
            )
        if not self.response_types:
            raise ValueError("response_types: code, because grant_types has authorization_code")
        if self.protocol is ClientProtocol.OPENID and "openid" not in self.scope.split():
            raise ValueError("scope: a value that includes openid, because protocol is openid")
        return self

    def _undotted_scheme(self) -> str | None:
        """Return a scheme that is likely to be a misspelling: an own one without a dot, of an application that is not native."""
        if self.application_type == "native":
            return None
        schemes = (urlsplit(uri).scheme for uri in self.redirect_uris)
        return next((scheme for scheme in schemes if scheme not in ("http", "https") and "." not in scheme), None)

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
        if any(ID_TOKEN in item.split() for item in self.response_types) and "openid" not in self.scope.split():
            raise ValueError("scope: a value that includes openid, because response_types has id_token")
        return self

    def settings(self) -> ApplicationSettings:
        """Return the settings for the store: only those in the file, so that defaults stay defaults."""
        explicit = self.model_dump(mode="json", exclude_unset=True, exclude={"client_id", "client_secret"})
        return ApplicationSettings.model_validate(explicit)
