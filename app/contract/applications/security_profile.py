"""Settings of an application that protect its requests and its tokens, and the security profile that demands them.

The profile is the FAPI 2.0 Security Profile (OpenID Foundation, 2025); sections are those of its final version.
"""

from collections.abc import Sequence
from typing import Annotated, Final, Literal, Protocol, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from app.contract.applications.token_signing import ALGORITHMS
from app.contract.configuration_model import ConfigurationModel
from app.contract.oauth.response_types import ResponseMode

FAPI: Final = "fapi2"
FAPI_ALGORITHMS: Final = tuple(algorithm for algorithm in ALGORITHMS if algorithm != "RS256")
"""The only signatures of the profile, the first one of tokens that name no other (section 5.4.1)."""
FAPI_METHODS: Final = ("private_key_jwt", "tls_client_auth", "self_signed_tls_client_auth")
"""How its clients authenticate (section 5.3.2.1)."""
FAPI_GRANTS: Final = ("authorization_code", "refresh_token", "client_credentials")
ReuseSeconds = Annotated[int, Field(ge=0, le=60)]
_PUBLIC_REUSE_SECONDS: Final = 10
_DEFAULT_ALG: Final = "id_token_signed_response_alg"
_ALGORITHMS: Final = (
    _DEFAULT_ALG, "access_token_signing_alg", "userinfo_signed_response_alg", "introspection_signed_response_alg",
    "request_object_signing_alg", "token_endpoint_auth_signing_alg", "authorization_signed_response_alg",
)  # fmt: skip
FAPI_DEFAULTS: Final = (
    _DEFAULT_ALG, "access_token_signing_alg", "introspection_signed_response_alg", "authorization_signed_response_alg",
)  # fmt: skip
"""The signatures that have a default, which is another one under the profile."""
_FAPI_OFF: Final = {"allow_plain_pkce": "false", "refresh_token_rotation": "false", "refresh_token_reuse_seconds": "0"}


class SecurityProfileSettings(ConfigurationModel):
    """Requirements on an application's authorization requests and tokens."""

    security_profile: Literal["plain", "fapi2"] = "plain"
    require_pushed_authorization_requests: bool = False
    response_modes: tuple[ResponseMode, ...] = ()
    require_pkce: bool = False
    allow_plain_pkce: bool = False
    dpop_bound_access_tokens: bool = False
    require_dpop_nonce: bool = False
    tls_client_certificate_bound_access_tokens: bool = False
    refresh_token_rotation: bool | None = None  # absent: on, except for fapi2
    refresh_token_reuse_seconds: ReuseSeconds | None = None  # absent: the tenant's

    @model_validator(mode="after")
    def _with_algorithms(self) -> Self:
        """Sign as the profile demands where the application names no algorithm: then its default differs (section 5.4.1)."""
        if self.is_fapi:
            named = self.model_fields_set
            default = getattr(self, _DEFAULT_ALG, None) if _DEFAULT_ALG in named else FAPI_ALGORITHMS[0]
            self.__dict__.update(
                {name: default for name in FAPI_DEFAULTS if name in self.__dict__ and name not in named}
            )
        return self

    @property
    def is_fapi(self) -> bool:
        """Whether the FAPI 2.0 Security Profile applies to it."""
        return self.security_profile == FAPI

    @property
    def must_push(self) -> bool:
        """Whether it must push its authorization requests (RFC 9126 section 6, FAPI section 5.3.2.2)."""
        return self.require_pushed_authorization_requests or self.is_fapi

    @property
    def needs_signed_responses(self) -> bool:
        """Whether it reads only signed authorization responses (JARM section 2.3)."""
        return bool(self.response_modes) and all(mode.endswith("jwt") for mode in self.response_modes)

    @property
    def must_use_pkce(self) -> bool:
        """Whether it must use PKCE although it has a secret (FAPI section 5.3.2.2)."""
        return self.require_pkce or self.is_fapi

    @property
    def needs_bound_tokens(self) -> bool:
        """Whether its tokens must be bound to their sender (FAPI section 5.3.2.1)."""
        return self.is_fapi or is_bound(self)

    @property
    def keeps_refresh_tokens(self) -> bool:
        """Whether a refresh token stays when it is used.

        Only where a thief could not use it (RFC 9700 section 4.14.2); FAPI asks for it, so that a lost response does not end an
        authorization (section 5.3.2.1).
        """
        is_off = self.is_fapi if self.refresh_token_rotation is None else not self.refresh_token_rotation
        return is_off and self.needs_bound_tokens

    def reuse_seconds(self, tenant_seconds: int | None, *, is_public: bool) -> int:
        """Return how long a replaced refresh token still gets tokens, for other tabs and after a lost response; never under FAPI."""
        if self.is_fapi:
            return 0
        default = _PUBLIC_REUSE_SECONDS if is_public else 0
        return next(item for item in (self.refresh_token_reuse_seconds, tenant_seconds, default) if item is not None)


class Secured(Protocol):
    """The settings of an application that the profile looks at."""

    @property
    def application_type(self) -> str: ...
    @property
    def grant_types(self) -> Sequence[str]: ...
    @property
    def response_types(self) -> Sequence[str]: ...
    @property
    def redirect_uris(self) -> Sequence[str]: ...
    @property
    def token_endpoint_auth_method(self) -> str: ...


def contradiction(settings: SecurityProfileSettings, application: Secured) -> str | None:
    """Return the required value, if settings of an application contradict each other or its profile."""
    is_public = application.token_endpoint_auth_method == "none"
    if settings.needs_bound_tokens and any("token" in item.split() for item in application.response_types):
        return "response_types: none with token, because tokens are bound to their sender"
    if settings.refresh_token_rotation is False and (is_public or not settings.needs_bound_tokens):
        return "refresh_token_rotation: true, because only a confidential application with bound tokens can do without"
    if settings.is_fapi:
        return _against_profile(settings, application)
    return None


def _against_profile(settings: SecurityProfileSettings, application: Secured) -> str | None:
    because = f"because security_profile is {FAPI}"
    if application.token_endpoint_auth_method not in FAPI_METHODS:
        return f"token_endpoint_auth_method: one of {', '.join(FAPI_METHODS)}, {because}"
    if not is_bound(settings):
        return f"dpop_bound_access_tokens: true, or tls_client_certificate_bound_access_tokens, {because}"
    if not set(application.grant_types) <= set(FAPI_GRANTS):
        return f"grant_types: some of {', '.join(FAPI_GRANTS)}, {because}"
    if any(item != "code" for item in application.response_types):
        return f"response_types: code alone, {because}"
    for name, due in _FAPI_OFF.items():
        if getattr(settings, name):
            return f"{name}: {due}, {because}"
    if not all(_is_safe(uri, application.application_type) for uri in application.redirect_uris):
        return f"redirect_uris: https addresses, {because}"
    for name in _ALGORITHMS:
        if getattr(settings, name, None) not in (None, *FAPI_ALGORITHMS):
            return f"{name}: one of {', '.join(FAPI_ALGORITHMS)}, {because}"
    return None


def is_bound(settings: SecurityProfileSettings) -> bool:
    """Return whether a setting binds its tokens to their sender: to the key of proofs, or to a certificate (section 5.3.2.1)."""
    return settings.dpop_bound_access_tokens or settings.tls_client_certificate_bound_access_tokens


def _is_safe(uri: str, application_type: str) -> bool:
    """Return whether responses to the URI are encrypted or stay on the device (section 5.3.2.2, RFC 8252 section 7.3)."""
    parts = urlsplit(uri)
    is_loopback = parts.hostname in ("127.0.0.1", "::1") and application_type == "native"
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback)
