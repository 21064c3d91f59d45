"""The server of the catalogue: the border of the identity service."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.contract import errors as e
from app.contract.operations import CATALOGUE, RESERVED_PATHS
from app.identity import callers
from app.identity.call import Call
from app.identity.house import House
from app.identity.ledger import Ledger
from app.identity.oauth import cors, machines
from app.identity.outbox import Outbox
from app.identity.store.database import StoreContended
from app.identity.store.unit import Cost, UnitOfWork
from app.kit.errors import ApiError
from app.kit.logs import bind
from app.kit.operation import AnyOperation, AuthScheme, Host
from app.kit.reading import RawRequest
from app.kit.server import Server


class Border:
    """Opens and closes calls."""

    def __init__(self, house: House) -> None:
        self.house = house

    def open(self, operation: AnyOperation, raw: RawRequest) -> Call:
        """Admit K, S, M and H, in the interface's order of checks."""
        schemes = operation.auth.schemes()
        cost = Cost()
        visit = None
        if AuthScheme.HUB in schemes:
            visit = callers.visit_of(self.house, raw)
            self._go_on_as(raw, visit.reference)
            tenant = callers.tenant_at(self.house, visit.host, cost)
        elif operation.on is Host.TENANT:
            tenant = callers.tenant_at(self.house, raw.host, cost)
            self._check_key(operation, raw, tenant.api_key)
        elif callers.is_machine(operation, raw) and (AuthScheme.API_KEY not in schemes or callers.api_key(raw) is None):
            tenant = machines.tenant_of(self.house, raw.bearer(), cost)
        elif AuthScheme.API_KEY not in schemes and callers.api_key(raw) is None:
            tenant = callers.tenant_of_secret(self.house, raw, cost)
        else:
            tenant = callers.tenant_of_key(self.house, operation, raw, cost)
        work = UnitOfWork(self.house.database, tenant.tenant_id, cost)
        ledger = Ledger(self.house.clock, visit.address if visit else raw.address, raw.request_id)
        outbox = Outbox(work, self.house.clock, self.house.vault)
        call = Call(self.house, tenant, work, ledger, outbox, raw, schemes, visit, cost=cost, operation=operation)
        try:
            self._admit_program(call, operation)
        except Exception as refusal:
            self.close(call, refusal)
            raise
        return call

    @staticmethod
    def _go_on_as(raw: RawRequest, request_id: str) -> None:
        """Go on under the id of the browser's request, in whichever process the hub runs."""
        if request_id:
            raw.request_id = request_id
            bind(request_id=request_id)

    def _check_key(self, operation: AnyOperation, raw: RawRequest, expected: str) -> None:
        """On a tenant's host the key is demanded where stated; one that is sent must be right."""
        shown = callers.api_key(raw)
        if shown is None and AuthScheme.API_KEY in operation.auth.schemes():
            raise e.BadParameter.names("apikey")
        if shown is not None and shown.lower() != expected.lower():
            raise e.UnknownKey

    def _admit_program(self, call: Call, operation: AnyOperation) -> None:
        if callers.is_machine(operation, call.raw):
            callers.admit_machine(call, operation)
        elif AuthScheme.API_SECRET in call.schemes:
            callers.admit_secret(call)
        elif operation.takes_secret and callers.shows_secret(call.raw):
            callers.admit_secret(call)
            call.shows_secret = True

    def admit_person(self, call: Call, operation: AnyOperation, raw: RawRequest, body: dict[str, Any]) -> None:
        """Admit U and C."""
        callers.admit_person(call, operation, raw, body)

    def close(self, call: Call, refusal: Exception | None) -> None:
        """Commit with the audit entries, or roll back and write them on their own."""
        try:
            if refusal is None or (isinstance(refusal, ApiError) and refusal.commit_on_raise):
                call.ledger.write(call.work)
                call.work.commit()
                return
            call.work.rollback()
            if not call.ledger.is_empty:
                with call.work.apart() as own:
                    call.ledger.write(own)
        finally:
            call.work.rollback()

    def may_run_again(self, call: Call, problem: Exception) -> bool:
        """Return whether the database gave the call up in favour of another; never once part of it is committed on its own."""
        if not isinstance(problem, StoreContended) or call.cost.commits:
            return False
        call.work.rollback()
        return True

    def headers(self, call: Call | None, operation: AnyOperation | None, raw: RawRequest) -> Iterable[tuple[str, str]]:
        """Add CORS for registered origins, the tenant's version for the hub, and the cost when asked."""
        if operation is not None and operation.cors and "origin" in raw.headers:
            yield from cors.headers(self.house, raw)
        if call is not None and call.visit is not None:
            yield "X-Gatehouse-Tenant-Version", str(call.tenant.version)
        if call is not None and self.house.settings.shows_cost:
            yield "X-Gatehouse-Cost", call.cost.told()


def make_server(house: House) -> Server:
    """Return the server of the whole catalogue, its operations not implemented yet."""

    def host_of(raw: RawRequest) -> Host:
        return callers.host_of(house.settings, raw.host, is_inside=raw.is_inside)

    return Server(CATALOGUE, Border(house), host_of, RESERVED_PATHS)
