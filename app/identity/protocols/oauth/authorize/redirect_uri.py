"""redirect_uri: must equal a registered redirect URI exactly (RFC 9700 section 2.1).

The only freedom is the port of a native application's loopback address (RFC 8252 section 7.3). A client without
addresses of its own may use an entry of the tenant's whitelist, letter for letter too (federation.md section 4).
"""

import re

from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.authorize.request import Asked, Refused

_LOOPBACK = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]))(?::[0-9]{1,5})?((?:[/?][!-~]*)?)")


def check(asked: Asked) -> None:
    uri = asked.values.get("redirect_uri")
    if uri is None:
        raise Refused("redirect_uri", "invalid_request")
    if not is_registered(asked.context, asked.client, uri):
        raise Refused("redirect_uri", "invalid_request")
    asked.kept["redirect_uri"] = uri


def is_registered(context: Context, client: Application, uri: str) -> bool:
    """Return whether answers to the client may go to the address."""
    registered = client.settings.redirect_uris or context.tenant.settings.url_whitelist
    return "#" not in uri and (uri in registered or _is_loopback(client, uri))


def _is_loopback(client: Application, uri: str) -> bool:
    if client.settings.application_type != "native":
        return False
    asked = _LOOPBACK.fullmatch(uri)
    known = [_LOOPBACK.fullmatch(registered) for registered in client.settings.redirect_uris]
    return asked is not None and any(one is not None and one.groups() == asked.groups() for one in known)
