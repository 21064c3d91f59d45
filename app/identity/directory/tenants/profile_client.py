"""The hub's own client: in every tenant a public first-party application signs people in to the hosted profile pages.

It has no row: nothing configures it, and a row of its name is never read.
"""

from app.contract.configuration import ApplicationSettings
from app.identity.platform.tenant import Application

CLIENT_ID = "gatehouse-profile"
CALLBACK = "/callback/profile"


def application(hub_url: str) -> Application:
    """Return the client of the tenant at that address: PKCE, no secret, no refresh token, no question for consent."""
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
