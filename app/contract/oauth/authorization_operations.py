"""Pushed authorization requests (RFC 9126) and the device authorization endpoint (RFC 8628)."""

from typing import ClassVar

from pydantic import ConfigDict

from app.contract.auth import CLIENT, Host
from app.contract.catalogue import operation
from app.contract.error_profiles import OAUTH
from app.contract.oauth import oauth_errors
from app.contract.oauth.authorization_details import StatedDetails
from app.contract.oauth.oauth_token_operations import ClientRequest, OAuthWire, as_named
from app.kit.operations.auth import Cors


class PushedRequest(ClientRequest):
    """The parameters of an authorization request. Unknown ones are ignored, as at the authorization endpoint."""

    model_config = ConfigDict(alias_generator=as_named, extra="allow")

    response_type: str | None = None
    redirect_uri: str | None = None
    scope: str | None = None
    state: str | None = None
    nonce: str | None = None
    response_mode: str | None = None
    code_challenge: str | None = None
    code_challenge_method: str | None = None
    prompt: str | None = None
    max_age: str | int | None = None
    display: str | None = None
    ui_locales: str | None = None
    login_hint: str | None = None
    id_token_hint: str | None = None
    acr_values: str | None = None
    claims: str | None = None
    resource: str | None = None
    dpop_jkt: str | None = None  # RFC 9449 section 10
    authorization_details: StatedDetails | None = None  # RFC 9396
    request: str | None = None


class PushedResponse(OAuthWire):
    """A pushed authorization request (RFC 9126). Send the browser to the authorization endpoint with `request_uri` and
    `client_id` alone. It works once."""

    http_status: ClassVar[int] = 201

    request_uri: str
    expires_in: int  # seconds


push = operation(
    "oauth_authorization.push", "POST /api/oidc/par", PushedRequest, PushedResponse, auth=CLIENT, error_profile=OAUTH, on=Host.TENANT,
    cors=Cors.CLIENT, also=("/api/oidc/{app}/par", "/api/oauth/{app}/par"), takes_markup=True,
    errors=(
        oauth_errors.InvalidScope, oauth_errors.InvalidTarget, oauth_errors.UnsupportedResponseType, oauth_errors.RequestNotSupported,
        oauth_errors.InvalidRequestObject,
        oauth_errors.RegistrationNotSupported, oauth_errors.UnmetAuthenticationRequirements, oauth_errors.InvalidAuthorizationDetails,
        oauth_errors.InvalidDpopProof, oauth_errors.UseDpopNonce, oauth_errors.UnauthorizedClient.at(400),
    ),
    summary="Push an authorization request",
    description="Stores the parameters of an authorization request and returns a `request_uri` for the browser’s redirect (RFC 9126). "
    "The parameters stay off the address bar, and the application is authenticated before anyone signs in. The "
    "`request_uri` works once, for 90 seconds.",
)  # fmt: skip


class DeviceRequest(ClientRequest):
    """RFC 8628 section 3.1."""

    scope: str | None = None
    resource: str | None = None  # RFC 8707
    authorization_details: StatedDetails | None = None  # RFC 9396


class DeviceResponse(OAuthWire):
    """The codes of a device sign-in (RFC 8628, section 3.2). Show `user_code` and `verification_uri`, and
    `verification_uri_complete` as a QR code."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    expires_in: int  # seconds
    interval: int  # seconds between two polls


_DEVICE_ALIASES = (
    "/api/oidc/device/code", "/api/oidc/{app}/device", "/api/oidc/{app}/device/code", "/api/oauth/{app}/device",
    "/api/oauth/{app}/device/code",
)  # fmt: skip
device = operation(
    "oauth_authorization.device", "POST /api/oidc/device", DeviceRequest, DeviceResponse, auth=CLIENT, error_profile=OAUTH, on=Host.TENANT,
    cors=Cors.CLIENT, also=_DEVICE_ALIASES,
    errors=(
        oauth_errors.InvalidScope, oauth_errors.InvalidTarget, oauth_errors.RequestNotSupported, oauth_errors.InvalidAuthorizationDetails,
        oauth_errors.UnauthorizedClient.at(400),
    ),
    summary="Start a device sign-in",
    description="Returns a `device_code` to poll with and a `user_code` that the user enters at `verification_uri` on another device "
    "(RFC 8628). Use it for TVs, consoles and command line tools. Poll the token endpoint every `interval` seconds.",
)  # fmt: skip
