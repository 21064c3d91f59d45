"""The WebAuthn relying party of a tenant: its RP ID, name and allowed origins (WebAuthn level 3)."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from app.identity.platform.context import Context

_LOCAL = "localhost"


def rp_id(context: Context) -> str:
    """Return the RP ID, the tenant's host name. Changing it invalidates all passkeys."""
    return urlsplit(context.issuer).hostname or ""


def origins(context: Context) -> list[str]:
    """Return the tenant's origin and its related origins."""
    return [context.issuer, *context.tenant.settings.passkey_settings.related_origins]


def rp_name(context: Context) -> str:
    """Return the RP name that browsers display."""
    return context.tenant.settings.passkey_settings.name or context.tenant.display_name


def supports_passkeys(context: Context) -> bool:
    """Return whether browsers support passkeys on the tenant's host: a domain over https, or localhost."""
    host = rp_id(context)
    is_local = host == _LOCAL or host.endswith("." + _LOCAL)
    return not _is_address(host) and (is_local or context.issuer.startswith("https://"))


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
