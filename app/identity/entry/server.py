"""The server of the whole catalogue, and which parts of it a first page needs (decisions/0366)."""

from __future__ import annotations

from typing import Final

from app.contract import hub, hub_tenants
from app.contract.auth import Host
from app.contract.operations import CATALOGUE
from app.contract.resources import import_contract
from app.identity.entry import callers
from app.identity.entry.lifecycle import IdentityLifecycle
from app.identity.hosted import tenant_view  # noqa: F401 - registers the handlers of the early operations
from app.identity.platform.services import IdentityServices
from app.kit.reading import RawRequest
from app.kit.server import OperationServer

EARLY: Final = frozenset({hub.tenant.name, hub_tenants.changed_tenants.name})
"""What any first page asks, and what the hub asks of itself from then on. Their handlers read tenants and call no hook of another area."""


def load_handlers() -> None:
    """Import every module that implements operations, and what admits their callers; connect what they call of one another."""
    from app.identity.entry import (  # noqa: PLC0415 - decisions/0366
        areas,  # noqa: F401 - registers the handlers
        connections,
        programs,  # noqa: F401 - else the first request of a program would wait for it
        tables,  # noqa: F401 - deletions need every table
    )

    connections.connect()


def make_server(services: IdentityServices) -> OperationServer:
    """Return the server of the whole catalogue. What the first page does not need, it loads when something is first asked of it."""

    def host_of(raw: RawRequest) -> Host:
        return callers.host_of(services.settings, raw.host, is_inside=raw.is_inside)

    return OperationServer(CATALOGUE, IdentityLifecycle(services), host_of, import_contract, load_handlers, EARLY)
