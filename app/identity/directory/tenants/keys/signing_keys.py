"""Signing keys per tenant and algorithm: created on first use, published before they sign, loaded once (importing RSA takes 36 ms)."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from joserfc.jwk import Key
from sqlalchemy import delete, insert, select, update

from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys.signing_algorithms import DEFAULT, KEYS, WEBHOOKS, compact_jwt, new_rsa_key
from app.identity.directory.tenants.tables import signing_keys
from app.identity.platform.encryption import Encryption
from app.identity.platform.services import KeySet, RevokedKey, Signer
from app.identity.platform.store.database import StoreUnavailable
from app.identity.platform.store.encrypted_columns import encrypted_columns
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.caching.lru_cache import LruCache
from app.kit.clock import Clock, monotonic
from app.kit.limits import time_budget

OVERLAP = timedelta(days=2)  # longer than the lifetime of any token
LEAD = timedelta(minutes=20)  # time between publication and first use: longer than clients cache the JWKS
FRESH_SECONDS = 300.0
"""How long a key set is cached; a change of the tenant drops it, and it is rebuilt when a key starts to sign or ends."""
_GLANCE_SECONDS = 0.2
"""How long verifiers wait for a newer key set than the cached one."""
_LOCK_SECONDS = 30.0
MAX_TENANTS = 10_000
"""How many tenants' keys are in memory."""
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_K = signing_keys.c


@dataclass(frozen=True, slots=True)
class _Held:
    """A cached key set: its read time, its rows, and the instants between which it is valid."""

    read_at: float
    mark: str
    keys: KeySet
    since: datetime
    until: datetime

    def spans(self, now: datetime) -> bool:
        """Return whether no key has begun or ended since, by a clock that may have been put forward or back."""
        return self.since <= now < self.until


class StoredSigningKeys:
    """Stores signing keys encrypted and caches them."""

    def __init__(
        self, encryption: Encryption, clock: Clock, new_rsa_key: Callable[[], rsa.RSAPrivateKey] = new_rsa_key
    ) -> None:
        self._encryption = encryption
        self._clock = clock
        self._new_rsa_key = new_rsa_key
        self._cached: LruCache[str, _Held] = LruCache(MAX_TENANTS)
        self._loaded: LruCache[tuple[str, str], Key] = LruCache(2 * MAX_TENANTS)
        self._lock = threading.Lock()
        self._dropped = 0
        self._versions: LruCache[str, int] = LruCache(MAX_TENANTS)

    def current(self, work: UnitOfWork, *algorithms: str) -> KeySet:
        """Return the tenant's key set; creates the first key of RS256 and of these algorithms, in a separate transaction."""
        stored = self.cached(work.tenant_id)
        if stored is not None and stored.has(algorithms):
            return stored
        return self._refresh(work, self._cached.get(work.tenant_id), {DEFAULT, *algorithms})

    def cached(self, tenant_id: str) -> KeySet | None:
        """Return the tenant's key set if the cached one is current. Makes no query."""
        cached = self._cached.get(tenant_id)
        is_current = cached is not None and monotonic() - cached.read_at < FRESH_SECONDS
        return cached.keys if cached is not None and is_current and cached.spans(self._clock.now()) else None

    def publish(self, work: UnitOfWork, algorithms: Collection[str]) -> None:
        """Create the missing keys of these algorithms, except RS256, in this unit of work; every process then rereads the keys.

        For the registration of an application, so that a key is published before it signs. Two concurrent calls may create two
        keys: both are published, and one signs.
        """
        requested = set(algorithms) - {DEFAULT}
        missing = requested - {row.algorithm for row in self._rows(work)} if requested else requested
        for algorithm in sorted(missing):
            self._add(work, algorithm, active_at=self._clock.now())
        if missing:
            tenant_writes.change(work)
            self.drop(work.tenant_id)

    def can_sign(self, work: UnitOfWork, algorithm: str) -> bool:
        """Return whether the tenant has keys of the algorithm; creates none, so it may be asked within a transaction."""
        cached, requested = self._cached.get(work.tenant_id), {DEFAULT, algorithm}
        if cached is not None and cached.keys.has(requested):
            return True
        return requested <= {row.algorithm for row in self._rows(work)}

    def published(self, work: UnitOfWork) -> KeySet:
        """Return the key set for verifiers, the cached one if the store does not respond."""
        if (cached := self._cached.get(work.tenant_id)) is None:
            return self.current(work)
        try:
            with time_budget.at_most(_GLANCE_SECONDS):
                return self.current(work)
        except StoreUnavailable:
            return cached.keys

    def _refresh(self, work: UnitOfWork, cached: _Held | None, requested: set[str]) -> KeySet:
        if not work.is_writing:
            work.release_connection()  # a waiting thread would keep it from the thread that creates the keys
        with self._alone():
            dropped, now = self._dropped, self._clock.now()
            rows = self._rows(work)
            if not requested <= {row.algorithm for row in rows}:
                rows = self._create_missing(work, requested)
                now = self._clock.now()  # the new keys sign from before now
            mark = ",".join(f"{row.kid}{row.retired_at}" for row in rows)
            keys = (
                cached.keys
                if cached is not None and cached.mark == mark and self._signing_kids(rows) == cached.keys.kids
                else self._assemble(work, rows)
            )
            # A change may have happened during the read, and a transaction that has written may be rolled back.
            if dropped == self._dropped and not work.is_writing:
                self._cached.put(work.tenant_id, _Held(monotonic(), mark, keys, *_span(rows, now)))
            return keys

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the lock, for which a request waits no longer than for the store. Raises StoreUnavailable."""
        with time_budget.Measured():
            is_acquired = self._lock.acquire(timeout=time_budget.remaining_seconds(_LOCK_SECONDS))
        if not is_acquired:
            raise StoreUnavailable("Another request has read signing keys for longer than this one may wait.")
        try:
            yield
        finally:
            self._lock.release()

    def _create_missing(self, work: UnitOfWork, requested: set[str]) -> list[Any]:
        """Create the keys that no process has created meanwhile, and return all rows.

        Uses a separate transaction, unless this transaction has written: other processes then see its writes and the keys together.
        """
        created: dict[tuple[str, str], Key] = {}
        with nullcontext(work) if work.is_writing else work.separate_transaction() as transaction:
            stored = {row.algorithm for row in self._rows(transaction)}
            for algorithm in sorted(requested - stored):
                kid, key = self._add(transaction, algorithm, active_at=self._clock.now())
                created[(work.tenant_id, kid)] = key
            if stored and created:  # other processes publish a key set without them
                tenant_writes.change(transaction)
        for tenant_and_kid, key in created.items():
            self._loaded.put(tenant_and_kid, key)
        return self._rows(work)

    def sign(self, work: UnitOfWork, claims: dict[str, Any], kind: str = "JWT", algorithm: str = DEFAULT) -> str:
        """Return a compact JWT of the claims under the tenant's active key of the algorithm."""
        signer = self.current(work, algorithm).signers[algorithm]
        work.cost.signatures += 1
        return compact_jwt({"typ": kind, "alg": algorithm, "kid": signer.kid}, claims, signer.key)

    def algorithms(self, work: UnitOfWork) -> tuple[str, ...]:
        """Return the algorithms that the tenant has keys for."""
        stored = {row.algorithm for row in self._rows(work)}
        return tuple(name for name in KEYS if name in stored)

    def rotate(self, work: UnitOfWork, algorithm: str = DEFAULT) -> str:
        """Publish a new key of the algorithm that signs after `LEAD`, when the current one retires. Return the new key's id.

        The tenant's version is incremented, so that every process publishes it within seconds.
        """
        now = self._clock.now()
        starts_at = now + LEAD
        alive = _K.retired_at.is_(None) & (_K.tenant_id == work.tenant_id) & (_K.algorithm == algorithm)
        work.run(update(signing_keys).where(alive).values(retired_at=starts_at))
        kid, _ = self._add(work, algorithm, active_at=starts_at)
        tenant_writes.change(work)
        self.drop(work.tenant_id)
        return kid

    def revoke(self, work: UnitOfWork, kid: str | None = None) -> RevokedKey:
        """Withdraw a published key, by default the current RS256 key.

        The next published key of its algorithm signs early; without one a new key signs, which no application has fetched yet.
        Raises LookupError for an unknown key.
        """
        now, rows = self._clock.now(), self._rows(work)
        revoked = kid or self._signing_kids(rows).get(DEFAULT)
        row = next((row for row in rows if row.kid == revoked), None)
        if revoked is None or row is None:
            raise LookupError(kid or "")
        signing_kid = self._signing_kids(rows)[row.algorithm]
        remaining = [item for item in rows if item.algorithm == row.algorithm and item.kid != revoked]
        work.run(delete(signing_keys).where(_K.tenant_id == work.tenant_id, _K.kid == revoked))
        self.drop(work.tenant_id)
        valid = [item.kid for item in remaining if item.retired_at is None or item.retired_at > now]
        if not valid:
            return RevokedKey(revoked, self._add(work, row.algorithm, active_at=now)[0], row.algorithm)
        last: dict[str, Any] = {"retired_at": None} if all(item.retired_at for item in remaining) else {}
        last |= {} if signing_kid in valid else {"active_at": now}
        if last:
            work.run(update(signing_keys).where(_K.tenant_id == work.tenant_id, _K.kid == valid[-1]).values(last))
        return RevokedKey(revoked, signing_kid if signing_kid in valid else valid[-1], row.algorithm)

    def refresh_if_changed(self, tenant_id: str, version: int) -> None:
        """Drop the tenant's cached keys if the tenant's version has changed."""
        if self._versions.get(tenant_id) != version:
            self._versions.put(tenant_id, version)
            self.drop(tenant_id)

    def drop(self, tenant_id: str) -> None:
        """Drop the tenant's cached keys."""
        self._dropped += 1
        self._cached.drop(tenant_id)

    def clear_cache(self) -> None:
        """Drop the cached keys of all tenants."""
        self._cached.clear()

    def _rows(self, work: UnitOfWork) -> list[Any]:
        expired_before = self._clock.now() - OVERLAP
        where = (signing_keys.c.tenant_id == work.tenant_id) & (
            signing_keys.c.retired_at.is_(None) | (signing_keys.c.retired_at > expired_before)
        )
        return list(work.all(select(signing_keys).where(where).order_by(signing_keys.c.active_at, signing_keys.c.kid)))

    def _signing_kids(self, rows: list[Any]) -> dict[str, str]:
        """Return the key that signs for each algorithm."""
        return {name: self._signing_kid(of_name) for name, of_name in _by_algorithm(rows).items()}

    def _signing_kid(self, rows: list[Any]) -> str:
        now = self._clock.now()
        valid = [row for row in rows if row.retired_at is None or row.retired_at > now] or rows
        ready = [row for row in valid if row.active_at <= now]
        return str((ready or valid)[-1].kid)

    def _assemble(self, work: UnitOfWork, rows: list[Any]) -> KeySet:
        signing = set(self._signing_kids(rows).values())
        signers = {row.algorithm: Signer(row.kid, self._load(work, row)) for row in rows if row.kid in signing}
        public = tuple(json.loads(row.public_jwk) for row in rows if row.algorithm != WEBHOOKS)
        webhooks = tuple(json.loads(row.public_jwk) for row in rows if row.algorithm == WEBHOOKS)
        return KeySet(signers, public, json.dumps({"keys": public}, separators=(",", ":")).encode(), webhooks)

    def _load(self, work: UnitOfWork, row: Any) -> Key:
        key = self._loaded.get((work.tenant_id, row.kid))
        if key is None:
            pem = self._encryption.decrypt(row.private_key, _associated_data(work.tenant_id, row.kid))
            key = KEYS[row.algorithm].import_key(pem)
            self._loaded.put((work.tenant_id, row.kid), key)
        return key

    def _add(self, work: UnitOfWork, algorithm: str, active_at: datetime) -> tuple[str, Key]:
        described = KEYS[algorithm]
        private = self._new_rsa_key() if described.new_key is new_rsa_key else described.new_key()
        pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        kid = randomness.hexadecimal(24)
        created = described.import_key(private)
        public = created.as_dict(private=False)
        public.update({"kid": kid, "use": "sig", "alg": "Ed25519" if algorithm == WEBHOOKS else algorithm})
        row = {
            "tenant_id": work.tenant_id,
            "kid": kid,
            "algorithm": algorithm,
            "public_jwk": json.dumps(public, separators=(",", ":")),
            "private_key": self._encryption.encrypt(pem, _associated_data(work.tenant_id, kid)),
            "published_at": self._clock.now(),
            "active_at": active_at,
        }
        work.run(insert(signing_keys).values(row))
        return kid, created


def _span(rows: list[Any], now: datetime) -> tuple[datetime, datetime]:
    """Return the last and the next instant at which one of these keys begins to sign, retires or is no longer published."""
    instants = {at for row in rows for at in (row.active_at, row.retired_at) if at is not None}
    instants |= {row.retired_at + OVERLAP for row in rows if row.retired_at is not None}
    earlier, later = [at for at in instants if at <= now], [at for at in instants if at > now]
    return max(earlier, default=_FIRST), min(later, default=_LAST)


def _by_algorithm(rows: list[Any]) -> dict[str, list[Any]]:
    """Return the rows of each algorithm, without those that a newer version added."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        if row.algorithm in KEYS:
            found.setdefault(row.algorithm, []).append(row)
    return found


def _associated_data(tenant_id: str, kid: str) -> str:
    return f"{tenant_id} {kid}"


ENCRYPTED_COLUMNS = encrypted_columns(
    signing_keys, "private_key", associated_data=lambda row: _associated_data(row["tenant_id"], row["kid"])
)
