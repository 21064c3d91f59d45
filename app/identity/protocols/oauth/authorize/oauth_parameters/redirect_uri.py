"""redirect_uri: must equal a registered redirect URI exactly (RFC 9700 section 2.1).

Only the port of a native application's loopback address may differ (RFC 8252 section 7.3), and of its http://localhost, which
section 8.3 advises against but command-line programs use (decision 0340): not with FAPI. A client without redirect
URIs may use an entry of the tenant's whitelist, which must be equal too.
"""

import re

from app.contract.applications.redirect_schemes import is_of_no_application, is_registrable
from app.contract.step_reasons import RefusedPart
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import refusal_log
from app.identity.protocols.oauth.authorize import request_object
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedOnPage, UncheckedRequest
from app.kit.web.urls import parse_url, split_url

_SCHEME = "This application may not have a redirect_uri with this scheme."
_LOOPBACK = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]|localhost))(?::[0-9]{1,5})?((?:[/?][!-~]*)?)")
_BY_NAME = "http://localhost"


def check(request: UncheckedRequest) -> None:
    uri = request.values.get("redirect_uri") or request_object.unverified(request, "redirect_uri")
    if uri is None and request.problem is not None:
        raise RefusedOnPage(RefusedPart.REQUEST_URI, request.problem.error, request.problem.description)
    if uri is None:
        raise RefusedOnPage(RefusedPart.REDIRECT_URI, "invalid_request", "The redirect_uri is missing or given twice.")
    if not _is_registered(request.context, request.client, uri):
        raise RefusedOnPage(RefusedPart.REDIRECT_URI, "invalid_request", _unregistered(request.client, uri))
    request.accepted["redirect_uri"] = uri


def _unregistered(client: Application, uri: str) -> str:
    """Return the advice for developers, without self-registered names and without the registered addresses."""
    if uri in client.settings.redirect_uris:
        return _SCHEME
    named = "" if client.is_self_registered else f"{refusal_log.shown(client.settings.name)}, "
    return (
        f"The redirect_uri {refusal_log.shown_url(uri)} is not registered for this application "
        f"({named}client_id {refusal_log.shown(client.client_id)}). Add it to its redirect_uris, exactly as it is sent."
    )


def still_holds(context: Context, client: Application, request: CheckedRequest) -> bool:
    """Return whether responses for the client may still go to the request's redirect URI."""
    return _is_registered(context, client, request.redirect_uri)


def _is_registered(context: Context, client: Application, uri: str) -> bool:
    """Return whether responses for the client may go to the URI."""
    whitelist = () if client.is_self_registered else context.tenant.settings.url_whitelist
    registered = client.settings.redirect_uris or whitelist
    is_known = "#" not in uri and (uri in registered or _is_loopback(client, uri))
    return is_known and may_lead_to(context, client, uri)


def is_readable(uri: str) -> bool:
    """Return whether browsers and our pages can read every part of the address, such as its port."""
    parts = split_url(uri)
    return parts is not None and (parts.scheme not in ("http", "https") or parse_url(uri) is not None)


def may_lead_to(context: Context, client: Application, uri: str) -> bool:
    """Return whether the tenant's present settings allow the client this scheme (decision 0328)."""
    if not is_readable(uri):
        return False
    if not client.is_self_registered:
        return not is_of_no_application(uri.partition(":")[0].lower())
    return is_registrable(uri, context.tenant.settings.client_registration.redirect_schemes)


def _is_loopback(client: Application, uri: str) -> bool:
    if client.settings.application_type != "native":
        return False
    requested = _LOOPBACK.fullmatch(uri)
    if requested is None or (requested[1] == _BY_NAME and client.settings.is_fapi):
        return False
    registered = [_LOOPBACK.fullmatch(known) for known in client.settings.redirect_uris]
    return any(match and match.groups() == requested.groups() for match in registered)
