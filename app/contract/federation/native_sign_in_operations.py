"""Sign-in of apps with what a provider's SDK returned. The docstrings are published."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import Field

from app.contract import errors
from app.contract.auth import API_KEY
from app.contract.catalogue import operation
from app.contract.error_groups import CONTACT_TAKEN, EMAIL_DOMAINS, SESSION_ERRORS, SMS_SENDING
from app.contract.error_profiles import MAIN
from app.contract.federation.connection_completion import well_known_provider
from app.contract.federation.connections import ConnectionSettings
from app.contract.second_factors.challenge import Challenge
from app.kit.operations.wire import From, Lower, Wire

Kind = Literal["apple", "facebook", "foursquare", "google", "jwt", "linkedin", "qq", "twitter", "wechat"]
"""The provider that a connection is at; `jwt`: one of the tenant's JWT custom providers."""

PROVIDERS: Final[Mapping[str, Kind]] = {
    "applejwt": "apple", "applert": "apple", "facebookjwt": "facebook", "apple": "apple", "jwt": "jwt", "facebook": "facebook",
    "foursquare": "foursquare", "google": "google", "googlejwt": "google", "linkedin": "linkedin", "twitter": "twitter",
    "wechat": "wechat", "qq": "qq",
}  # fmt: skip
"""The values of `nativeProvider`, and the provider of each."""

_BY_MARK: Final[Mapping[str, Kind]] = {
    "apple": "apple", "facebook": "facebook", "google": "google", "linkedin": "linkedin", "x": "twitter",
}  # fmt: skip
_BY_HOST: Final[Mapping[str, Kind]] = {
    "api.x.com": "twitter", "api.twitter.com": "twitter", "api.weixin.qq.com": "wechat", "graph.qq.com": "qq",
}  # fmt: skip
_BY_NAME: Final[Mapping[str, Kind]] = {kind: kind for kind in PROVIDERS.values() if kind != "jwt"}


def kind_of(name: str, connection: ConnectionSettings) -> Kind | None:
    """Return the provider that a complete connection is at: as it states, by its address, else by a name such as `google-ios`."""
    if connection.preset is not None:
        return _BY_NAME.get(connection.preset)
    by_address = _BY_MARK.get(well_known_provider(connection))
    host = urlsplit(connection.userinfo_endpoint or "").hostname or ""
    return by_address or _BY_HOST.get(host) or _BY_NAME.get(name.partition("-")[0].partition("_")[0])


Query = From.QUERY
Token = Annotated[str | None, Query, Field(max_length=8_000)]
Name = Annotated[str | None, Query, Field(max_length=200)]


class NativeSignIn(Lower):
    """`nativeProvider` says what the app presents, as issued to the client id of the tenant's connection:

    - `google`: `google_access_token`, or `google_authcode` for its server. `facebook`: `fb_access_token`. `linkedin`: `ln_access_token`.
    - `googlejwt`, `facebookjwt`, `applejwt`: `id_token`. It signs in once.
    - `apple`, `wechat`, `qq`, `foursquare`: `code`. `applert`: Apple's `refresh_token`.
    - `twitter`: `tw_access_token` and `tw_token_secret`.
    - `jwt`: `id_token` of the JWT custom provider `providername`, or the same as bearer token.
    - `fs_access_token` of `foursquare` is refused: it does not tell which app an access token was issued to.

    `refresh_token` is required, though only `applert` reads it. `socialappname` names one of several connections to a provider.
    `redirect_uri` is that of the request for the code, and must be on the whitelist. `client_id` must be an application of the tenant; the
    tokens are the interface's own all the same. With the setting `legacy_native_login` the API secret is optional, and
    `refresh_token` too, except for `applert`. With `invitation_token` the account joins the inviting organization, which needs the invited
    address to be verified; where a second factor is required, the app accepts the invitation after it.
    """

    native_provider: Annotated[str, From.PATH, Field(alias="nativeProvider", max_length=40)]
    refresh_token: Token = Field(default=None, alias="refresh_token")
    social_app_name: Name = None
    redirect_uri: Annotated[str | None, Query, Field(max_length=2_000)] = Field(default=None, alias="redirect_uri")
    provider_name: Name = None
    code: Token = None
    tw_access_token: Token = Field(default=None, alias="tw_access_token")
    tw_token_secret: Token = Field(default=None, alias="tw_token_secret")
    google_authcode: Token = Field(default=None, alias="google_authcode")
    google_access_token: Token = Field(default=None, alias="google_access_token")
    client_id: Name = Field(default=None, alias="client_id")
    id_token: Token = Field(default=None, alias="id_token")
    fs_access_token: Token = Field(default=None, alias="fs_access_token")
    ln_access_token: Token = Field(default=None, alias="ln_access_token")
    fb_access_token: Token = Field(default=None, alias="fb_access_token")
    invitation_token: Name = Field(default=None, alias="invitation_token")


class NativeToken(Wire):
    """An access token and, if the tenant issues them, a refresh token. `expires_in` is a number of seconds, as a string. If a
    second factor is required, `SecondFactorAuthentication` is its challenge, and `access_token` isn't valid."""

    omits_none = True
    omitted_if_none = frozenset({"second_factor_authentication"})
    access_token: str = Field(alias="access_token")
    refresh_token: str | None = Field(default=None, alias="refresh_token")
    expires_in: str = Field(alias="expires_in")
    second_factor_authentication: Challenge | None = None


NATIVE = replace(MAIN, name="native", broken=errors.BrokenManage)

_PRESENTED = (
    errors.UnknownConnection, errors.ConnectionNotConfigured, errors.ProviderTokenMissing, errors.ProviderTokenSecretMissing,
    errors.ProviderRefreshTokenMissing, errors.JwtWithoutSubject, errors.JwtRefused, errors.ProviderFailed,
    errors.ClosedInvitation, errors.OrganizationInactive, errors.WrongInvitationEmail, errors.NoSeatLeft,
)  # fmt: skip
_ACCOUNT = (
    errors.RegistrationOff, errors.MalformedEmail, errors.UsernameMissing, errors.PhoneMissing, errors.PolicyNotAccepted,
    errors.AccountLinkingOff,
    errors.NotLinkable, errors.IdentityTaken, errors.EmailUnverified, errors.PhoneUnverified, errors.TwoFactorOn, *EMAIL_DOMAINS,
    *CONTACT_TAKEN, *SESSION_ERRORS, *SMS_SENDING, errors.MailLimitReached,
)  # fmt: skip

sign_in = operation(
    "native_sign_in.sign_in", "GET /api/v2/access_token/{nativeProvider}", NativeSignIn, NativeToken, auth=API_KEY, takes_secret=True,
    error_profile=NATIVE, row="U88", errors=(*_PRESENTED, *_ACCOUNT),
    summary="Sign in with a provider’s SDK",
    description="Exchanges what the SDK of a social provider returned in your mobile app for a session. `nativeProvider` in the path "
    "says which provider; each takes its own query parameter, for example `google_authcode` or `id_token`. The first "
    "sign-in creates the account.",
)  # fmt: skip
