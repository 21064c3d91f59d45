"""Imports accounts in batches, one transaction each; a refused record changes nothing and stops nothing.

Repeating an import is safe: an account that an import created is updated until its owner has signed in or changed
the password here. From then on, and for accounts that no import created, nothing is overwritten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Final

from sqlalchemy.exc import IntegrityError

from app.identity.administration.account_import.accounts import AccountWriter
from app.identity.administration.account_import.import_record import RecordPosition, RecordReader, RecordRefused
from app.identity.directory.accounts.account_store import IdentifierTaken
from app.identity.directory.organizations.domains import membership_domains
from app.identity.platform.context import Context
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.platform.tenant import Tenant
from app.kit.operations.errors import ApiError

BATCH: Final = 500
"""Accounts in one transaction: long enough to be fast, short enough that sign-ins do not wait on SQLite."""


class ImportOutcome(StrEnum):
    """What became of a record."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    KEPT = "kept"
    REFUSED = "refused"


@dataclass(frozen=True)
class ImportedRecord:
    """The result of one record, with its notes."""

    place: RecordPosition
    outcome: ImportOutcome
    says: tuple[str, ...] = ()
    has_password: bool = True


@dataclass
class Report:
    """The numbers of an import so far."""

    counts: Counter[ImportOutcome] = field(default_factory=Counter)
    without_password: int = 0
    """Accounts that were created without a password."""
    last: int = 0
    """The number of the last record whose outcome is committed."""


def run(
    services: IdentityServices,
    tenant: Tenant,
    reads: Iterable[RecordReader],
    on_done: Callable[[ImportedRecord], None],
    *,
    skip: int = 0,
    batch: int = BATCH,
    writes: bool = True,
    report: Report | None = None,
) -> Report:
    """Import the records after the first `skip`. Each batch is reported once it is committed.

    Args:
        writes: False rolls every batch back, so that an import can be tried.
        report: counts as it goes, so that a caller knows how far an interrupted import came.

    Raises:
        RecordRefused: the file is broken. StoreUnavailable: the database is unreachable, full or read-only.
    """
    report = report or Report()
    chosen = (read for read in reads if read.place.number > skip)
    for some in _batches(chosen, batch):
        for done in _batch(services, tenant, some, writes=writes):
            report.counts[done.outcome] += 1
            report.without_password += done.outcome is ImportOutcome.CREATED and not done.has_password
            on_done(done)
        report.last = some[-1].place.number
    return report


def _batches(reads: Iterable[RecordReader], size: int) -> Iterator[Sequence[RecordReader]]:
    left = iter(reads)
    while some := list(islice(left, size)):
        yield some


def _batch(
    services: IdentityServices, tenant: Tenant, reads: Sequence[RecordReader], *, writes: bool
) -> list[ImportedRecord]:
    """Import a batch in one transaction; where two records collide, or another process does, one record at a time."""
    try:
        return _transaction(services, tenant, reads, writes=writes)
    except (IdentifierTaken, IntegrityError, ApiError) as problem:
        if len(reads) > 1:
            return [done for read in reads for done in _batch(services, tenant, [read], writes=writes)]
        return [ImportedRecord(reads[0].place, ImportOutcome.REFUSED, (_sentence(problem),))]


def _transaction(
    services: IdentityServices, tenant: Tenant, reads: Sequence[RecordReader], *, writes: bool
) -> list[ImportedRecord]:
    work = UnitOfWork(services.database, tenant.tenant_id)
    context = Context.outside_requests(services, tenant, work)
    try:
        work.begin()
        writer = AccountWriter(context)
        outcomes = [_one(writer, read) for read in reads]
        if writes:
            if any(read.account is not None and read.account.organizations for read in reads):
                membership_domains.forget(context)
            context.audit.write(work)
            work.commit()
        return outcomes
    finally:
        work.rollback()


def _one(writer: AccountWriter, read: RecordReader) -> ImportedRecord:
    if read.account is None:
        return ImportedRecord(read.place, ImportOutcome.REFUSED, (read.refusal,))
    try:
        outcome, says = writer.write(read.account)
    except RecordRefused as refusal:
        return ImportedRecord(read.place, ImportOutcome.REFUSED, (str(refusal),))
    return ImportedRecord(
        read.place, ImportOutcome(outcome), (*says, *read.notes), read.account.password_hash is not None
    )


def _sentence(problem: Exception) -> str:
    if isinstance(problem, ApiError):
        return f"expected another value: {problem.description}"
    kind = problem.kind if isinstance(problem, IdentifierTaken) else "identifier"
    return f"expected another {kind}; an account has this one"
