"""Sets or removes an application's secret when a configuration file changes how it authenticates (decision 0210)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.contract.applications.client_authentication import SECRET_JWT
from app.contract.applications.settings import ApplicationSettings
from app.identity.directory.tenants.keys import client_secrets
from app.identity.directory.tenants.tenant_writes import ApplicationRow
from app.identity.platform.encryption import Encryption


def changed(
    encryption: Encryption,
    tenant_id: str,
    stored: ApplicationRow,
    settings: ApplicationSettings,
    new_secret: Callable[[], str],
) -> tuple[str, dict[str, Any]]:
    """Return the sentence for the plan, empty for none, and the columns that change. Calls `new_secret` if a new one is needed."""
    method = settings.token_endpoint_auth_method
    if not settings.has_secret:
        if stored.secret_hash is None:
            return "", {}
        return f"client_secret: removed, because {method} needs none", dict(client_secrets.NONE)
    if stored.secret_hash is None:
        why = f"client_secret: set, because {method} needs one"
    elif method == SECRET_JWT and stored.sealed_secret is None:
        why = "client_secret: stored encrypted, because client_secret_jwt signs with it"
    else:
        is_left_over = method != SECRET_JWT and stored.sealed_secret is not None
        return "", {"sealed_secret": None, "former_sealed_secret": None} if is_left_over else {}
    return why, client_secrets.columns(encryption, tenant_id, stored.client_id, settings, new_secret())
