"""Management programs read and write JWT clients and JWT custom providers.

A JWT client receives signed tokens from the tenant (operations of `app/contract/jwt/jwt_sign_on_operations.py`). A JWT custom provider
sends them, and
apps sign in with them. The docstrings are published."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.auth import MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_profiles import MANAGE
from app.contract.federation.oauth_providers import ProviderDomain
from app.contract.resources import collection
from app.kit.operations.wire import Wire
from app.kit.resources.resource import CREATE, CREATED_AT, DELETE, LIST, MODIFIED_AT, READ, SECRET, UPDATE, Key

ALGORITHMS = ("HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "ES384", "ES512")
Algorithm = Literal["HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "ES384", "ES512"]
ProviderAlgorithm = Literal[Algorithm, "PS256", "PS384", "PS512", "EdDSA"]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,59}$")]
Text = Annotated[str | None, Field(max_length=500)]
Url = Annotated[str | None, Field(max_length=2_000, pattern=r"^https://[^\s/]+")]
Texts = Annotated[dict[str, Annotated[str, Field(max_length=200)]], Field(max_length=100)]
Seconds = Annotated[int, Field(ge=0, le=86_400)]
"""Of a difference between clocks, or of a lifetime."""


class JwtClient(Wire):
    """An application that gets a signed JWT. `Secret` is the HMAC key, which has as many bytes as the digest, or a private key
    in PEM; responses mask it. `Mapping` names the profile field of each claim. Time differences are in seconds."""

    app_name: Annotated[Name, Key("jwtClientName")]
    algo: Algorithm = "HS256"
    secret: Annotated[str | None, SECRET, Field(max_length=20_000)] = None
    audience: Annotated[list[Annotated[str, Field(max_length=500)]], Field(max_length=20)] = Field(default_factory=list)
    login_url: Url = None
    mapping: Texts = Field(default_factory=dict)
    metadata: Texts = Field(default_factory=dict)
    not_before_difference: Seconds = 0
    not_after_difference: Seconds = 600
    query_string_parameter: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,60}$")] = "id_token"
    response_mode: Literal["query", "post", "fragment"] = "query"
    created_date: Annotated[str | None, CREATED_AT] = None
    last_modified_date: Annotated[str | None, MODIFIED_AT] = None


class Expected(Wire):
    """The value that a claim must have."""

    expected_value: Text = None
    match_value: bool = False
    is_mandatory: bool = False


class ExpectedOneOf(Wire):
    """The accepted values of a claim."""

    expected_values: Annotated[list[Annotated[str, Field(max_length=500)]], Field(max_length=20)] = Field(
        default_factory=list
    )
    match_value: bool = False
    is_mandatory: bool = False


def is_checked(expected: Expected | ExpectedOneOf) -> bool:
    """Return whether a token must have the claim, with an expected value."""
    return expected.is_mandatory and expected.match_value


class Mandatory(Wire):
    """Whether a token must have a claim."""

    is_mandatory: bool = False


class JwtProvider(Wire):
    """An issuer of signed JWTs. `Key` is the HMAC key or a public key in PEM; responses mask it. With `JWKSUrl`, Gatehouse reads
    the keys from there instead. Set `Issuer` and `Audience` with `MatchValue` and `IsMandatory`: else it accepts tokens made for others."""

    app_name: Annotated[Name, Key("jwtApp")]
    is_active: bool = True
    algo: ProviderAlgorithm = "RS256"
    key: Annotated[str | None, SECRET, Field(max_length=20_000)] = None
    jwks_url: Annotated[Url, Field(alias="JWKSUrl")] = None
    mapping: Texts = Field(default_factory=dict)
    token_query_parameter_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,60}$")] = "jwt"
    use_authorization_header: bool = False
    login_url: Url = None
    clock_skew: Seconds = 60
    expiration_time_difference: Seconds = 0
    issuer: Expected = Expected()
    audience: ExpectedOneOf = ExpectedOneOf()
    subject: Mandatory = Mandatory()
    not_before: Mandatory = Mandatory()
    expiration: Mandatory = Mandatory(is_mandatory=True)
    update_email_profile: bool = False
    raas_update_fields: Annotated[list[Annotated[str, Field(max_length=60)]], Field(max_length=30)] = Field(
        default_factory=list
    )
    domain: ProviderDomain = None
    enable_auto_look_up: bool = False
    list_in_interface: bool = True
    created_date: Annotated[str | None, CREATED_AT] = None
    last_modified_date: Annotated[str | None, MODIFIED_AT] = None


def warning_of(provider: JwtProvider) -> str:
    """Return the warning that a provider accepts tokens made for others (RFC 7519 section 4.1); empty if it checks `iss` and `aud`."""
    checks: dict[str, Expected | ExpectedOneOf] = {"iss": provider.issuer, "aud": provider.audience}
    unchecked = " and ".join(claim for claim, expected in checks.items() if not is_checked(expected))
    return unchecked and (
        f"JWT provider {provider.app_name} doesn't check {unchecked}, so it accepts tokens made for others. Set match_value and "
        "is_mandatory of its issuer and its audience, with the expected values."
    )


class AlgorithmList(Wire):
    data: list[str]


_ALL = (LIST, CREATE, READ, UPDATE, DELETE)

algorithms = operation(
    "jwt_clients.algorithms", "GET /v2/manage/jwt-clients/algorithms", Wire, AlgorithmList, auth=MACHINE_TOKEN, error_profile=MANAGE,
    scope="client:read",
    summary="List JWT algorithms",
    description="Returns the algorithms that JWT clients can be signed with.",
)  # fmt: skip
CLIENTS = collection(
    "jwt_clients", "/v2/manage/jwt-clients", JwtClient, verbs=_ALL, noun="JWT client",
    about="A JWT client is an application that gets a signed JWT after a sign-in, instead of OpenID Connect.",
    scope="client", unique=("app_name",),
    exists=errors.JwtAppExists, unknown=errors.UnknownJwtApp, file_key="jwt_clients",
)  # fmt: skip
PROVIDERS = collection(
    "jwt_providers", "/v2/manage/custom-providers/jwt", JwtProvider, verbs=_ALL, noun="JWT provider",
    about="A JWT provider issues signed JWTs, which your apps exchange for a session at `GET /api/v2/access_token/jwt`.",
    scope="provider",
    exists=errors.JwtAppExists, unknown=errors.UnknownJwtApp, errors=(errors.ProviderDomainExists,), file_key="jwt_providers",
)  # fmt: skip
