"""Connections: identity providers as a tenant configures them, and presets for common providers.

A connection with the name of a preset only needs the provider's credentials. A connection with an address of its own takes
nothing from the preset except the title, in particular not its trust.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from app.contract.configuration_model import ConfigurationModel
from app.contract.tenants.key_formats import p256_private_key
from app.kit.web.urls import is_web_url

ConnectionName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,59}$")]
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
        description="Whether an address that the provider calls verified is linked at once to the account with it. Only if the "
        "provider verifies addresses as well as you do. Default: on for the built-in google and github, otherwise off.",
    )
    keep_provider_tokens: bool = Field(
        default=False,
        description="Whether the provider's access token and refresh token are stored, encrypted, with the identity at each sign-in, "
        "so that you can read the profile from the provider again. Turning it off deletes them. Most providers issue a refresh token "
        "only for a `scope` such as `offline_access`; Google is asked for one.",
    )

    extra_field1: str = Field(default="", max_length=500, description="A further value that the provider asks for.")
    extra_field2: str = Field(default="", max_length=500, description="Another value that the provider asks for.")
    apple: AppleSettings | None = Field(
        default=None,
        description="For `apple` only. Sign-in on pages with Apple isn't available yet; the values are stored.",
    )

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


_HTTPS: Final = "https://"
_FACEBOOK: Final = "graph.facebook.com/v21.0"
PRESETS: Final[Mapping[str, ConnectionSettings]] = MappingProxyType(
    {
        "google": ConnectionSettings(
            key="-",
            title="Google",
            issuer=f"{_HTTPS}accounts.google.com",
            introspection_endpoint=f"{_HTTPS}oauth2.googleapis.com/tokeninfo",
            trusts_email=True,
        ),
        "github": ConnectionSettings(
            key="-",
            title="GitHub",
            authorization_endpoint=f"{_HTTPS}github.com/login/oauth/authorize",
            token_endpoint=f"{_HTTPS}github.com/login/oauth/access_token",
            userinfo_endpoint=f"{_HTTPS}api.github.com/user",
            emails_endpoint=f"{_HTTPS}api.github.com/user/emails",
            scope="read:user user:email",
            claims={
                "subject": "id", "nick_name": "login", "picture": "avatar_url", "profile_url": "html_url",
                "company": "company",
            },
            trusts_email=True,
        ),
        "facebook": ConnectionSettings(
            key="-",
            title="Facebook",
            authorization_endpoint=f"{_HTTPS}www.facebook.com/v21.0/dialog/oauth",
            token_endpoint=f"{_HTTPS}{_FACEBOOK}/oauth/access_token",
            userinfo_endpoint=f"{_HTTPS}{_FACEBOOK}/me?fields=id,name,email,first_name,middle_name,last_name,picture",
            introspection_endpoint=f"{_HTTPS}{_FACEBOOK}/debug_token",
            id_token_issuer=f"{_HTTPS}www.facebook.com",
            jwks_endpoint=f"{_HTTPS}limited.facebook.com/.well-known/oauth/openid/jwks/",
            scope="public_profile email",
            claims={
                "subject": "id", "first_name": "first_name", "middle_name": "middle_name", "last_name": "last_name",
                "picture": "picture.data.url",
            },
        ),
        "linkedin": ConnectionSettings(  # its OpenID Connect has no nonce
            key="-",
            title="LinkedIn",
            authorization_endpoint=f"{_HTTPS}www.linkedin.com/oauth/v2/authorization",
            token_endpoint=f"{_HTTPS}www.linkedin.com/oauth/v2/accessToken",
            userinfo_endpoint=f"{_HTTPS}api.linkedin.com/v2/userinfo",
            introspection_endpoint=f"{_HTTPS}www.linkedin.com/oauth/v2/introspectToken",
            scope="openid profile email",
            pkce=False,
        ),
        "live": ConnectionSettings(
            key="-",
            title="Microsoft",
            issuer=f"{_HTTPS}login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0",  # personal accounts
        ),
        "apple": ConnectionSettings(key="-", title="Apple", issuer=f"{_HTTPS}appleid.apple.com", native_only=True),
        "twitter": ConnectionSettings(  # OAuth 1.0a, so the key is the consumer key
            key="-",
            title="X",
            userinfo_endpoint=f"{_HTTPS}api.x.com/1.1/account/verify_credentials.json?include_email=true&skip_status=true",
            claims={
                "subject": "id_str", "nick_name": "screen_name", "picture": "profile_image_url_https", "website": "url",
            },
            native_only=True,
        ),
        "wechat": ConnectionSettings(
            key="-",
            title="WeChat",
            token_endpoint=f"{_HTTPS}api.weixin.qq.com/sns/oauth2/access_token",
            userinfo_endpoint=f"{_HTTPS}api.weixin.qq.com/sns/userinfo",
            claims={"subject": "openid", "nick_name": "nickname", "picture": "headimgurl"},
            native_only=True,
        ),
        "qq": ConnectionSettings(
            key="-",
            title="QQ",
            token_endpoint=f"{_HTTPS}graph.qq.com/oauth2.0/token",
            introspection_endpoint=f"{_HTTPS}graph.qq.com/oauth2.0/me",
            userinfo_endpoint=f"{_HTTPS}graph.qq.com/user/get_user_info",
            claims={"subject": "openid", "nick_name": "nickname", "picture": "figureurl_qq"},
            native_only=True,
        ),
    }
)  # fmt: skip
"""Presets of common providers; `key` is a placeholder."""
STORED_ONLY: Final = frozenset({"amazon", "foursquare", "paypal", "salesforce", "sinaweibo", "yahoo"})
"""Names of providers without a preset yet: without addresses they are stored, but cannot be used to sign in."""
_PLACES: Final = (
    "issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "emails_endpoint", "introspection_endpoint",
    "id_token_issuer", "jwks_endpoint",
)  # fmt: skip


def resolved(name: str, configured: ConnectionSettings) -> ConnectionSettings:
    """Return a connection completed with its preset."""
    preset = PRESETS.get(name)
    if preset is None:
        return configured
    explicit = {key: getattr(configured, key) for key in configured.model_fields_set}
    if any(explicit.get(place) for place in _PLACES):
        return configured if configured.title else configured.model_copy(update={"title": preset.title})
    return preset.model_copy(update={key: value for key, value in explicit.items() if value or value is False})


def can_sign_in(name: str, configured: ConnectionSettings) -> bool:
    """Return whether accounts can sign in with a connection, on pages or in apps."""
    completed = resolved(name, configured)
    return configured.is_active and bool(completed.issuer or completed.userinfo_endpoint)


def is_offered(name: str, configured: ConnectionSettings) -> bool:
    """Return whether pages offer a connection."""
    return can_sign_in(name, configured) and not resolved(name, configured).native_only


_PROVIDERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "accounts.google.com": "google", "login.microsoftonline.com": "microsoft", "github.com": "github",
        "www.facebook.com": "facebook", "www.linkedin.com": "linkedin", "appleid.apple.com": "apple", "x.com": "x",
        "twitter.com": "x", "gitlab.com": "gitlab", "discord.com": "discord", "slack.com": "slack",
    }
)  # fmt: skip


def well_known_provider(connection: ConnectionSettings) -> str:
    """Return the well-known provider that answers at the address of a complete connection; empty for any other."""
    address = urlsplit(connection.issuer or connection.authorization_endpoint or "")
    return _PROVIDERS.get(address.hostname or "", "") if address.scheme == "https" else ""


def complete(connections: Mapping[str, ConnectionSettings]) -> Mapping[str, ConnectionSettings]:
    """Check that each connection has an issuer, endpoints or a preset."""
    for name, configured in connections.items():
        completed = resolved(name, configured)
        endpoints = (completed.authorization_endpoint, completed.token_endpoint, completed.userinfo_endpoint)
        if completed.issuer and any((*endpoints, completed.emails_endpoint)):
            raise ValueError(f"{name}: an issuer or endpoints, not both")
        if completed.issuer and not completed.pkce:
            raise ValueError(f"{name}.pkce: true, because {name} has an issuer")
        if bool(completed.id_token_issuer) != bool(completed.jwks_endpoint) or (
            completed.issuer and completed.jwks_endpoint
        ):
            raise ValueError(f"{name}: id_token_issuer and jwks_endpoint together, and neither beside an issuer")
        if name in STORED_ONLY and not any(getattr(completed, place) for place in _PLACES):
            continue
        needed = (completed.userinfo_endpoint,) if completed.native_only else endpoints
        if not completed.issuer and not all(needed):
            raise ValueError(
                f"{name}: an issuer, or authorization_endpoint, token_endpoint and userinfo_endpoint; or one of "
                f"these names, which need neither: {', '.join(PRESETS)}"
            )
    return connections
