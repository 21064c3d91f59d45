"""The older addresses of OAuth and OpenID Connect on the API host.

They are the endpoints of the tenant's host under other names; tokens have the tenant's issuer. The tenant is known by its API key, or by
its name in the path (`site`).
"""

from typing import Annotated

from app.contract.auth import ACCESS_TOKEN, API_KEY, CLIENT, STANDARD
from app.contract.catalogue import HASHES_SECRETS, operation
from app.contract.error_profiles import OAUTH
from app.contract.oauth import oauth_errors
from app.contract.oauth.authorization_operations import DeviceRequest, DeviceResponse
from app.contract.oauth.oauth_metadata import IssuerRequest, UserinfoResponse
from app.contract.oauth.oauth_token_operations import GRANT_ERRORS, RevocationRequest, TokenRequest, TokenResponse
from app.kit.operations.wire import Document, Found, From

Site = Annotated[str | None, From.PATH]


class OlderCodeRequest(TokenRequest):
    """A code, unless `grant_type` says otherwise."""

    grant_type: str = "authorization_code"


class OlderRefreshRequest(TokenRequest):
    """A refresh token, whatever `grant_type` says."""

    grant_type: str = "refresh_token"


class SiteTokenRequest(TokenRequest):
    site: Site = None


class SiteRevocationRequest(RevocationRequest):
    site: Site = None


class SiteRequest(IssuerRequest):
    site: Site = None


_V2 = "/sso/oidc/v2/{site}/{app}"

oauth_redirect = operation(
    "oauth_older.redirect", "GET /sso/oauth/redirect", IssuerRequest, Found, auth=API_KEY, error_profile=OAUTH, answers=(),
    summary="Redirect to the authorization endpoint",
    description="Redirects the browser to the authorization endpoint of the tenant’s host, with its query.",
)  # fmt: skip
access_token = operation(
    "oauth_older.access_token", "POST /sso/oauth/access_token", OlderCodeRequest, TokenResponse, auth=CLIENT & API_KEY, error_profile=OAUTH,
    heavy_work=HASHES_SECRETS, errors=GRANT_ERRORS,
    summary="Exchange a code, older address",
    description="Exchanges an authorization code for tokens. New clients use `POST /api/oidc/token`.",
)  # fmt: skip
refresh = operation(
    "oauth_older.refresh", "POST /sso/oauth/access_token/refresh", OlderRefreshRequest, TokenResponse,
    auth=CLIENT & API_KEY, error_profile=OAUTH, heavy_work=HASHES_SECRETS, errors=GRANT_ERRORS,
    summary="Refresh tokens, older address",
    description="Exchanges a refresh token for new tokens. New clients use `POST /api/oidc/token`.",
)  # fmt: skip
revoke = operation(
    "oauth_older.revoke", "POST /sso/oauth/refresh_token/revoke", RevocationRequest, Document, auth=CLIENT & API_KEY, error_profile=OAUTH,
    answers=(),
    summary="Revoke a refresh token, older address",
    description="Revokes a refresh token. The response is 200 for any token. New clients use `POST /api/oidc/revoke`.",
)  # fmt: skip
device = operation(
    "oauth_older.device", "POST /sso/oauth/{app}/device", DeviceRequest, DeviceResponse, auth=CLIENT & API_KEY, error_profile=OAUTH,
    errors=(oauth_errors.UnauthorizedClient, oauth_errors.InvalidScope, oauth_errors.InvalidTarget, oauth_errors.RequestNotSupported),
    summary="Start a device sign-in, older address",
    description="Returns a `device_code` and a `user_code`. New clients use `POST /api/oidc/device`.",
)  # fmt: skip

oidc_authorize = operation(
    "oauth_older.oidc_authorize", f"GET {_V2}/authorize", SiteRequest, Found, error_profile=OAUTH, answers=(),
    errors=(oauth_errors.UnknownApplication,),
    summary="Redirect to an application’s authorization endpoint",
    description="Redirects the browser to the authorization endpoint of an application at the tenant’s host, with its query.",
)  # fmt: skip
oidc_token = operation(
    "oauth_older.oidc_token", f"POST {_V2}/token", SiteTokenRequest, TokenResponse, auth=CLIENT, error_profile=OAUTH,
    heavy_work=HASHES_SECRETS, errors=GRANT_ERRORS,
    summary="Get tokens as an OpenID client, older address",
    description="Exchanges a grant for tokens. New clients use `POST /api/oidc/token`.",
)  # fmt: skip
oidc_revoke = operation(
    "oauth_older.oidc_revoke", f"POST {_V2}/token/revoke", SiteRevocationRequest, Document, auth=CLIENT, error_profile=OAUTH, answers=(),
    summary="Revoke a token, older address",
    description="Revokes an access or refresh token. The response is 200 for any token. New clients use `POST /api/oidc/revoke`.",
)  # fmt: skip
oidc_userinfo = operation(
    "oauth_older.userinfo", f"GET {_V2}/userinfo", SiteRequest, UserinfoResponse, auth=ACCESS_TOKEN, access=STANDARD, error_profile=OAUTH,
    answers=("application/json", "application/jwt"), errors=(oauth_errors.InsufficientScope, oauth_errors.MalformedTokenRequest),
    summary="Get the claims of the user, older address",
    description="Returns the claims about the user that the scope of the access token allows. New clients use `GET "
    "/service/oidc/userinfo`.",
)  # fmt: skip
oidc_jwks = operation(
    "oauth_older.jwks", f"GET {_V2}/jwks", SiteRequest, Document, error_profile=OAUTH, errors=(oauth_errors.UnknownApplication,),
    summary="Get the signing keys, older address",
    description="Returns the public keys that sign the tenant’s tokens. New clients use `GET /service/oidc/jwks`.",
)  # fmt: skip
oidc_discovery = operation(
    "oauth_older.discovery", f"GET {_V2}/.well-known/openid-configuration", SiteRequest, Document, error_profile=OAUTH,
    errors=(oauth_errors.UnknownApplication,),
    summary="Get the OpenID configuration, older address",
    description="Returns the endpoints and algorithms for one application. New clients use `GET /.well-known/openid-configuration`.",
)  # fmt: skip
