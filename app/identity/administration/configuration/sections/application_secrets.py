"""Sets or removes an application's secret when a configuration file changes how it authenticates (decision 0210)."""

from __future__ import annotations

from app.contract.applications.client_authentication import SECRET_JWT
from app.contract.applications.settings import ApplicationSettings
from app.identity.directory.tenants.tenant_writes import ApplicationRow


def problem_with(stored: ApplicationRow, settings: ApplicationSettings) -> str:
    """Return why the stored secret does not serve the changed settings, as a sentence for the plan; empty if it does."""
    method = settings.token_endpoint_auth_method
    if not settings.has_secret:
        return f"client_secret: removed, because {method} needs none" if stored.secret_hash is not None else ""
    if stored.secret_hash is None:
        return f"client_secret: set, because {method} needs one"
    if method == SECRET_JWT and stored.sealed_secret is None:
        return "client_secret: stored encrypted, because client_secret_jwt signs with it"
    return ""
