"""Traces of refused answers of identity providers: which check failed, for a week, by the reference that the person saw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Index, String, delete, insert, select

from app.contract.federation import connection_checks
from app.contract.federation.connection_checks import MAX_STORED, ConnectionCheck, Diagnosis
from app.contract.step_reasons import LoginReason
from app.identity.directory.identity_provider import ProviderDenied, ProviderIdentity
from app.identity.directory.organizations import organization_names
from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.directory.tenants.keys import tenant_secrets
from app.identity.platform.audit import time_ordered_id
from app.identity.platform.context import Context
from app.identity.platform.outbound.findings import MAX_LENGTH, UpstreamRefusal, shown
from app.identity.platform.store.tables import Id, Instant, tenant_table
from app.identity.platform.store.unit_of_work import UnitOfWork

traces = tenant_table(
    "connection_traces",
    Column("trace_id", Id, primary_key=True),  # sorts by time
    Column("at", Instant, nullable=False),
    Column("reference", String(64), nullable=False),  # the request id, as in logs, audit entries and answers
    Column("connection", String(100), nullable=False),
    Column("org_id", Id),  # of the organization whose connection it is
    Column(
        "failed_check", String(MAX_STORED), nullable=False
    ),  # ConnectionCheck and its cause, by stored_name, or SamlCheck
    Column("expected", String(MAX_LENGTH), nullable=False),
    Column("received", String(MAX_LENGTH), nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_connection_traces_reference", "tenant_id", "reference"),
    Index("ix_connection_traces_connection", "tenant_id", "connection", "trace_id"),
    Index("ix_connection_traces_expiry", "tenant_id", "expires_at"),
)
T = traces.c
RETENTION: Final = timedelta(days=7)
MAX_OF_CONNECTION: Final = 100
"""Traces of one connection: a provider that fails always displaces its own traces, and no other's."""
_FINDINGS: Final = {
    LoginReason.DENIED: (ConnectionCheck.LINKING, "an identity that is connected to no other account"),
    LoginReason.NOT_REAUTHENTICATED: (ConnectionCheck.REAUTHENTICATION, "auth_time after the request"),
    LoginReason.UNKNOWN_IDENTITY: (ConnectionCheck.ACCOUNT, "an identity of an account, or one that may sign up"),
    LoginReason.LINKING_OFF: (ConnectionCheck.ACCOUNT, "an identity of the account with this address: linking is off"),
    LoginReason.EMAIL_REFUSED: (ConnectionCheck.EMAIL, "an address that the tenant’s rules allow"),
    LoginReason.FOREIGN_EMAIL: (ConnectionCheck.EMAIL, "a verified address in a verified domain of the organization"),
    LoginReason.NOT_MEMBER: (
        ConnectionCheck.ACCOUNT,
        "a member, or an organization that takes new ones and has a seat",
    ),
}
"""The check behind each reason for which the identity of a valid answer is refused."""
MAX_OF_TENANT: Final = 1_000
_MAX_NAME: Final = 100


@dataclass(frozen=True)
class ConnectionTrace:
    """A refused answer of a provider."""

    at: datetime
    reference: str
    connection: str
    org_id: str | None
    failed_check: str
    cause: str
    expected: str
    received: str

    @property
    def diagnosis(self) -> Diagnosis:
        """What failed and what to change; a check of a newer release has the general text."""
        return diagnosis_of(self.failed_check, self.cause)


def diagnosis_of(check: str, cause: str) -> Diagnosis:
    """Return what a failed check of any protocol means, and what to change."""
    from app.contract.saml import service_provider_diagnoses  # noqa: PLC0415 - with the first trace that is read
    from app.identity.authentication.federation import connection_causes  # noqa: PLC0415 - as above
    from app.identity.platform.saml.saml_checks import SAML_DIAGNOSES, SamlCheck  # noqa: PLC0415 - as above

    with suppress(ValueError):
        return SAML_DIAGNOSES[SamlCheck(check)]
    return service_provider_diagnoses.diagnosis_of(check) or connection_causes.diagnosis_of(check, cause)


def record(
    context: Context,
    connection: str,
    refusal: UpstreamRefusal,
    *,
    secrets: Iterable[str] = (),
) -> None:
    """Store why an answer of a provider was refused, whether or not the request goes on.

    `secrets` and those of the tenant's connections are masked.

    Args:
        connection: its name, which may be that of no connection any more.
    """
    stored = tenant_secrets.secrets_of(context.services.encryption, context.tenant, tenant_secrets.CONNECTIONS)
    refusal.hide((*secrets, *stored.values()))
    finding = refusal.finding
    check = connection_checks.stored_name(finding.check, finding.cause)
    record_check(context, connection, check, finding.expected, finding.received)


def record_check(context: Context, connection: str, check: str, expected: str, received: str) -> None:
    """Store that a check of a message failed, whether or not the request goes on. The texts have no secrets, and are `shown`."""
    now = context.now
    row = {
        "trace_id": time_ordered_id(now),
        "at": now,
        "reference": context.raw.request_id[:64],
        "connection": shown(connection)[:_MAX_NAME],
        "org_id": _organization_of(context, connection),
        "failed_check": check,
        "expected": expected,
        "received": received,
        "expires_at": now + RETENTION,
    }
    context.late_writes.append(lambda work: _write(work, row))


def record_identity(context: Context, identity: ProviderIdentity, reason: LoginReason) -> None:
    """Store why the identity of a valid answer is refused; of its address the domain alone."""
    check, expected = _FINDINGS[reason]
    domain = (identity.email or "").rpartition("@")[2]
    received = f"an address of {domain}" if domain else "an identity without an address"
    refusal = ProviderDenied(reason.value, check=check, expected=expected, received=received)
    record(context, identity.provider, refusal)


def _organization_of(context: Context, connection: str) -> str | None:
    """Return the organization whose connection it is; None for the tenant's own, and for a removed one."""
    if not organization_names.is_id(organization_names.CONNECTION, connection):
        return None
    record = organization_connection_store.by_any_id(context, connection)
    return record.org_id if record is not None else None


def with_reference(work: UnitOfWork, reference: str, now: datetime, *, connection: str = "") -> list[ConnectionTrace]:
    """Return the tenant's traces of a request, or those of a connection among them, the newest first."""
    return _read(work, now, MAX_OF_CONNECTION, T.reference == reference, *_of(connection))


def latest(work: UnitOfWork, now: datetime, limit: int, *, connection: str = "") -> list[ConnectionTrace]:
    """Return the tenant's latest traces, or those of a connection, the newest first."""
    return _read(work, now, limit, *_of(connection))


def _of(connection: str) -> tuple[ColumnElement[bool], ...]:
    return (T.connection == connection,) if connection else ()


def _read(work: UnitOfWork, now: datetime, limit: int, *where: ColumnElement[bool]) -> list[ConnectionTrace]:
    columns = (T.at, T.reference, T.connection, T.org_id, T.failed_check, T.expected, T.received)
    query = select(*columns).where(T.tenant_id == work.tenant_id, T.expires_at > now, *where)
    return [_trace(dict(row._mapping)) for row in work.all(query.order_by(T.trace_id.desc()).limit(limit))]


def _trace(row: Mapping[str, Any]) -> ConnectionTrace:
    check, cause = connection_checks.read_name(row["failed_check"])
    return ConnectionTrace(**{**row, "failed_check": check, "cause": cause})


def _write(work: UnitOfWork, row: dict[str, object]) -> None:
    work.run(insert(traces).values(tenant_id=work.tenant_id, **row))
    _displace(work, MAX_OF_CONNECTION, T.connection == row["connection"])
    _displace(work, MAX_OF_TENANT)


def _displace(work: UnitOfWork, most: int, *of: ColumnElement[bool]) -> None:
    """Delete the oldest traces beyond a number."""
    where = (T.tenant_id == work.tenant_id, *of)
    newest_surplus = work.one(select(T.trace_id).where(*where).order_by(T.trace_id.desc()).offset(most).limit(1))
    if newest_surplus is not None:
        work.run(delete(traces).where(*where, T.trace_id <= newest_surplus.trace_id))
