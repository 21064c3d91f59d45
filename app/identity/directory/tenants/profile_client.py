"""The first-party application of every tenant that signs users in to the hosted profile pages.

It is not stored: nothing configures it, and a stored application with its id is ignored.
"""

from app.contract.configuration import ApplicationSettings
from app.identity.platform.tenant import Application

CLIENT_ID = "gatehouse-profile"
CALLBACK = "/callback/profile"


def application(hub_url: str) -> Application:
    """Return the public client of the tenant at this URL: PKCE, no secret, no refresh token, no consent page."""
    settings = ApplicationSettings(
        name=CLIENT_ID,
        client_name="Profile",
        application_type="web",
        redirect_uris=(hub_url + CALLBACK,),
        post_logout_redirect_uris=(hub_url + "/logout",),
        grant_types=("authorization_code",),
        token_endpoint_auth_method="none",
        scope="openid profile email",
        require_pkce=True,
        client_uri=hub_url + "/profile",
    )
    return Application(CLIENT_ID, None, settings)
