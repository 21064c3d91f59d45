"""Settings of logout notifications to an application (Back-Channel and Front-Channel Logout)."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from app.contract.configuration_model import ConfigurationModel
from app.contract.federation.connections import ProviderAddress
from app.kit.web.urls import origin_of

LogoutReason = Literal["rp_logout", "idp_logout", "password_change", "account_delete"]
"""What ended a session: a sign-out that an application asked for, one at the hosted pages, a new password, a deletion or block."""
MAX_LOGOUT_URLS = 5


class LogoutSettings(ConfigurationModel):
    """OpenID Connect Back-Channel Logout 1.0 section 2.2, and Front-Channel Logout 1.0 section 2."""

    backchannel_logout_uri: str | None = None
    backchannel_logout_uris: tuple[str, ...] = Field(default=(), max_length=MAX_LOGOUT_URLS)
    backchannel_logout_session_required: bool = False
    backchannel_logout_on: tuple[LogoutReason, ...] = ("rp_logout", "idp_logout", "password_change", "account_delete")
    logout_token_seconds: int = Field(default=3_600, ge=30, le=86_400)
    frontchannel_logout_uri: str | None = None
    frontchannel_logout_session_required: bool = False

    @property
    def logout_urls(self) -> tuple[str, ...]:
        """Where it receives logout tokens."""
        single = (self.backchannel_logout_uri,) if self.backchannel_logout_uri else ()
        return tuple(dict.fromkeys((*single, *self.backchannel_logout_uris)))


class LogoutFile(LogoutSettings):
    """The same, with checked addresses."""

    backchannel_logout_uri: ProviderAddress | None = None
    backchannel_logout_uris: tuple[ProviderAddress, ...] = Field(default=(), max_length=MAX_LOGOUT_URLS)
    frontchannel_logout_uri: ProviderAddress | None = None


def is_at_home(settings: LogoutSettings, redirect_uris: Iterable[str]) -> bool:
    """Return whether scheme, host and port of the front-channel address are those of a redirect URI (section 2)."""
    address = settings.frontchannel_logout_uri
    return address is None or origin_of(address) in {origin_of(uri) for uri in redirect_uris}
