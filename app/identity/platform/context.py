"""The context of one request: tenant, caller, unit of work, audit log and outbox."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from app.contract import errors
from app.contract.shared_parameters import WebhookSuppression
from app.contract.visitor_claims import VisitorClaims
from app.identity.platform.audit import AuditLog
from app.identity.platform.outbox.outbox import NullOutbox, Outbox
from app.identity.platform.password_hashing import TenantHashing
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import Cost, UnitOfWork
from app.identity.platform.tenant import Application, Tenant
from app.identity.platform.token_claims import TokenClaims
from app.kit.caching.cached_attribute import cached_attribute
from app.kit.limits.rate_limits import OverLimit, Rate
from app.kit.limits.shared_store import SharedStoreUnavailable
from app.kit.operations.auth import BaseAuthScheme
from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import RawRequest
from app.kit.web.proxies import network_of

NO_ACCOUNT = "nobody"
"""The account id of tokens that belong to no account, or to an unknown identifier; no account has it."""
_ATTEMPTS = "attempts"  # the member of `remembered` with the counted attempts


@dataclass(frozen=True)
class TokenHolder:
    """The account and grant behind the access token of a request."""

    uid: str
    token: str
    token_hash: str
    session_id: str | None
    client_id: str | None
    scope: str
    claims: TokenClaims
    issued_at: datetime
    expires_at: datetime
    account: Any = field(default=None, repr=False)
    """The account as the token's statement read it, which this package cannot name; see `accounts.of_token`."""

    @property
    def actor(self) -> str | None:
        """The actor in an impersonation token, which a server of the tenant took (RFC 8693 section 4.1)."""
        if self.claims.impersonated:
            return "server"
        return str(self.claims.act.get("sub")) if self.claims.act is not None else None


@dataclass(frozen=True)
class Visitor:
    """The account of a visit, where an operation requires its session in place of a token.

    Attributes:
        renew_session: marks the session as reauthenticated, once the operation is done; returns headers for the hub.
    """

    uid: str
    renew_session: Callable[[], Mapping[str, str]] | None = None


class Context:
    """The tenant, caller, unit of work and services of one request; each is created on first use."""

    holder: TokenHolder | None = None  # set for ACCESS_TOKEN
    visitor: Visitor | None = None  # set for HUB, at operations of programs
    client: Application | None = None  # set for CLIENT
    requested_scopes: tuple[str, ...] = ()  # of tokens that a grant issues without an authorization request
    machine: dict[str, object] | None = None  # set for MACHINE_TOKEN: the token's claims
    program_scopes: frozenset[str] = frozenset()
    """The scopes of the program that calls management operations; the API secret gives `all`."""
    theme_files: Mapping[str, int] = MappingProxyType({})
    """The sizes, by digest, of theme files that the run of a configuration file stores before it writes themes."""
    has_api_secret: bool = False  # the request sent the API secret to an operation where it is optional

    def __init__(
        self,
        services: IdentityServices,
        tenant: Tenant,
        raw: RawRequest,
        operation: AnyOperation | None = None,
        visit: VisitorClaims | None = None,
        *,
        cost: Cost | None = None,
    ) -> None:
        self.services = services
        self.tenant = tenant
        self.raw = raw
        self.operation = operation
        """None outside requests: then no application token is accepted."""
        self.visit = visit
        """Set for callers of the scheme HUB."""
        self.cost = cost or Cost()

    @classmethod
    def outside_requests(cls, services: IdentityServices, tenant: Tenant, work: UnitOfWork) -> Context:
        """Return the context of a command, which has a unit of work."""
        context = cls(services, tenant, RawRequest("", "", "", {}, b""), cost=work.cost)
        context.work = work
        return context

    @cached_attribute
    def work(self) -> UnitOfWork:
        """The unit of work of the tenant."""
        return UnitOfWork(self.services.database, self.tenant.tenant_id, self.cost)

    @cached_attribute
    def audit(self) -> AuditLog:
        """The audit entries of the request."""
        return AuditLog(self.services.clock, self.ip_address, self.raw.request_id)

    @cached_attribute
    def outbox(self) -> Outbox:
        """The messages of the request, in its unit of work."""
        return Outbox(self.work, self.services.clock, self.services.encryption)

    @property
    def sends(self) -> bool:
        """Whether its messages are sent: not where a response must not tell whether one is."""
        return not isinstance(self.outbox, NullOutbox)

    @cached_attribute
    def remembered(self) -> dict[str, Any]:
        """Values that areas cache for the request, by their own keys; a change drops its key."""
        return {}

    @cached_attribute
    def late_writes(self) -> list[Callable[[UnitOfWork], None]]:
        """Writes that outlive a refusal, as audit entries do."""
        return []

    @property
    def has_records(self) -> bool:
        """Whether there are audit entries or late writes that no transaction has yet."""
        used = self.__dict__
        return ("audit" in used and not self.audit.is_empty) or bool(used.get("late_writes"))

    def write_records(self, work: UnitOfWork) -> None:
        """Write the audit entries and the late writes, in the request's transaction or after its rollback in another."""
        used = self.__dict__
        if "audit" in used:
            self.audit.write(work)
        for write in used.pop("late_writes", ()):
            write(work)

    def commit(self) -> None:
        """Write the records and commit, where the request did either; return the connection."""
        if self.has_records:
            self.write_records(self.work)
        if "work" in self.__dict__:
            self.work.commit()

    @cached_attribute
    def suppresses_webhooks(self) -> bool:
        """Whether no webhook receives the events of this request: its caller said so (`prevent_webhook`), now or when it began."""
        request = self.raw.request
        return isinstance(request, WebhookSuppression) and request.suppress_webhook

    @cached_attribute
    def schemes(self) -> frozenset[BaseAuthScheme]:
        """Every credential that the operation takes."""
        return self.operation.admission.auth.schemes() if self.operation is not None else frozenset()

    @property
    def now(self) -> datetime:
        return self.services.clock.now()

    @cached_attribute
    def hashing(self) -> TenantHashing:
        """Password hashing with the tenant's settings; an operation that uses it declares `heavy_work`."""
        if self.operation is not None and self.operation.heavy_work is None:
            warnings.warn("an operation hashes without declaring `heavy_work`", RuntimeWarning, stacklevel=3)
        return TenantHashing(self.services.hashing, self.tenant.tenant_id, self.tenant.settings.argon2, self.cost)

    @property
    def ip_address(self) -> str:
        """The visitor's IP address: the one the hub sent, otherwise the caller's own."""
        return self.visit.address if self.visit else self.raw.address

    @property
    def network(self) -> str:
        """The key of per-visitor limits: an IPv6 /64 counts as one, because one household or server has 2^64 addresses."""
        return network_of(self.ip_address)

    @property
    def agent(self) -> str:
        """The visitor's user agent, truncated to the column's length."""
        return (self.visit.agent if self.visit else self.raw.headers.get("user-agent", ""))[:400]

    @property
    def token_holder(self) -> TokenHolder:
        """The account and grant of the access token; raises NotAuthenticated without an access token."""
        if self.holder is None:
            raise errors.NotAuthenticated
        return self.holder

    @property
    def account_uid(self) -> str:
        """The id of the signed-in account, by its access token or its visit; raises NotAuthenticated without either."""
        return self.visitor.uid if self.visitor is not None else self.token_holder.uid

    @property
    def issuer(self) -> str:
        """The OpenID issuer: the tenant's address at the host of the request, the tenant's own host for calls to the API host."""
        return self._url_of_request or self.own_urls[0]

    @property
    def called_at(self) -> str:
        """The issuer's address, or that of the tenant's host that asks for client certificates, where the request came to that."""
        mtls = self.services.settings.mtls_url(self.tenant.name)
        return mtls if mtls and mtls.partition("://")[2] == self.raw.host.lower() else self.issuer

    @property
    def pages_url(self) -> str:
        """The address for links in mails and for callbacks: that of the request, else the first custom domain, else the own host."""
        return self._url_of_request or self.own_urls[:2][-1]

    @property
    def own_urls(self) -> tuple[str, ...]:
        """Every address of the tenant: that of its own host, then those of its custom domains."""
        return self.services.settings.addresses(self.tenant.name, self.tenant.custom_hosts)

    @property
    def _url_of_request(self) -> str:
        """The tenant's address at the host of the request; empty for the API host, and outside of requests."""
        host = self.visit.host if self.visit else self.raw.host
        address = f"{self.services.settings.public_scheme}://{host.lower()}"
        return address if address in self.own_urls else ""

    def count_against(self, limit: str, rate: Rate, *subjects: str, count: int = 1) -> None:
        """Count `count` uses against a rate limit of this tenant, all or none; raises TooManyRequests with Retry-After."""
        try:
            self.services.limits.count_against(limit, rate, self.tenant.tenant_id, *subjects, count=count)
        except OverLimit as exceeded:
            raise errors.TooManyRequests(retry_after_seconds=exceeded.retry_after_seconds) from None

    def count_request(self, limit: str, per_minute: int) -> None:
        """Count a request of the caller's network; raises TooManyRequests for more than `per_minute`. 0 is no limit."""
        if per_minute:
            self.count_against(limit, Rate(per_minute, 60), self.network)

    def count_attempt(self, limit: str, per_minute: int) -> None:
        """Count an attempt at a secret, as `count_request` does; `give_back_attempts` takes back a correct one."""
        if per_minute:
            self.count_request(limit, per_minute)
            self.remembered.setdefault(_ATTEMPTS, []).append((limit, per_minute))

    def give_back_attempts(self, uid: str | None = None) -> None:
        """Take back what `count_attempt` counted: the secret was right, and many people may share the network.

        Args:
            uid: the account, where its right attempts beyond the limit stay counted: else one person could use up a limit that counts
                the right attempts of all, and the time of the processors.
        """
        for limit, per_minute in self.remembered.pop(_ATTEMPTS, ()):
            with suppress(errors.TooManyRequests, SharedStoreUnavailable):
                if uid is not None:
                    self.count_against("right_attempt", Rate(per_minute, 60), limit, self.network, uid)
                self.give_back(limit, per_minute)

    def give_back(self, limit: str, per_minute: int) -> None:
        """Take back one request that `count_request` counted, now or earlier; without an answer of the counters it stays counted."""
        with suppress(SharedStoreUnavailable):
            if per_minute:
                self.services.limits.give_back(limit, Rate(per_minute, 60), self.tenant.tenant_id, self.network)

    def refuse_over_limit(self, limit: str, rate: Rate, *subjects: str) -> None:
        """Raise TooManyRequests if a rate limit of this tenant is used up, without counting; for limits that count failures."""
        try:
            self.services.limits.refuse_over_limit(limit, rate, self.tenant.tenant_id, *subjects)
        except OverLimit as exceeded:
            raise errors.TooManyRequests(retry_after_seconds=exceeded.retry_after_seconds) from None

    def without_sending(self) -> Context:
        """Return a copy whose outbox sends nothing but takes as long, so that the response time does not tell whether mail was sent."""
        return self._with(outbox=NullOutbox(self.work, self.services.clock, self.services.encryption))

    def without_webhooks(self) -> Context:
        """Return a copy whose events reach no webhook, for what an earlier request with `prevent_webhook` began."""
        return self._with(suppresses_webhooks=True)

    def within(self, work: UnitOfWork) -> Context:
        """Return a copy that reads, writes and sends in another unit of work; its audit entries stay in this one's."""
        return self._with(work=work, outbox=Outbox(work, self.services.clock, self.services.encryption))

    def _with(self, **changed: Any) -> Context:
        """Return a copy that shares all other members, lazily created ones included."""
        _ = self.work, self.audit, self.remembered, self.late_writes  # made now, so that both have the same
        other = copy(self)
        vars(other).update(changed)
        return other

    def application(self, *, client_id: str | None = None, name: str | None = None) -> Application | None:
        """Return the cached application of the tenant by client id or name.

        None for the client of a client-id metadata document if the tenant no longer accepts documents.
        """
        found = self.services.directory.application(self.tenant, self.work, client_id=client_id, name=name)
        takes_documents = self.tenant.settings.client_registration.client_id_documents
        return None if found is not None and found.is_of_document and not takes_documents else found
