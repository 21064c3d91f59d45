"""Management programs read and write OAuth custom providers: connections by OAuth 2.0.

The docstrings are published."""

from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import parse_qsl

from pydantic import Field, TypeAdapter, ValidationError

from app.contract import errors
from app.contract.federation.connections import (
    MEMBERS,
    AuthorizationParameters,
    ConnectionSettings,
    EmailDomain,
    ProfileHeaders,
    ProfileParameters,
    ProviderAddress,
    TokenParameter,
)
from app.contract.resources import collection
from app.kit.operations.wire import Wire
from app.kit.resources.resource import (
    COMPUTED,
    CREATE,
    DELETE,
    LIST,
    SECRET,
    UPDATE,
    Distinct,
    InOwnStore,
    Key,
    StoredAs,
    VerbOptions,
)  # fmt: skip

FIELDS = {"ID": "subject", "Email": "email", "EmailVerified": "email_verified"} | {
    field: claim for claim, field in MEMBERS.items()
}
"""The fields of the profile that `DataMap` may fill, and the claims of a connection."""
Claim = Annotated[str, Field(min_length=1, max_length=200)]
ProviderDomain = Annotated[EmailDomain | None, Distinct(errors.ProviderDomainExists)]
"""The email domain whose accounts sign in at a provider: a look-up by domain finds one."""


def claims_of(data_map: Mapping[str, str]) -> dict[str, str]:
    """Return the claims of a connection for a `DataMap`. Raises BadField for a field that a provider cannot fill."""
    if unknown := next((field for field in data_map if field not in FIELDS), None):
        raise errors.BadField(f"DataMap: a field that a provider fills, such as Email; found {unknown[:60]}.")
    return {FIELDS[field]: claim for field, claim in data_map.items()}


def parameters_of(query: str) -> dict[str, str]:
    """Return the parameters of an authorization request for an `ExtraParameterInRedirectToProvider`. Raises BadField."""
    name = "ExtraParameterInRedirectToProvider"
    try:
        pairs = parse_qsl(query.lstrip("?&"), keep_blank_values=True, strict_parsing=bool(query.strip("?&")))
        parameters = TypeAdapter(AuthorizationParameters).validate_python(dict(pairs))
    except ValidationError as problem:
        reason = problem.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise errors.BadField(f"{name}: {reason}.") from None
    except ValueError:
        raise errors.BadField(f"{name}: parameters as in a query, such as prompt=select_account.") from None
    if len(parameters) < len(pairs):
        raise errors.BadField(f"{name}: each parameter once.")
    return parameters


class OAuthProvider(Wire):
    """An identity provider that people sign in with by the OAuth 2.0 code flow. For each profile field, `DataMap` names the
    member of the provider's response (`a.b` is b within a); `ID` must identify the account, and the provider must never reuse
    it. Responses mask `ApplicationSecret`. At the provider, register the redirect URI `/socialauth/validate.sauth` at the
    tenant's host."""

    provider_name: Annotated[str, Key("providerName"), Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,59}$")]
    friendly_provider_name: Annotated[str, StoredAs("title"), Field(max_length=60)] = ""
    is_active: bool = True
    user_login_endpoint: Annotated[ProviderAddress, StoredAs("authorization_endpoint")]
    access_token_endpoint: Annotated[ProviderAddress, StoredAs("token_endpoint")]
    userprofile_endpoint: Annotated[ProviderAddress, StoredAs("userinfo_endpoint")]
    application_key: Annotated[str, StoredAs("key"), Field(min_length=1, max_length=500)]
    application_secret: Annotated[str | None, SECRET, Field(max_length=2_000)] = None
    scope: Annotated[str, Field(max_length=500)] = ""
    response_type: Annotated[Literal["code"], COMPUTED] = "code"
    request_token_http_method: Annotated[
        Literal["POST", "GET"], StoredAs("token_method"), Field(alias="RequestTokenHttpMethod")
    ] = "POST"
    data_map: Annotated[dict[str, Claim], COMPUTED, Field(max_length=30)]
    query_param: Annotated[ProfileParameters, StoredAs("profile_parameters")] = Field(default_factory=dict)
    headers: Annotated[ProfileHeaders, StoredAs("profile_headers")] = Field(default_factory=dict)
    access_token_parameter_name_for_api_access: Annotated[TokenParameter, StoredAs("access_token_parameter")] = ""
    extra_parameter_in_redirect_to_provider: Annotated[str, COMPUTED, Field(max_length=2_000)] = ""
    domain: ProviderDomain = None
    enable_auto_look_up: bool = False
    list_in_interface: bool = True


class StoredOAuthProvider(ConnectionSettings):
    """A connection as the store returns it."""

    provider_name: str = ""


PROVIDERS = collection(
    "oauth_providers", "/v2/manage/custom-providers/oauth", OAuthProvider,
    verbs=(LIST, CREATE, VerbOptions(UPDATE, id_in_body=True), DELETE), noun="OAuth provider",
    about="An OAuth provider is an identity provider of your own, by OAuth 2.0. Register `/socialauth/validate.sauth` of "
    "the tenant’s host there as redirect URI.",
    scope="provider",
    unique=("provider_name",), exists=errors.BadField, unknown=errors.UnknownOAuthProvider, backing=InOwnStore(),
    errors=(errors.ProviderDomainExists,),
    content=StoredOAuthProvider,
    ids=("provider_name",), max_items=30,
)  # fmt: skip
