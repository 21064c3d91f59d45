"""JWT sign-on: an app that is set up as a JWT client gets a signed JWT of an account.

The docstrings are published."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, NEVER, Host
from app.contract.catalogue import HASHES, HASHES_SECRETS, hub_operation, operation
from app.contract.error_groups import WORKFLOW_REFUSALS
from app.contract.error_profiles import SIGN_ON
from app.contract.shared_parameters import AccessTokenQuery
from app.contract.sign_in.sign_in_operations import LOGIN_ERRORS, PasswordLogin
from app.contract.sign_in.sign_in_pages import SIGN_IN_ERRORS
from app.contract.steps import StepResponse
from app.kit.operations.wire import From, Wire

Query = From.QUERY
Nonce = Annotated[str | None, Query, Field(max_length=500)]
AppName = Annotated[str, Field(max_length=100)]


class JwtLogin(PasswordLogin):
    """Exactly one of email, username and phone. `Nonce` becomes the claim `nonce`."""

    app: Annotated[AppName, From.PATH]
    nonce: Nonce = Field(default=None, alias="Nonce")


class OlderJwtLogin(PasswordLogin):
    """As the newer operation; `jwtapp` names the app."""

    jwt_app: Annotated[str | None, Query, Field(max_length=100)] = Field(default=None, alias="jwtapp")
    nonce: Nonce = Field(default=None, alias="Nonce")


class ReadJwt(AccessTokenQuery):
    """`Nonce` becomes the claim `nonce`."""

    app: Annotated[AppName, From.PATH]
    nonce: Nonce = Field(default=None, alias="Nonce")


class ReadOlderJwt(AccessTokenQuery):
    """As the newer operation; `jwtapp` names the app."""

    jwt_app: Annotated[str | None, Query, Field(max_length=100)] = Field(default=None, alias="jwtapp")
    nonce: Nonce = Field(default=None, alias="Nonce")


class SignedJwt(Wire):
    """The JWT, signed with the algorithm and the key of the app."""

    signature: str = Field(alias="signature")


class JwtAuthorize(Wire):
    """A request for a JWT by redirect. `client_id` is the tenant's API key."""

    app: AppName = ""
    client_id: Annotated[str, Field(max_length=100)] = ""
    redirect_uri: Annotated[str, Field(max_length=2_000)] = ""
    nonce: Annotated[str | None, Field(max_length=500)] = None


class JwtAccess(Wire):
    """The request of a browser that brings a JWT of another identity provider."""

    parameters: list[tuple[Annotated[str, Field(max_length=200)], Annotated[str, Field(max_length=8_000)]]] = Field(
        max_length=20
    )
    bearer: Annotated[str | None, Field(max_length=8_000)] = None
    return_url: Annotated[str | None, Field(max_length=2_000)] = None


_APP_ERRORS = (errors.JwtAppNameMissing, errors.JwtConfigurationInvalid)
_LOGIN_ERRORS = (*_APP_ERRORS, *LOGIN_ERRORS, errors.TwoFactorOn)
_TOKEN_ERRORS = (*_APP_ERRORS, *WORKFLOW_REFUSALS, errors.ExpiredAccessToken, errors.LoginNotAllowed)

login = operation(
    "jwt_sign_on.login", "POST /api/jwt/{app}/login", JwtLogin, SignedJwt, auth=API_KEY, on=Host.TENANT, heavy_work=HASHES,
    error_profile=SIGN_ON, errors=_LOGIN_ERRORS,
    summary="Sign in and get a JWT",
    description="Signs in with a password and returns the JWT for one JWT client, with the claims that the client maps. Validate it "
    "in your application with the client’s key.",
)  # fmt: skip
token = operation(
    "jwt_sign_on.token", "GET /api/jwt/{app}/token", ReadJwt, SignedJwt, auth=API_KEY & ACCESS_TOKEN, access=NEVER, on=Host.TENANT,
    error_profile=SIGN_ON, errors=_TOKEN_ERRORS,
    summary="Get a JWT for a signed-in account",
    description="Returns the JWT for one JWT client, for the account of the access token.",
)  # fmt: skip
older_login = operation(
    "jwt_sign_on.older_login", "POST /sso/jwt/api/login", OlderJwtLogin, SignedJwt, auth=API_KEY, heavy_work=HASHES,
    errors=_LOGIN_ERRORS,
    summary="Sign in and get a JWT, older address",
    description="Signs in with a password and returns the JWT of the JWT client that `jwtapp` names. New clients use `POST "
    "/api/jwt/{app}/login`.",
)  # fmt: skip
older_token = operation(
    "jwt_sign_on.older_token", "GET /sso/jwt/api/token", ReadOlderJwt, SignedJwt, auth=API_KEY & ACCESS_TOKEN, access=NEVER,
    errors=_TOKEN_ERRORS,
    summary="Get a JWT for a signed-in account, older address",
    description="Returns the JWT of the JWT client that `jwtapp` names, for the account of the access token. New clients use `GET "
    "/api/jwt/{app}/token`.",
)  # fmt: skip

authorize = hub_operation(
    "hub.authorize_jwt", "POST /hub/jwt/authorize", JwtAuthorize, StepResponse, errors=_APP_ERRORS,
    summary="Start a sign-in for an app that gets a JWT by redirect.",
)  # fmt: skip
access = hub_operation(
    "hub.access_by_jwt", "POST /hub/jwt/access", JwtAccess, StepResponse, heavy_work=HASHES_SECRETS,
    errors=(*SIGN_IN_ERRORS, errors.JwtRefused, errors.JwtWithoutSubject, errors.ProviderFailed),
    summary="Sign in by the JWT of another identity provider, once.",
)  # fmt: skip
