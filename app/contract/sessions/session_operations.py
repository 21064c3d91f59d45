"""Access and refresh tokens outside OAuth: read, extended, revoked."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, MACHINE_TOKEN, NEVER, READ, STANDARD, WRITE
from app.contract.catalogue import operation
from app.contract.error_groups import UID_ERRORS, WORKFLOW_REFUSALS
from app.contract.error_profiles import BEFORE_POLICY
from app.contract.shared_parameters import AccessTokenQuery, Uid
from app.contract.shared_responses import Deleted, Posted
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Lower, Wire

Query = From.QUERY


class Token(Wire):
    """An access token and, if the tenant issues them, a refresh token. `expires_in` is an ISO 8601 date-time."""

    access_token: str = Field(alias="access_token")
    refresh_token: str | None = Field(default=None, alias="refresh_token")
    expires_in: str = Field(alias="expires_in")


class Actor(Wire):
    """Who acts for the account, in tokens of impersonation and token exchange (RFC 8693, section 4.1)."""

    omits_none = True

    sub: str = Field(alias="sub")  # `{client_id}@client` of a machine token, `{tenant}@server` of the API secret
    act: "Actor | None" = Field(default=None, alias="act")  # who acted before, in a token that was exchanged again


class TokenFacts(Wire):
    """An access token and its account. `act` is present if one of your servers got the token without the person's sign-in."""

    omits_none = True
    provider: str = Field(alias="provider")
    access_token: str = Field(alias="access_token")
    is_remember_me: bool = Field(alias="isrememberme")
    act: Actor | None = Field(default=None, alias="act")


class RevokeOwnToken(AccessTokenQuery):
    """With `preventRefresh` the refresh token issued with it is revoked too."""

    prevent_refresh: Annotated[bool, Query] = False


info = operation(
    "tokens.info", "GET /identity/v2/auth/access_token", AccessTokenQuery, TokenFacts, auth=API_KEY & ACCESS_TOKEN,
    access=READ, error_profile=BEFORE_POLICY, row="U42",
    summary="Get details of the access token",
    description="Returns how the access token’s account signed in (`provider`) and whether the session is remembered.",
)  # fmt: skip
validate = operation(
    "tokens.validate", "GET /identity/v2/auth/access_token/validate", AccessTokenQuery, Token, auth=API_KEY & ACCESS_TOKEN, access=READ,
    error_profile=BEFORE_POLICY, row="U43",
    summary="Validate the access token",
    description="Returns the access token with the time when it expires, or an error if it isn’t valid anymore.",
)  # fmt: skip
invalidate = operation(
    "tokens.invalidate", "GET /identity/v2/auth/access_token/invalidate", RevokeOwnToken, Posted, auth=API_KEY & ACCESS_TOKEN, access=WRITE,
    error_profile=BEFORE_POLICY, row="U44",
    summary="Sign out",
    description="Revokes the access token of the request, which ends the session. With `preventrefresh=true` its refresh token is "
    "revoked as well.",
)  # fmt: skip
slide = operation(
    "tokens.slide", "GET /identity/v2/auth/access_token/sliding_token", AccessTokenQuery, Token,
    auth=API_KEY & ACCESS_TOKEN, access=NEVER, row="U45",
    errors=(errors.ExpiredAccessToken, errors.PrivacyPolicyOutdated, *WORKFLOW_REFUSALS),
    summary="Extend the access token",
    description="Moves the expiry of the access token a full lifetime ahead. Use it while someone is active in your app and you don’t "
    "keep refresh tokens.",
)  # fmt: skip


class Impersonate(Lower):
    uid: Annotated[str, Query]


class RefreshToken(Lower):
    refresh_token: Annotated[str, Query] = Field(alias="refresh_token")


impersonate = operation(
    "tokens.impersonate", "GET /identity/v2/manage/account/access_token", Impersonate, Token,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="all", row="A22",
    errors=(*UID_ERRORS, errors.AccountBlocked, errors.LoginDisabled),
    summary="Get tokens for an account",
    description="Returns a session of an account without its password or second factor, for example for support staff. It doesn’t "
    "count as a sign-in of the account. The audit log records it.",
)  # fmt: skip
refresh = operation(
    "tokens.refresh", "GET /identity/v2/manage/account/access_token/refresh", RefreshToken, Token,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="all", row="A23", errors=(errors.WrongRefreshToken,),
    summary="Refresh a session",
    description="Exchanges a refresh token for a new access token and a new refresh token. The old refresh token stops working; using "
    "it again ends the session, except within the reuse interval that the tenant’s configuration sets.",
)  # fmt: skip
revoke_refresh = operation(
    "tokens.revoke_refresh", "GET /identity/v2/manage/account/access_token/refresh/revoke", RefreshToken, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:update", row="A24", errors=(errors.WrongRefreshToken,),
    summary="Revoke a refresh token",
    description="Revokes a refresh token. Access tokens that were issued with it stay valid until they expire.",
)  # fmt: skip
revoke_refresh_of_account = operation(
    "tokens.revoke_refresh_of_account", "DELETE /identity/v2/manage/account/{uid}/access_token/refresh/revoke", Uid,
    Deleted, auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:update", row="A25", errors=UID_ERRORS,
    summary="Revoke all refresh tokens of an account",
    description="Revokes every refresh token of an account, for example after a device was stolen. Its access tokens stay valid until "
    "they expire.",
)  # fmt: skip


class RequestToken(Lower):
    """`token`: from the browser's request to the program's page after a sign-in."""

    token: Annotated[str | None, Query, Field(max_length=500)] = None


class PresentedTokenQuery(Lower):
    """A token as a parameter, not as the caller's credential; absent: error 1060."""

    access_token: Annotated[str | None, Query] = Field(default=None, alias="access_token")


class RevokePresentedToken(PresentedTokenQuery):
    prevent_refresh: Annotated[bool, Query] = False


class ExtendPresentedToken(PresentedTokenQuery):
    """`expiresin`: seconds from now; without it the tenant's lifetime."""

    expires_in: Annotated[int | None, Query] = Field(default=None, ge=1, le=90 * 86_400)
    is_web: Annotated[bool, Query] = False


class ListSessions(Lower):
    """One of a token, an account id and a profile id."""

    token: Annotated[str | None, Query] = None
    account_id: Annotated[str | None, Query] = None
    profile_id: Annotated[str | None, Query] = None


class ActiveSession(Wire):
    """A live access token. `AccessToken` is a handle: it is accepted only by `access_token/invalidate`, which revokes the token."""

    access_token: str
    browser: str | None = None
    device: str | None = None
    os: str | None = None
    device_type: str | None = None
    city: str | None = None
    country: str | None = None
    ip: str | None = None
    login_date: str | None = None


class ActiveSessions(Wire):
    """The live access tokens of an account. `nextcursor` and `nextCursor` have the same value; 0 means there are no more."""

    data: list[ActiveSession] = Field(alias="data")
    next_cursor: int = Field(default=0, alias="nextcursor")
    next_cursor_camel: int = Field(default=0, alias="nextCursor")


class TokenRevoked(Posted):
    """The result of revoking a token. `IsPosted` and `isPosted` have the same value."""

    is_posted_camel: bool = Field(default=True, alias="isPosted")


class ReturnCode(Lower):
    """The code that the hosted pages appended to your return address."""

    code: Annotated[str, Field(max_length=200)]


exchange_code = operation(
    "tokens.exchange_code", "POST /identity/v2/auth/hosted/token", ReturnCode, Token, auth=API_KEY & API_SECRET,
    accepts=Accept.JSON_OR_FORM, errors=(errors.WrongRequestToken, errors.ExpiredRequestToken),
    summary="Exchange a code of the hosted pages",
    description="Exchanges the `code` that the hosted pages appended to your return address for a session. The code works once. Call "
    "it from your server.",
)  # fmt: skip
exchange = operation(
    "tokens.exchange", "GET /api/v2/access_token", RequestToken, Token, auth=API_SECRET, row="A26",
    errors=(errors.WrongRequestToken, errors.ExpiredRequestToken),
    summary="Exchange a request token",
    description="Exchanges the request token that a social sign-in appended to your return address for a session. The token works "
    "once, for 15 minutes. Call it from your server.",
)  # fmt: skip
validate_shown = operation(
    "tokens.validate_shown", "GET /api/v2/access_token/validate", PresentedTokenQuery, Token, auth=API_KEY & API_SECRET,
    access=READ, row="A27", errors=(errors.InvalidAccessToken, errors.ExpiredAccessToken, errors.MissingAccessToken),
    summary="Validate any access token",
    description="Returns an account’s access token with the time when it expires, or an error if it isn’t valid anymore. Use it on "
    "servers that get access tokens from apps.",
)  # fmt: skip
invalidate_shown = operation(
    "tokens.invalidate_shown", "GET /api/v2/access_token/invalidate", RevokePresentedToken, TokenRevoked,
    auth=API_KEY & API_SECRET, access=STANDARD, row="A28", errors=(errors.InvalidAccessToken, errors.MissingAccessToken),
    summary="Revoke any access token",
    description="Revokes the access token of any account. With `preventrefresh=true` its refresh token is revoked as well.",
)  # fmt: skip
refresh_shown = operation(
    "tokens.refresh_shown", "GET /api/v2/access_token/refresh", ExtendPresentedToken, Token, auth=API_SECRET, access=NEVER, row="A29",
    errors=(errors.InvalidAccessToken, errors.MissingAccessToken),
    summary="Set when an access token expires",
    description="Sets how many seconds the access token of any account is still valid.",
)  # fmt: skip
active_sessions = operation(
    "tokens.active_sessions", "GET /api/v2/access_token/activesession", ListSessions, ActiveSessions,
    auth=API_KEY & API_SECRET, access=READ, row="A30",
    errors=(*UID_ERRORS, errors.InvalidAccessToken, errors.ProfileIdMissing, errors.SessionExpired, errors.IdentifierMissing),
    summary="List an account’s sessions",
    description="Returns the live access tokens of an account with browser, device, IP address and time of sign-in. Name the account "
    "by `token`, `accountid` or `profileid`.",
)  # fmt: skip
