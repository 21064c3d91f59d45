"""The WebAuthn relying party of a tenant: its RP ID, name and allowed origins (WebAuthn level 3)."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from app.contract.tenants.settings import TenantSettings
from app.identity.platform.context import Context
from app.kit.web.urls import origin_of

_LOCAL = "localhost"


def rp_id(context: Context, settings: TenantSettings | None = None) -> str:
    """Return the RP ID of the settings, by default the current ones; it is the same at all of the tenant's hosts.

    That is the tenant's own host name, or the configured domain once a custom domain in it is verified. Changing it invalidates all
    passkeys.
    """
    chosen = (settings or context.tenant.settings).passkey_settings.rp_id
    if chosen is not None and any(is_within(host, chosen) for host in context.tenant.custom_hosts):
        return chosen
    return own_host(context)


def own_host(context: Context) -> str:
    """Return the name of the tenant's own host."""
    return urlsplit(context.own_urls[0]).hostname or ""


def is_within(host: str, domain: str) -> bool:
    """Return whether the host is the domain or below it."""
    return host == domain or host.endswith(f".{domain}")


def origins(context: Context) -> list[str]:
    """Return the tenant's own origin, those of its custom domains, and the configured related origins, each once.

    They have the form in which a browser names its page's origin in client data (decision 0329).
    """
    configured = [*context.own_urls, *context.tenant.settings.passkey_settings.related_origins]
    return list(dict.fromkeys(origin_of(address) or address for address in configured))


def rp_name(context: Context) -> str:
    """Return the RP name that browsers display."""
    return context.tenant.settings.passkey_settings.name or context.tenant.display_name


def supports_passkeys(context: Context) -> bool:
    """Return whether browsers support passkeys on the tenant's host: a domain over https, or localhost."""
    host = rp_id(context)
    is_local = host == _LOCAL or host.endswith("." + _LOCAL)
    return not _is_address(host) and (is_local or context.own_urls[0].startswith("https://"))


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
