"""Applies a configuration file: compares it with the stored configuration and writes the differences, in one transaction.

A file overwrites the values that it names, and resets values that only an earlier file named; values that operations set stay
(`value_origins.py`). Existing passwords, keys and secrets are never overwritten. `prune` removes applications, roles and templates that the
file does not list, and accounts that an earlier file created and this one does not list; registered accounts stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.identity.administration.configuration import planner
from app.identity.administration.configuration.file.read_configuration import Configuration
from app.identity.administration.configuration.file.yaml_document import (
    ConfigurationError,
    ConfigurationProblem,
    KeyPath,
)
from app.identity.administration.configuration.plan import Change, ChangePlan, TenantPlan
from app.identity.administration.configuration.sections import applications
from app.identity.administration.configuration.sections.section import Run
from app.identity.credentials.passwords import hash_cost
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.operations.errors import ApiError

_ADVISORY_LOCK = 4_017_204  # an arbitrary number: the advisory lock that serializes concurrent runs


def plan(services: IdentityServices, configuration: Configuration, *, prune: bool = False) -> ChangePlan:
    """Return the changes that `apply` would make; addresses in the file are fetched without a transaction.

    Raises:
        ConfigurationError: the file contradicts the stored configuration, or a document that it names; it has every problem.
    """
    return ChangePlan.of(_plan(services, configuration, prune=prune))


def apply(services: IdentityServices, configuration: Configuration, *, prune: bool = False) -> ChangePlan:
    """Apply the file, completely or not at all.

    Passwords of new accounts are hashed, and addresses fetched, before the transaction begins, to keep it short.

    Raises:
        ConfigurationError: the file contradicts the stored configuration; it has every problem that the plan finds.
        StoreUnavailable: the database is unreachable, full or read-only.
    """
    hashes = _hash_passwords(services, _plan(services, configuration, prune=prune))
    work = UnitOfWork(services.database, LOOKUP_TENANT)
    run = Run(services, work, configuration, prune, hashes)
    try:
        work.begin()
        if not services.database.is_sqlite:
            work.run(text(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})"))
        tenants = planner.plan_tenants(run)
        _refuse([problem for tenant in tenants for problem in tenant.problems])
        for tenant in tenants:
            _write(run, tenant)
        work.commit()
        return ChangePlan.of(tenants)
    except IntegrityError as problem:
        raise ConfigurationError(
            [ConfigurationProblem(configuration.document.file, 1, "", f"is already taken: {problem.orig}")]
        ) from problem
    finally:
        work.rollback()


def _plan(services: IdentityServices, configuration: Configuration, *, prune: bool) -> list[TenantPlan]:
    work = UnitOfWork(services.database, LOOKUP_TENANT)
    run = Run(services, work, configuration, prune)
    try:
        tenants = planner.plan_tenants(run)
    finally:
        work.rollback()
    sectors = [sector for tenant in tenants for sector in tenant.sectors]
    problems = [problem for tenant in tenants for problem in tenant.problems]
    _refuse([*problems, *applications.sector_problems(run, sectors)])
    return tenants


def _refuse(problems: Sequence[ConfigurationProblem]) -> None:
    if problems:
        raise ConfigurationError(problems)


def _hash_passwords(services: IdentityServices, tenants: Sequence[TenantPlan]) -> dict[KeyPath, str]:
    """Hash the passwords that accounts get."""
    requested = {path: password for tenant in tenants for path, password in tenant.passwords.items()}
    # Expensive hashes run one at a time: several at once would wait for each other until HashingBusy.
    is_expensive = any(hash_cost.of_parameters(item.parameters) > hash_cost.EXPENSIVE for item in requested.values())
    with ThreadPoolExecutor(1 if is_expensive else services.settings.hashes_at_once) as threads:
        hashes = threads.map(lambda item: services.hashing.hash(item.password, item.parameters), requested.values())
        return dict(zip(requested, hashes, strict=True))


def _write(run: Run, tenant: TenantPlan) -> None:
    """Carry out the changes of a tenant. Raises ConfigurationError for what an operation refuses."""
    run.work.switch_tenant(tenant.tenant_id)
    for change in tenant.changes:
        _carry_out(run, change)
    if tenant.named != tenant.named_before:
        tenant_writes.set_named_by_file(run.work, tenant.named)
    for audit in tenant.audits:
        audit.write(run.work)


def _carry_out(run: Run, change: Change) -> None:
    if change.write is None:
        return
    try:
        change.write()
    except ApiError as refusal:
        problem = run.configuration.document.problem_at(change.path, refusal.description)
        raise ConfigurationError([problem]) from refusal
