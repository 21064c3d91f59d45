"""The months of the audit trail on PostgreSQL: the coming ones are made, those that no tenant keeps anything of are dropped.

The runtime role may do neither; functions of the owner do (revision 0018), which decide by themselves what is due.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, text
from sqlalchemy.sql import Executable

from app.identity.directory.tenants.store import LOOKUP_TENANT
from app.identity.entry.audit_retention import USUAL_DAYS
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit import UnitOfWork

_BRIEFLY: Final = text("SET LOCAL statement_timeout = '2s'")
_MAKE: Final = text("SELECT made, waits FROM public.gatehouse_audit_make()")
_DROP: Final = text("SELECT dropped, waits FROM public.gatehouse_audit_drop(:as_of, :usual_days)").bindparams(
    bindparam("usual_days", USUAL_DAYS)
)

log = logging.getLogger("gatehouse.audit")


def keep(database: Database, now: datetime) -> None:
    """Make and drop what is due, each in a transaction of its own; what cannot get its lock soon is left to the next time.

    A partition goes only once the longest `audit_days` of all tenants is over by both clocks, ours and the database's.
    """
    if database.is_sqlite:
        return
    made = _done(database, _MAKE)
    if made.made:
        log.info("audit.partitions_made", extra={"partitions": made.made})
    if made.waits:
        log.warning("audit.partitions_wait", extra={"step": "make"})
    while True:
        gone = _done(database, _DROP.bindparams(as_of=now))
        if gone.waits:
            log.warning("audit.partitions_wait", extra={"step": "drop"})
        if gone.dropped is None:
            return
        log.info("audit.partition_dropped", extra={"partition": gone.dropped})


def _done(database: Database, statement: Executable) -> Any:
    work = UnitOfWork(database, LOOKUP_TENANT)
    try:
        work.begin()
        work.run(_BRIEFLY)
        row = work.run(statement).one()
        work.commit()
    finally:
        work.rollback()
    return row
