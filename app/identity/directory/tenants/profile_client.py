"""The first-party application of every tenant that signs users in to the hosted profile pages.

It is not stored: nothing configures it, and a stored application with its id is ignored.
"""

from collections.abc import Sequence

from app.contract.applications.settings import ApplicationSettings
from app.identity.platform.tenant import Application

CLIENT_ID = "gatehouse-profile"
CALLBACK = "/callback/profile"


def application(addresses: Sequence[str]) -> Application:
    """Return the public client of the tenant at these addresses: PKCE, no secret, no refresh token, no consent page."""
    settings = ApplicationSettings(
        name=CLIENT_ID,
        client_name="Profile",
        application_type="web",
        redirect_uris=tuple(address + CALLBACK for address in addresses),
        post_logout_redirect_uris=tuple(address + "/logout" for address in addresses),
        grant_types=("authorization_code",),
        token_endpoint_auth_method="none",
        scope="openid profile email",
        require_pkce=True,
        client_uri=addresses[0] + "/profile",
    )
    return Application(CLIENT_ID, None, settings)
