"""Compares the address of a request with the client that calls it."""

from app.identity.platform.tenant import Application
from app.kit.operations.request_parsing import RawRequest


def is_addressed_by(client: Application, raw: RawRequest) -> bool:
    """Return whether the address belongs to the client: its issuer and its protocol, or the tenant-wide address."""
    app = raw.parameters.get("app")
    if app is None:
        return True
    protocol = "oauth" if "/oauth/" in raw.path.lower() else "openid"
    return client.issuer_name.lower() == app.lower() and client.settings.protocol == protocol


def is_tenant_wide(raw: RawRequest) -> bool:
    """Return whether the address is the standard endpoint, without an application and not for machine tokens."""
    return "app" not in raw.parameters and not raw.path.lower().startswith("/service/oauth/")
