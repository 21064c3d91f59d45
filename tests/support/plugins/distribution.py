"""Checks each statement of every test against the rules of `citus_rules.py`, on SQLite and PostgreSQL. pytest loads it as a plugin.

Units of work with a reserved tenant id may read the rows of all tenants, where `OVER_ALL_TENANTS` names the function.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Final

import pytest
from sqlalchemy.dialects import sqlite

from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.platform.outbox.all_tenants import EXEMPT
from app.identity.platform.store.compiled_statements import Compiled
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.database.citus_rules import (
    ANOTHER_TENANT,
    CORRELATED,
    OTHER_TENANTS,
    RECURSIVE,
    RETURNS_SUBQUERY,
    Findings,
    check,
)

RESERVED: Final = {LOOKUP_TENANT, EXEMPT}
_OUTBOX: Final = "app.identity.platform.outbox."
OVER_ALL_TENANTS: Final = {
    "app.identity.directory.tenants.tenant_store._only": "a client's id and secret find its tenant",
    f"{_OUTBOX}claims._next_tenant": "the worker looks for a tenant with a due message, and locks none",
    f"{_OUTBOX}claims._next_to_reencrypt": "an operator rotates the secret key",
    f"{_OUTBOX}claims.count_queues": "metrics",
    f"{_OUTBOX}claims.count_unsent": "metrics; on Citus by distributed_queues.py",
    f"{_OUTBOX}claims.list_mails_and_sms": "the development inbox",
    f"{_OUTBOX}claims.list_messages": "an operator lists messages",
    f"{_OUTBOX}claims.replay": "an operator sends messages again",
    f"{_OUTBOX}claims.retry_unknown_key": "a worker that starts may know the key",
    f"{_OUTBOX}queue_claims._find": "as the first; on Citus by distributed_queues.py, without recursion",
    f"{_OUTBOX}queue_limits.mark_full": "the worker counts what waits; on Citus by distributed_queues.py",
}
"""The functions that read or change rows of all tenants, and why; a unit of work with a reserved id lets them."""
NOT_ON_CITUS: Final = {
    f"{_OUTBOX}claims.count_unsent": {CORRELATED},
    f"{_OUTBOX}queue_claims._find": {RECURSIVE, CORRELATED},
    f"{_OUTBOX}queue_limits.mark_full": {RECURSIVE, CORRELATED},
}
"""Those of them whose query on Citus is that of `distributed_queues.py`, and what Citus would refuse of the other."""
ON_SQLITE_ALONE: Final = {"app.identity.directory.accounts.account_store.change": RETURNS_SUBQUERY}
"""The functions that send PostgreSQL another statement, and what Citus would refuse of this one."""
_run = UnitOfWork.run
_checked: dict[Any, Findings] = {}
_places: dict[Any, list[int]] = {}
"""Where the parameters that name the tenant are among those of a form."""


def pytest_configure(config: pytest.Config) -> None:
    UnitOfWork.run = run  # type: ignore[method-assign]  # checks, and changes nothing


def run(self: UnitOfWork, statement: Any, parameters: Any = None) -> Any:
    findings = _findings(statement)
    refused = set(findings.refused)
    if self.tenant_id not in RESERVED and not _are_of(self.tenant_id, findings, parameters):
        refused.add(ANOTHER_TENANT)
    if refused and (caller := _caller()).startswith("app."):  # tests may ask for any row
        if self.tenant_id in RESERVED and caller in OVER_ALL_TENANTS:
            refused -= {OTHER_TENANTS} | NOT_ON_CITUS.get(caller, set())
        refused -= {ON_SQLITE_ALONE.get(caller)} if self._database.is_sqlite else set()
        found = ", ".join(sorted(refused))
        assert not refused, f"Citus would refuse {found} in {caller} (decision 0390): {_sql(statement)}"
    return _run(self, statement, parameters)


def _findings(statement: Any) -> Findings:
    """Return the findings about a statement; it is read once for each form, whatever its values."""
    if isinstance(statement, Compiled):
        if statement not in _checked:
            _checked[statement] = check(statement.statement)
        return _checked[statement]
    form = statement._generate_cache_key()
    if form is None:
        return check(statement)
    if form.key not in _checked:
        findings = _checked[form.key] = check(statement)
        _places[form.key] = [
            at for at, bind in enumerate(form.bindparams) if any(bind is tenant for tenant in findings.tenants)
        ]
    tenants = [form.bindparams[place] for place in _places[form.key]]
    return Findings(_checked[form.key].refused, tenants)


def _sql(statement: Any) -> str:
    stated = statement.statement if isinstance(statement, Compiled) else statement
    return str(stated.compile(dialect=sqlite.dialect()))


def _are_of(tenant_id: str, findings: Findings, parameters: Any) -> bool:
    """Return whether every parameter that names a tenant names this one."""
    given = parameters if isinstance(parameters, dict) else {}
    return all(given.get(bind.key, bind.value) in (tenant_id, None) for bind in findings.tenants)


def _caller() -> str:
    """Return the module and the function that runs the statement."""
    frame = sys._getframe(2)
    while frame.f_back is not None and (_module(frame) in _BETWEEN or frame.f_code.co_name.startswith("<")):
        frame = frame.f_back
    return f"{_module(frame)}.{frame.f_code.co_name}"


def _module(frame: FrameType) -> str:
    return str(frame.f_globals["__name__"])


_BETWEEN: Final = {__name__, UnitOfWork.__module__, f"{_OUTBOX}all_tenants", "tests.support.plugins.lock_upgrades"}
