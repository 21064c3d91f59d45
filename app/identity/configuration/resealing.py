"""Seals anew what lies under an older secret, so that the older secret can be thrown away."""

from __future__ import annotations

from app.identity.accounts import pin
from app.identity.credentials import store as credentials
from app.identity.house import House
from app.identity.registration import records
from app.identity.store.unit import UnitOfWork
from app.identity.tasks import claims
from app.identity.tenants import changes, sealed
from app.identity.tenants.store import NOBODY


def reseal(house: House) -> int:
    """Return how many values were sealed anew. Raises Unsealable where no known secret opens one."""
    work = UnitOfWork(house.database, NOBODY)
    try:
        held = changes.all_tenants(work)
    finally:
        work.rollback()
    return sum(_of_tenant(house, tenant) for tenant in held) + claims.reseal(house.database, house.vault)


def _of_tenant(house: House, tenant: changes.HeldTenant) -> int:
    work = UnitOfWork(house.database, tenant.tenant_id)
    try:
        count = sealed.reseal(work, house.vault) + records.reseal(work, house.vault)
        count += credentials.reseal(work, house.vault) + pin.reseal(work, house.vault)
        work.commit()
        return count
    finally:
        work.rollback()
