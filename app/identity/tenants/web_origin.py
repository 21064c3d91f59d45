"""Which web site a tenant's passkeys are for (WebAuthn level 3): the relying party's id, and the origins where it may be asked."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from app.identity.call import Call

_LOCAL = "localhost"


def rp_id(call: Call) -> str:
    """Return the id to which passkeys are bound for ever: the tenant's host. Changing that loses them all."""
    return urlsplit(call.issuer).hostname or ""


def origins(call: Call) -> list[str]:
    """Return the tenant's own origin and those that share its passkeys."""
    return [call.issuer, *call.tenant.settings.passkey_settings.related_origins]


def shown_name(call: Call) -> str:
    """Return what browsers call the tenant."""
    return call.tenant.settings.passkey_settings.name or call.tenant.display_name


def can_have_passkeys(call: Call) -> bool:
    """Return whether browsers make passkeys for the tenant's host at all: a domain, over https or on this machine."""
    host = rp_id(call)
    is_local = host == _LOCAL or host.endswith("." + _LOCAL)
    return not _is_address(host) and (is_local or call.issuer.startswith("https://"))


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
