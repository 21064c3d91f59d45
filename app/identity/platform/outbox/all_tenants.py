"""Searches the messages of all tenants; on Citus, also while a node does not answer (decision 0400).

One statement asks all nodes, and fails if one of them is stopped. From then on each node is asked for the messages of the
tenants that it holds.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ARRAY, Text, any_, bindparam, text

from app.identity.platform.outbox.outbox import outbox
from app.identity.platform.store.compiled_statements import Compiled
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork, is_distributed
from app.kit.clock import monotonic
from app.kit.limits import time_budget

EXEMPT: Final = "outbox"
"""The reserved tenant id of units of work that read the messages of all tenants (store/migrations/ddl.py)."""
SEARCH_SECONDS: Final = 5.0
"""How long a search may take on Citus, which waits for a node that hangs."""
RETRY_SECONDS: Final = 15.0
"""How long a node that failed is left out."""
_LOOKUP: Final = "lookup"  # the reserved tenant id that reads `tenants`
_TENANTS_BY_NODE: Final = text("""SELECT nodename || ':' || nodeport AS node, array_agg(tenant_id::text) AS tenant_ids
    FROM tenants JOIN pg_dist_placement ON shardid = get_shard_id_for_distribution_column('outbox', tenant_id)
    JOIN pg_dist_node USING (groupid) WHERE noderole = 'primary' GROUP BY 1""")

log = logging.getLogger("gatehouse.outbox")


class AllTenants:
    """The searches of one lane, from one thread at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._answering: dict[str, list[str]] = {}
        """The tenants of each node that answers, while one does not."""
        self._is_split_until = 0.0

    @property
    def is_distributed(self) -> bool:
        """Whether the tables lie on several nodes. Raises StoreUnavailable."""
        return is_distributed(self._database)

    def rows(self, statement: Compiled, parameters: Mapping[str, Any]) -> Sequence[Any]:
        """Return what a query over `outbox` finds: on each node that answers, where its LIMIT is one of each node.

        Raises:
            StoreUnavailable: the database does not answer, or no node does.
        """
        if monotonic() >= self._is_split_until:
            try:
                return self._search(statement, parameters)
            except StoreUnavailable:
                if not self.is_distributed:
                    raise
                self._split()
        return self._search_nodes(statement, parameters)

    def _search(self, statement: Compiled, parameters: Mapping[str, Any]) -> Sequence[Any]:
        work = UnitOfWork(self._database, EXEMPT)
        try:
            with time_budget.at_most(SEARCH_SECONDS) if work.is_distributed else nullcontext():
                return work.all(statement, parameters)
        finally:
            work.rollback()

    def _split(self) -> None:
        """Read which node holds which tenants, to ask each on its own for some time."""
        work = UnitOfWork(self._database, _LOOKUP)
        try:
            self._answering = {row.node: row.tenant_ids for row in work.all(_TENANTS_BY_NODE)}
        finally:
            work.rollback()
        self._is_split_until = monotonic() + RETRY_SECONDS

    def _search_nodes(self, statement: Compiled, parameters: Mapping[str, Any]) -> Sequence[Any]:
        found: list[Any] = []
        for node, tenant_ids in tuple(self._answering.items()):
            try:
                found += self._search(_of_tenants(statement), dict(parameters, tenants_of_node=tenant_ids))
            except StoreUnavailable as problem:
                del self._answering[node]
                log.warning("outbox.node_unavailable", extra={"node": node, "problem": str(problem)})
        if not self._answering:
            self._is_split_until = 0.0
            raise StoreUnavailable("No node of Citus answers.")
        return found


@lru_cache(maxsize=128)
def _of_tenants(statement: Compiled) -> Compiled:
    """Return the query with a list of tenants, by which Citus knows the nodes to ask."""
    listed = any_(bindparam("tenants_of_node", type_=ARRAY(Text)))
    return Compiled(statement.statement.where(outbox.c.tenant_id == listed))
