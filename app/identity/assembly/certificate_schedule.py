"""Publishes the next SAML certificates of tenants before the current ones expire. Operators activate them."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import ClassVar

from app.identity.assembly.tenant_rounds import TenantRounds
from app.identity.platform.store.database import StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork

log = logging.getLogger("gatehouse.worker")


class CertificateSchedule(TenantRounds):
    """Publishes the next certificates of tenants."""

    interval: ClassVar = timedelta(hours=6)

    def _visit(self, work: UnitOfWork, now: datetime) -> int:
        from app.identity.administration import next_saml_certificates  # noqa: PLC0415 - few processes need it

        try:
            return next_saml_certificates.publish_due(self._services, work, now)
        except StoreUnavailable:
            raise
        except Exception:
            log.exception("certificate_schedule.failed", extra={"tenant_id": work.tenant_id})
        return 0
