"""For machines without DNS for `*.localhost` only: browsers resolve these names, Python only if the system does.

The back channel connects to one address and names the host in the Host header. A server with real host names
does not need this module: leave `client_cls` out.
"""

from typing import Any
from urllib.parse import urlsplit, urlunsplit

from authlib.integrations.flask_client import FlaskOAuth2App
from authlib.integrations.requests_client import OAuth2Session
from requests import PreparedRequest, Response, Session
from requests.adapters import HTTPAdapter


class ByAddress(HTTPAdapter):
    """Sends every request to one address, whatever host its URL names."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = urlsplit(address)

    def send(self, request: PreparedRequest, *args: Any, **named: Any) -> Response:
        requested = urlsplit(str(request.url))
        request.headers["Host"] = requested.netloc
        request.url = urlunsplit((self.address.scheme, self.address.netloc, requested.path, requested.query, ""))
        return super().send(request, *args, **named)


def app_class(address: str) -> type[FlaskOAuth2App] | None:
    """Return Authlib's Flask client that reaches `http://*.localhost` at an address; None to use it as it is."""
    if not address:
        return None

    class OAuthSession(OAuth2Session):
        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            self.mount("http://", ByAddress(address))

    class App(FlaskOAuth2App):
        client_cls = OAuthSession

    return App


def http(address: str) -> Session:
    """Return a session for requests of our own, which reaches `http://*.localhost` at an address, if there is one."""
    session = Session()
    if address:
        session.mount("http://", ByAddress(address))
    return session
