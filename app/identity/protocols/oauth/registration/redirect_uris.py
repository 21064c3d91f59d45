"""redirect_uris of a registration, by its application_type (OpenID Connect Registration section 2, RFC 8252 section 7).

A web application has https addresses; a native one has addresses of this device, a scheme of its own or https addresses. Its own scheme is
in reverse domain order, or in the tenant's list (decision 0328).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from ipaddress import ip_address
from typing import Final, Literal

from pydantic import TypeAdapter, ValidationError

from app.contract.applications.file import RedirectUri
from app.contract.applications.redirect_schemes import is_registrable
from app.contract.oauth.oauth_errors import InvalidRedirectUri
from app.kit.web.proxies import is_local
from app.kit.web.urls import parse_url, split_url

MAX_REDIRECT_URIS: Final = 20
_WEB: Final = ("https", "http")
_OWN_SCHEME: Final = "a scheme in reverse domain order, such as com.example.app (RFC 8252, section 7.1)"
_URI: Final = TypeAdapter[str](RedirectUri)

ApplicationType = Literal["web", "native"]


def default_type(uris: Sequence[str]) -> ApplicationType:
    """Return the type of an application that states none: native if it has no web address.

    The specification's default is web, but native applications that know only RFC 7591 state no type (decision 0222).
    """
    return "native" if uris and all(_is_loopback(uri) or not _is_web(uri) for uri in uris) else "web"


def check(uris: object, application_type: str, schemes: Collection[str], *, allows_http: bool) -> list[str]:
    """Return the addresses.

    Args:
        schemes: those that the tenant lists.
        allows_http: in development, a web application may be on this machine.

    Raises:
        InvalidRedirectUri: not a list of different addresses, or an address that the type does not allow.
    """
    if not isinstance(uris, list) or len(uris) > MAX_REDIRECT_URIS or len(set(map(str, uris))) < len(uris):
        raise InvalidRedirectUri(f"redirect_uris: expected a list of at most {MAX_REDIRECT_URIS} different addresses.")
    for uri in uris:
        if problem := _problem(uri, application_type, schemes, allows_http=allows_http):
            raise InvalidRedirectUri(f"redirect_uris: expected {problem}; found {str(uri)[:200]!r}.")
    return uris


def scheme_problem(uri: str, schemes: Collection[str]) -> str:
    """Return the expected form in place of an address whose scheme such an application cannot have; empty for any other."""
    if is_registrable(uri, schemes):
        return ""
    return f"{_OWN_SCHEME}, or one of: {', '.join(schemes)}" if schemes else _OWN_SCHEME


def _problem(uri: object, application_type: str, schemes: Collection[str], *, allows_http: bool) -> str:
    try:
        uri = _URI.validate_python(uri, strict=True)
    except ValidationError as problem:
        return str(problem.errors()[0]["msg"]).removeprefix("Value error, ")
    if expected := scheme_problem(uri, schemes):
        return expected
    if application_type == "native":
        return "" if _is_loopback(uri) or _parts(uri)[0] != "http" else "an https address, or one of this device"
    if _is_web(uri) and not _is_loopback(uri):
        return "" if _parts(uri)[0] == "https" else "an https address"
    return "" if allows_http and _is_loopback(uri) else "an https address, because application_type is web"


def _is_web(uri: str) -> bool:
    return _parts(uri)[0] in _WEB


def _is_loopback(uri: str) -> bool:
    scheme, host = _parts(uri)
    try:
        is_own = ip_address(host).is_loopback
    except ValueError:
        is_own = is_local(host)
    return scheme in _WEB and is_own


def _parts(uri: str) -> tuple[str, str]:
    """Return the scheme and the host of an unchecked address; empty ones if it is malformed."""
    parts, address = split_url(uri), parse_url(uri)
    if address is not None:
        return address.scheme, address.host
    return (parts.scheme, "") if parts is not None and parts.scheme not in _WEB else ("", "")
