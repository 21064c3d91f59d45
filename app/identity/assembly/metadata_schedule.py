"""Reads the metadata of SAML connections that is due, each document once."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import ClassVar

from app.identity.assembly.tenant_rounds import TenantRounds
from app.identity.platform.store.database import StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork

log = logging.getLogger("gatehouse.worker")


class MetadataSchedule(TenantRounds):
    """Reads the due metadata of tenants."""

    interval: ClassVar = timedelta(minutes=15)

    def _visit(self, work: UnitOfWork, now: datetime) -> int:
        from app.identity.authentication.federation.saml import metadata_refresh  # noqa: PLC0415 - few processes need it

        try:
            return metadata_refresh.refresh_tenant(self._services, work, now)
        except StoreUnavailable:
            raise
        except Exception:
            log.exception("metadata_schedule.failed", extra={"tenant_id": work.tenant_id})
        return 0
