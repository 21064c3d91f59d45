"""Which web site a tenant's passkeys are for (WebAuthn level 3): the relying party's id, and the origins where it may be asked."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from app.identity.platform.context import Context

_LOCAL = "localhost"


def rp_id(context: Context) -> str:
    """Return the id to which passkeys are bound for ever: the tenant's host. Changing that loses them all."""
    return urlsplit(context.issuer).hostname or ""


def origins(context: Context) -> list[str]:
    """Return the tenant's own origin and those that share its passkeys."""
    return [context.issuer, *context.tenant.settings.passkey_settings.related_origins]


def rp_name(context: Context) -> str:
    """Return what browsers call the tenant."""
    return context.tenant.settings.passkey_settings.name or context.tenant.display_name


def supports_passkeys(context: Context) -> bool:
    """Return whether browsers make passkeys for the tenant's host at all: a domain, over https or on this machine."""
    host = rp_id(context)
    is_local = host == _LOCAL or host.endswith("." + _LOCAL)
    return not _is_address(host) and (is_local or context.issuer.startswith("https://"))


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
