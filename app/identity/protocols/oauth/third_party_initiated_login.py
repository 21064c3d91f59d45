"""Sign-ins that a page of ours starts at the application (OpenID Connect Core section 4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlencode

from app.contract.applications.client_protocol import ClientProtocol
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.claims import subjects
from app.kit.web.proxies import is_local
from app.kit.web.urls import parse_url

_MAX_ADDRESS_LENGTH: Final = 2_000
_EMAIL: Final = "email"


def start_url(
    context: Context,
    client: Application,
    *,
    target: str | None,
    login_hint: str | None = None,
    longest: int = _MAX_ADDRESS_LENGTH,
) -> str | None:
    """Return the address at the application that starts a sign-in; None without `initiate_login_uri`, or if it is too long.

    Args:
        target: `target_link_uri`, an address of the application; left out where the whole would be too long.
    """
    start = client.settings.initiate_login_uri
    if not start or not client.settings.is_active or not _is_reachable(start):
        return None
    named = {"iss": _issuer(context, client), "login_hint": login_hint}
    for parameters in ({**named, "target_link_uri": target}, named):
        provided = urlencode({name: value for name, value in parameters.items() if value})
        address = f"{start}{'&' if '?' in start else '?'}{provided}"
        if len(address) <= longest:
            return address
    return None


def login_hint(context: Context, client: Application, account: Account, scopes: Iterable[str]) -> str:
    """Return the `login_hint` for an application with these scopes: only identifiers that it may know."""
    return (account.email if _EMAIL in scopes else None) or subjects.of(context, client, account.uid)


def _issuer(context: Context, client: Application) -> str:
    is_own = client.registered_under is not None or client.settings.protocol is not ClientProtocol.OPENID
    return (issuers.of_application(context, client) if is_own else issuers.tenant_wide(context)).url


def _is_reachable(address: str) -> bool:
    """Return whether a browser may be led there: https, or http at this device."""
    parts = parse_url(address)
    is_safe = parts is not None and (parts.scheme == "https" or is_local(parts.host))
    return is_safe and "#" not in address
