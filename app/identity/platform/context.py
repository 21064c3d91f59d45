"""One call of an operation: the tenant, who calls, the unit of work and the books of this request."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from datetime import datetime

from app.contract import errors as e
from app.contract.visit import Visit
from app.identity.platform.audit import AuditLog
from app.identity.platform.hashing import TenantHashing
from app.identity.platform.outbox.queue import NullOutbox, Outbox
from app.identity.platform.services import Services
from app.identity.platform.store.unit import Cost, UnitOfWork
from app.identity.platform.tenant import Application, Tenant
from app.kit.auth import AuthScheme
from app.kit.limits import OverLimit, Rate
from app.kit.operation import AnyOperation
from app.kit.proxies import network_of
from app.kit.reading import RawRequest


@dataclass(frozen=True)
class TokenHolder:
    """The account behind an access token that was shown."""

    uid: str
    token: str
    token_hash: str
    session_id: str | None
    client_id: str | None
    scope: str
    facts: dict[str, object]
    issued_at: datetime
    expires_at: datetime

    @property
    def actor(self) -> str | None:
        """Who acts for the account with it: a server of the tenant that took it by row A22 (RFC 8693 section 4.1)."""
        act = self.facts.get("act")
        if self.facts.get("impersonated"):  # as versions before noted it
            return "server"
        return str(act.get("sub")) if isinstance(act, dict) else None


@dataclass
class Context:
    """What a handler gets."""

    services: Services
    tenant: Tenant
    work: UnitOfWork
    audit: AuditLog
    outbox: Outbox
    raw: RawRequest
    schemes: frozenset[AuthScheme] = frozenset()
    visit: Visit | None = None  # H
    holder: TokenHolder | None = None  # U
    client: Application | None = None  # C
    machine: dict[str, object] | None = None  # M: the claims of the machine token
    shows_secret: bool = False  # the API secret, where an operation takes it and does not demand it
    cost: Cost = field(default_factory=Cost)
    operation: AnyOperation | None = None  # None: no request, so no token of an application opens anything

    @property
    def now(self) -> datetime:
        return self.services.clock.now()

    @property
    def hashing(self) -> TenantHashing:
        """Password hashing with the tenant's settings; an operation that uses it declares `hashing`."""
        if self.operation is not None and self.operation.hashing is None:
            warnings.warn("an operation hashes without declaring `hashing`", RuntimeWarning, stacklevel=2)
        return TenantHashing(self.services.hashing, self.tenant.tenant_id, self.tenant.settings.argon2, self.cost)

    @property
    def address(self) -> str:
        """The visitor's address: as the hub tells it, else the caller's own."""
        return self.visit.address if self.visit else self.raw.address

    @property
    def network(self) -> str:
        """What limits count the visitor by: one household or server has 2^64 addresses of IPv6, and they are one."""
        return network_of(self.address)

    @property
    def agent(self) -> str:
        """The visitor's user agent, cut to what the store keeps."""
        return (self.visit.agent if self.visit else self.raw.headers.get("user-agent", ""))[:400]

    @property
    def account(self) -> TokenHolder:
        """The signed-in account; raises 1409 where no access token was shown."""
        if self.holder is None:
            raise e.NotAuthenticated
        return self.holder

    @property
    def issuer(self) -> str:
        """The tenant's address, which is its OpenID issuer."""
        return self.services.settings.hub_url(self.tenant.name)

    def spend(self, what: str, rate: Rate, *who: str) -> None:
        """Spend from a limit of this tenant; raises 429 with Retry-After."""
        try:
            self.services.limits.spend(what, rate, self.tenant.tenant_id, *who)
        except OverLimit as over:
            raise e.TooManyRequests(retry_after_seconds=over.retry_after_seconds) from None

    def demand(self, what: str, rate: Rate, *who: str) -> None:
        """Refuse where a limit of this tenant is used up, without spending from it: for counts of failures."""
        try:
            self.services.limits.demand(what, rate, self.tenant.tenant_id, *who)
        except OverLimit as over:
            raise e.TooManyRequests(retry_after_seconds=over.retry_after_seconds) from None

    def without_sending(self) -> Context:
        """Return this context with an outbox that does the same work and sends nothing, so the time of the answer tells nothing."""
        return replace(self, outbox=NullOutbox(self.work, self.services.clock, self.services.encryption))

    def application(self, *, client_id: str | None = None, name: str | None = None) -> Application | None:
        """Return the tenant's application by client id or name, from the cache."""
        return self.services.directory.application(self.tenant, self.work, client_id=client_id, name=name)
