"""What of a tenant lies sealed, and how it is sealed anew under the first secret."""

from __future__ import annotations

from sqlalchemy import select, update

from app.identity.store.unit import UnitOfWork
from app.identity.tenants import changes
from app.identity.tenants.tables import signing_keys, tenants
from app.identity.vault import Vault


def reseal(work: UnitOfWork, vault: Vault) -> int:
    """Seal the tenant's API secret and private keys anew where they lie under an older secret; returns how many."""
    columns = (tenants.c.tenant_id, tenants.c.api_secret)
    count = 0
    for row in work.all(select(*columns).where(tenants.c.tenant_id == work.tenant_id)):
        if not vault.is_current(row.api_secret):
            context = changes.secret_context(row.tenant_id)
            changes.change(work, api_secret=vault.seal(vault.open(row.api_secret, context), context))
            count += 1
    keys = select(signing_keys.c.kid, signing_keys.c.private_key).where(signing_keys.c.tenant_id == work.tenant_id)
    for row in work.all(keys):
        if not vault.is_current(row.private_key):
            context = f"{work.tenant_id} {row.kid}"
            where = (signing_keys.c.tenant_id == work.tenant_id, signing_keys.c.kid == row.kid)
            value = vault.seal(vault.open(row.private_key, context), context)
            work.run(update(signing_keys).where(*where).values(private_key=value))
            count += 1
    return count
