"""Connections: identity providers as a tenant configures them."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from app.contract.configuration_model import ConfigurationModel
from app.contract.tenants.key_formats import p256_private_key
from app.kit.web.urls import is_web_url

ConnectionName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,59}$")]
ProviderName = Literal[
    "google", "github", "facebook", "linkedin", "live", "apple", "twitter", "wechat", "qq", "amazon", "foursquare", "paypal",
    "salesforce", "sinaweibo", "yahoo",
]  # fmt: skip
NAMES: Final[tuple[str, ...]] = get_args(ProviderName)
"""The built-in providers, in the order in which pages offer them (seed: Update social provider configuration)."""
ClaimedMember = Literal[
    "subject", "email", "email_verified", "full_name", "first_name", "last_name", "middle_name", "nick_name", "prefix", "suffix",
    "company", "website", "gender", "birth_date", "local_language", "picture", "profile_url",
]  # fmt: skip
MEMBERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "full_name": "FullName", "first_name": "FirstName", "last_name": "LastName", "middle_name": "MiddleName",
        "nick_name": "NickName", "prefix": "Prefix", "suffix": "Suffix", "company": "Company", "website": "Website",
        "gender": "Gender", "birth_date": "BirthDate", "local_language": "LocalLanguage", "picture": "ImageUrl",
        "profile_url": "ProfileUrl",
    }
)  # fmt: skip
"""The keys of `claims`, and the members of the profile that they fill."""
STANDARD_CLAIMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "subject": "sub", "email": "email", "email_verified": "email_verified", "full_name": "name", "first_name": "given_name",
        "last_name": "family_name", "middle_name": "middle_name", "nick_name": "nickname", "website": "website",
        "local_language": "locale", "picture": "picture", "profile_url": "profile",
    }
)  # fmt: skip
"""OpenID Connect Core section 5.1."""
_LOCAL: Final = re.compile(r"(localhost|[a-z0-9.-]+\.localhost)\Z")


def is_local(address: str) -> bool:
    """Return whether the host name is this machine's."""
    return _LOCAL.match(urlsplit(address).hostname or "") is not None


def is_provider_url(address: str) -> bool:
    """Return whether the address is allowed for a provider: https, or http on this machine."""
    parts = urlsplit(address) if is_web_url(address) else None
    return parts is not None and not parts.fragment and (parts.scheme == "https" or is_local(address))


def _provider_url(address: str) -> str:
    if not is_provider_url(address):
        raise ValueError("an https address (http works on localhost only)")
    return address


def _issuer(address: str) -> str:
    if urlsplit(_provider_url(address)).query:
        raise ValueError("an issuer such as https://id.example.com, without a query")
    return address


Issuer = Annotated[str, AfterValidator(_issuer), Field(max_length=500)]
ProviderAddress = Annotated[str, AfterValidator(_provider_url), Field(max_length=2_000)]
EmailDomain = Annotated[str, Field(max_length=253, pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$")]
ACCESS_TOKEN: Final = "#accesstoken#"
ID_TOKEN: Final = "#idtoken#"
"""Placeholders in parameters and headers of the profile request, for the tokens of the sign-in."""
_PROTOCOL_PARAMETERS: Final = frozenset({
    "client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce", "code_challenge", "code_challenge_method",
    "code_verifier", "request", "request_uri", "client_secret", "client_assertion", "client_assertion_type", "grant_type", "code",
    "access_token", "id_token", "refresh_token",
})  # fmt: skip
"""Parameters of an authorization request that the protocol sets (RFC 6749, RFC 7636, RFC 9101, OpenID Connect Core)."""
_REQUEST_HEADERS: Final = frozenset({
    "host", "content-length", "content-type", "content-encoding", "transfer-encoding", "te", "trailer", "connection", "keep-alive",
    "upgrade", "expect", "accept-encoding", "cookie", "proxy-authorization", "proxy-connection",
})  # fmt: skip
"""Headers that the HTTP client sets, or that could authenticate another person than the one of the access token."""


def _own_parameters(parameters: dict[str, str]) -> dict[str, str]:
    if taken := next((name for name in parameters if name.lower() in _PROTOCOL_PARAMETERS), None):
        raise ValueError(f"other parameters than those of the protocol, such as {taken}")
    return parameters


def _own_headers(headers: dict[str, str]) -> dict[str, str]:
    names = [name.lower() for name in headers]
    if taken := next((name for name in names if name in _REQUEST_HEADERS), None):
        raise ValueError(f"other headers than {taken}")
    if len(set(names)) < len(names):
        raise ValueError("each header once")
    if any(name.lower() == "authorization" and ACCESS_TOKEN not in text for name, text in headers.items()):
        raise ValueError(f"an Authorization header with {ACCESS_TOKEN}, so that the profile is that of the person")
    return headers


def _known_placeholders(values: dict[str, str]) -> dict[str, str]:
    if any(_SIGNATURE in text.lower() for text in values.values()):
        raise ValueError(f"no {_SIGNATURE}: requests have no signature of OAuth 1.0a")
    return values


_SIGNATURE: Final = "#oauthsignature#"
_ParameterName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.\[\]-]{1,60}$")]
_HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,60}$")]
_SentText = Annotated[str, Field(pattern=r"^[ -~]*$", max_length=500)]
"""Printable ASCII, so that no value ends a line of the request."""
AuthorizationParameters = Annotated[
    dict[_ParameterName, _SentText], Field(max_length=20), AfterValidator(_own_parameters)
]
ProfileParameters = Annotated[
    dict[_ParameterName, _SentText], Field(max_length=20), AfterValidator(_known_placeholders)
]
ProfileHeaders = Annotated[
    dict[_HeaderName, _SentText],
    Field(max_length=20),
    AfterValidator(_own_headers),
    AfterValidator(_known_placeholders),
]
TokenParameter = Annotated[str, Field(pattern=r"^([A-Za-z0-9_.-]{1,60})?$")]


class AppleSettings(ConfigurationModel):
    """What Apple issued for Sign in with Apple."""

    key_identifier: str = Field(default="", max_length=100, description="The ID of the private key.")
    service_id: str = Field(default="", max_length=200, description="The Services ID, the client ID of websites.")
    bundle_id: str = Field(default="", max_length=200, description="The bundle ID, the client ID of apps.")
    team_id: str = Field(default="", max_length=100, description="The ID of your team at Apple.")


class ConnectionSettings(ConfigurationModel):
    """An identity provider for sign-ins. Either it has an `issuer`, for OpenID Connect with discovery; or the three endpoints are
    set, for OAuth 2.0. Its redirect URI is `/socialauth/validate.sauth` of your
    host. With `native_only` only apps sign in with it, and `userinfo_endpoint` is enough."""

    key: str = Field(min_length=1, max_length=500, description="The client ID that the provider issued.")
    is_active: bool = True
    preset: ProviderName | None = Field(
        default=None,
        description="The built-in provider that the connection is at, so that several connections can be at one: `google-shop` with "
        "`preset: google`. Default: the one with the connection's name.",
    )
    title: str = Field(
        default="", max_length=60, description="The name on pages. Default: its usual name, or the connection's."
    )
    issuer: Issuer | None = Field(default=None, description="The issuer, where `/.well-known/openid-configuration` is.")
    authorization_endpoint: ProviderAddress | None = None
    token_endpoint: ProviderAddress | None = None
    userinfo_endpoint: ProviderAddress | None = None
    emails_endpoint: ProviderAddress | None = Field(
        default=None,
        description="An endpoint that returns a list of email addresses with `primary` and `verified`, like GitHub's.",
    )
    introspection_endpoint: ProviderAddress | None = Field(
        default=None,
        description="An endpoint that tells which client an access token was issued to, such as Google's `tokeninfo`, Facebook's "
        "`debug_token` or LinkedIn's `introspectToken`. Apps can sign in with the provider's access tokens only if it's "
        "set.",
    )
    id_token_issuer: Issuer | None = Field(
        default=None,
        description="The `iss` of ID tokens that apps get from a provider without an `issuer`, such as Facebook's Limited Login.",
    )
    jwks_endpoint: ProviderAddress | None = Field(
        default=None, description="The keys of these ID tokens. Set it together with `id_token_issuer`."
    )
    native_only: bool = Field(
        default=False,
        description="Whether only apps sign in with it, by its SDK. Pages don't offer it then.",
    )
    token_endpoint_auth_method: Literal["client_secret_basic", "client_secret_post"] | None = Field(
        default=None,
        description="How the client authenticates. Default: by the issuer's metadata, or `client_secret_post` for endpoints.",
    )
    pkce: bool = Field(
        default=True,
        description="Whether to use PKCE. Turn it off only if the provider refuses a code verifier together with a client secret.",
    )
    scope: str = Field(
        default="", max_length=500, description="The scopes to request. Default with an issuer: `openid profile email`."
    )
    claims: dict[ClaimedMember, Annotated[str, Field(min_length=1, max_length=200)]] = Field(
        default_factory=dict,
        description="Names of the provider's claims that differ from OpenID Connect's: `first_name: given`. `a.b` is b within a. "
        "`subject` must identify the account, and the provider must never reuse it.",
    )
    trusts_email: bool | None = Field(
        default=None,
        description="Whether an address that the provider calls verified counts as verified. On pages, the owner of the account with "
        "it signs in once and is connected; sign-ins of apps are linked at once. Only if the provider verifies addresses as well as you "
        "do. Default: on for the built-in google and github, otherwise off.",
    )
    keep_provider_tokens: bool = Field(
        default=False,
        description="Whether the provider's access token and refresh token are stored, encrypted, with the identity at each sign-in, "
        "so that you can read the profile from the provider again. Turning it off deletes them. Most providers issue a refresh token "
        "only for a `scope` such as `offline_access`; Google is asked for one.",
    )

    domain: EmailDomain | None = Field(
        default=None,
        description="The email domain of the people who sign in with it. Only `trusts_email` decides whether addresses are trusted.",
    )
    enable_auto_look_up: bool = Field(
        default=False, description="Whether people with an email address of the `domain` are sent to it."
    )
    list_in_interface: bool = Field(
        default=True,
        description="Whether pages list it. If not, people reach it by the `domain`, or by a link of your app.",
    )
    authorization_parameters: AuthorizationParameters = Field(
        default_factory=dict, description="Further parameters of the authorization request: `prompt: select_account`."
    )
    token_method: Literal["POST", "GET"] = Field(
        default="POST",
        description="The method of the token request. Only for endpoints of your own. With `GET`, the secret is in the URL.",
    )
    access_token_parameter: TokenParameter = Field(
        default="",
        description="The parameter of the profile request for the access token. Default: a bearer token. Only for endpoints of your own.",
    )
    profile_parameters: ProfileParameters = Field(
        default_factory=dict,
        description="Further parameters of the profile request. `#accesstoken#` and `#idtoken#` stand for the tokens of the sign-in. Only "
        "for endpoints of your own.",
    )
    profile_headers: ProfileHeaders = Field(
        default_factory=dict,
        description="Further headers of the profile request, with the same placeholders. They're stored readable, so they aren't for "
        "secrets. Only for endpoints of your own.",
    )
    extra_field1: str = Field(
        default="",
        max_length=500,
        description="A further value that the provider asks for. For `live`, the ID of a directory, `organizations` or `common` (default: "
        "personal accounts); for `salesforce`, the login host (default: `login.salesforce.com`); for `twitter`, the "
        "consumer key of OAuth 1.0a, for apps.",
    )
    extra_field2: str = Field(default="", max_length=500, description="Another value that the provider asks for.")
    apple: AppleSettings | None = Field(
        default=None,
        description="For `apple` only. With `team_id`, `key_identifier` and `apple_certificate`, Gatehouse signs the client secret, and "
        "pages offer Apple. Without them, `secret` is a client secret that you signed.",
    )

    @property
    def can_sign_client_secret(self) -> bool:
        """Whether it names the team and the key that sign a client secret for Apple."""
        return self.apple is not None and bool(self.apple.team_id and self.apple.key_identifier)

    @property
    def names(self) -> Mapping[str, str]:
        """The provider's name of each claim."""
        return {**STANDARD_CLAIMS, **{str(member): claim for member, claim in self.claims.items()}}


class ConnectionFile(ConnectionSettings):
    """A connection with its secret. An absent secret is left unchanged; null removes it, so that PKCE alone protects the code."""

    secret: Annotated[str, Field(min_length=1, max_length=2_000)] | None = Field(
        default=None, description="The client secret that the provider issued with the key; stored encrypted."
    )
    apple_certificate: Annotated[str, Field(max_length=5_000), AfterValidator(p256_private_key)] | None = Field(
        default=None, description="The private key that Apple issued, in PEM; stored encrypted. Null removes it."
    )
    consumer_secret: Annotated[str, Field(min_length=1, max_length=500)] | None = Field(
        default=None,
        description="For `twitter`: the consumer secret of OAuth 1.0a, whose key is `extra_field1`; stored encrypted. Null removes it.",
    )
