"""Registration of applications by themselves (RFC 7591, RFC 7592)."""

from typing import Annotated, ClassVar

from pydantic import ConfigDict

from app.contract.auth import Host
from app.contract.catalogue import operation
from app.contract.error_profiles import REGISTRATION
from app.contract.oauth import oauth_errors
from app.contract.oauth.oauth_token_operations import OAuthWire, as_named
from app.kit.operations.auth import Cors
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, NoContent

METADATA_ERRORS = (
    oauth_errors.InvalidRedirectUri,
    oauth_errors.InvalidSoftwareStatement,
    oauth_errors.UnapprovedSoftwareStatement,
    oauth_errors.RegistrationClosed,
    oauth_errors.InvalidToken,
)


class RegistrationRequest(OAuthWire):
    """Client metadata (RFC 7591 section 2, OpenID Connect Registration section 2). Members that are not known are ignored."""

    model_config = ConfigDict(alias_generator=as_named, extra="allow")

    app: Annotated[str | None, From.PATH] = None


class RegistrationAddress(OAuthWire):
    """A registration: its client id is in the address that the registration returned."""

    registration: Annotated[str, From.PATH]


class RegistrationChange(RegistrationAddress):
    """The whole client metadata, which replaces the present one (RFC 7592 section 2.2)."""

    model_config = ConfigDict(alias_generator=as_named, extra="allow")


class RegistrationResponse(OAuthWire):
    """An application's registration with all of its metadata (RFC 7591, section 3.2.1). Only the response that issues the secret
    and the registration access token has them."""

    model_config = ConfigDict(alias_generator=as_named, extra="allow")

    client_id: str
    client_secret: str | None = None
    client_id_issued_at: int
    client_secret_expires_at: int | None = None  # 0: never; present if a secret was issued
    registration_access_token: str | None = None
    registration_client_uri: str


class NewRegistrationResponse(RegistrationResponse):
    """A new registration."""

    http_status: ClassVar[int] = 201


register = operation(
    "oauth_registration.register", "POST /api/oidc/register", RegistrationRequest, NewRegistrationResponse, error_profile=REGISTRATION,
    on=Host.TENANT, cors=Cors.ANY, also=("/api/oidc/{app}/register", "/api/oauth/{app}/register"), accepts=Accept.JSON,
    errors=(*METADATA_ERRORS, oauth_errors.UnknownApplication),
    summary="Register an application",
    description="Registers an application from its metadata and returns its `client_id`, its `client_secret` if it has one, and a "
    "registration access token (RFC 7591). The tenant decides whether registration is open, needs an initial access "
    "token, or is off.",
)  # fmt: skip

read = operation(
    "oauth_registration.read", "GET /api/oidc/register/{registration}", RegistrationAddress, RegistrationResponse,
    error_profile=REGISTRATION, on=Host.TENANT, cors=Cors.ANY, errors=(oauth_errors.InvalidToken,),
    summary="Get an application’s registration",
    description="Returns the metadata of the application (RFC 7592). Send its registration access token as `Authorization: Bearer …`.",
)  # fmt: skip

replace = operation(
    "oauth_registration.replace", "PUT /api/oidc/register/{registration}", RegistrationChange, RegistrationResponse,
    error_profile=REGISTRATION, on=Host.TENANT, cors=Cors.ANY, accepts=Accept.JSON, errors=METADATA_ERRORS,
    summary="Replace an application’s registration",
    description="Replaces the metadata of the application (RFC 7592); what the request leaves out gets its default. The response "
    "contains a new registration access token, and the one of the request stops working.",
)  # fmt: skip

remove = operation(
    "oauth_registration.remove", "DELETE /api/oidc/register/{registration}", RegistrationAddress, NoContent,
    error_profile=REGISTRATION, on=Host.TENANT, cors=Cors.ANY, answers=(),
    errors=(oauth_errors.InvalidToken, oauth_errors.RegistrationClosed),
    summary="Delete an application’s registration",
    description="Deletes the application with its tokens and consents (RFC 7592). Send its registration access token as "
    "`Authorization: Bearer …`.",
)  # fmt: skip
