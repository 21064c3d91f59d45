"""Connections: identity providers as a tenant configures them, and presets for common providers.

A connection with the name of a preset only needs the provider's credentials. A connection with an address of its own takes
nothing from the preset except the title, in particular not its trust.
"""

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from app.contract.configuration_model import ConfigurationModel
from app.contract.tenants.key_formats import p256_private_key
from app.kit.web.urls import is_web_url

if TYPE_CHECKING:
    from app.contract.federation.provider_presets import ProviderPreset, ProviderQuirks

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
        description="Whether an address that the provider calls verified is linked at once to the account with it. Only if the "
        "provider verifies addresses as well as you do. Default: on for the built-in google and github, otherwise off.",
    )
    keep_provider_tokens: bool = Field(
        default=False,
        description="Whether the provider's access token and refresh token are stored, encrypted, with the identity at each sign-in, "
        "so that you can read the profile from the provider again. Turning it off deletes them. Most providers issue a refresh token "
        "only for a `scope` such as `offline_access`; Google is asked for one.",
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


_PLACES: Final = (
    "issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "emails_endpoint", "introspection_endpoint",
    "id_token_issuer", "jwks_endpoint",
)  # fmt: skip


def _presets() -> "Mapping[str, ProviderPreset]":
    from app.contract.federation.provider_presets import presets  # noqa: PLC0415 - a start without connections needs none

    return presets()


@cache
def _preset_settings() -> Mapping[str, ConnectionSettings]:
    completed = {}
    for name, found in _presets().items():
        settings = {**found.settings, "title": found.title, "preset": name}
        if found.instance is not None:
            settings["issuer"] = found.instance.issuer_of(found.instance.default)
        completed[name] = ConnectionSettings(key="-", **settings)
    return completed


def preset_settings(name: str) -> ConnectionSettings | None:
    """Return the settings of a connection to a built-in provider; `key` is a placeholder. None for another name."""
    return _preset_settings().get(name) if name in NAMES else None


def resolved(name: str, configured: ConnectionSettings) -> ConnectionSettings:
    """Return a connection completed with its preset, which `preset` names in the result.

    A connection with an address of its own takes no address from the preset and not its trust. It follows the provider in the rest
    only if it states `preset`.
    """
    base = preset_settings(configured.preset or name)
    if base is None:
        return configured
    explicit = {key: getattr(configured, key) for key in configured.model_fields_set}
    has_address = any(explicit.get(place) for place in _PLACES)
    if has_address and configured.preset is None:
        return configured if configured.title else configured.model_copy(update={"title": base.title})
    update = {key: value for key, value in explicit.items() if value or value is False}
    if has_address:
        update = {**dict.fromkeys(_PLACES), "trusts_email": None, **update}
    elif configured.extra_field1 and (instance := _presets()[base.preset or ""].instance):
        update["issuer"] = instance.issuer_of(configured.extra_field1)
    return base.model_copy(update={**update, "claims": {**base.claims, **configured.claims}})


def wrong_instance(name: str, configured: ConnectionSettings) -> str | None:
    """Return what `extra_field1` of a connection must name, if it names no issuer of the provider; pages do not offer it then."""
    base = preset_settings(configured.preset or name)
    instance = _presets()[base.preset].instance if base is not None and base.preset else None
    is_named = instance is not None and configured.extra_field1 and resolved(name, configured).issuer is None
    return instance.expected if instance is not None and is_named else None


def quirks_of(connection: ConnectionSettings) -> "ProviderQuirks":
    """Return what the provider of a complete connection does in another way than the standards."""
    from app.contract.federation.provider_presets import NO_QUIRKS  # noqa: PLC0415 - as above

    return _presets()[connection.preset].quirks if connection.preset else NO_QUIRKS


def native_settings(name: str, configured: ConnectionSettings) -> ConnectionSettings:
    """Return a complete connection for what the provider's SDK returns to apps, where the addresses or claims differ."""
    completed = resolved(name, configured)
    native = _presets()[completed.preset].native if completed.preset else {}
    if not native:
        return completed
    has_address = any(getattr(configured, place) for place in _PLACES)
    claims = {**native.get("claims", {}), **configured.claims}
    return completed.model_copy(update={**({} if has_address else native), "claims": claims})


def can_sign_in(name: str, configured: ConnectionSettings) -> bool:
    """Return whether accounts can sign in with a connection, on pages or in apps."""
    completed = resolved(name, configured)
    return configured.is_active and bool(completed.issuer or completed.userinfo_endpoint)


def is_offered(name: str, configured: ConnectionSettings) -> bool:
    """Return whether pages offer a connection."""
    completed = resolved(name, configured)
    can_authenticate = not quirks_of(completed).signs_client_secret or completed.can_sign_client_secret
    return can_sign_in(name, configured) and not completed.native_only and can_authenticate


_FURTHER_MARKS: Final[Mapping[str, str]] = MappingProxyType(
    {"gitlab.com": "gitlab", "discord.com": "discord", "slack.com": "slack"}
)


def well_known_provider(connection: ConnectionSettings) -> str:
    """Return the mark of the well-known provider that answers at the address of a complete connection; empty for any other."""
    address = urlsplit(connection.issuer or connection.authorization_endpoint or "")
    return _mark_of_host(address.hostname or "") if address.scheme == "https" else ""


@cache
def _marks() -> Mapping[str, str]:
    return {**_FURTHER_MARKS, **{host: preset.mark for preset in _presets().values() for host in preset.hosts}}


def _mark_of_host(host: str) -> str:
    marks = _marks()
    parents = (f"*.{host.split('.', at)[-1]}" for at in range(1, host.count(".")))
    return next((marks[name] for name in (host, *parents) if name in marks), "")


def valid_instances(connections: Mapping[str, ConnectionSettings]) -> Mapping[str, ConnectionSettings]:
    """Check that each connection names an issuer that its provider has."""
    for name, configured in connections.items():
        if expected := wrong_instance(name, configured):
            raise ValueError(f"{name}.extra_field1: {expected}")
    return connections


def complete(connections: Mapping[str, ConnectionSettings]) -> Mapping[str, ConnectionSettings]:
    """Check that each connection has an issuer, endpoints or a preset."""
    for name, configured in connections.items():
        completed = resolved(name, configured)
        known = preset_settings(completed.preset or "")
        endpoints = (completed.authorization_endpoint, completed.token_endpoint, completed.userinfo_endpoint)
        if completed.issuer and any((*endpoints, completed.emails_endpoint)):
            raise ValueError(f"{name}: an issuer or endpoints, not both")
        if wrong_instance(name, configured):  # stored by an earlier version
            continue
        if completed.issuer and not completed.pkce and (known is None or known.pkce):
            raise ValueError(f"{name}.pkce: true, because {name} has an issuer")
        if bool(completed.id_token_issuer) != bool(completed.jwks_endpoint) or (
            completed.issuer and completed.jwks_endpoint
        ):
            raise ValueError(f"{name}: id_token_issuer and jwks_endpoint together, and neither beside an issuer")
        needed = (completed.userinfo_endpoint,) if completed.native_only else endpoints
        if not completed.issuer and not all(needed):
            raise ValueError(
                f"{name}: an issuer, or authorization_endpoint, token_endpoint and userinfo_endpoint; or one of "
                f"these names, which need neither: {', '.join(NAMES)}"
            )
    return connections
