"""Signing keys per tenant: created on first use, published before they sign, loaded once (checking an RSA key takes 36 ms)."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from joserfc import jwt
from joserfc.jwk import RSAKey
from sqlalchemy import delete, insert, select, update

from app.identity.directory.tenants.tables import signing_keys
from app.identity.platform.encryption import Encryption
from app.identity.platform.services import KeySet
from app.identity.platform.store.database import StoreUnavailable
from app.identity.platform.store.unit import UnitOfWork
from app.kit import randomness
from app.kit.clock import Clock, monotonic

ALGORITHM = "RS256"
OVERLAP = timedelta(days=2)  # longer than the lifetime of any token
LEAD = timedelta(minutes=20)  # time between publication and first use: longer than clients cache the JWKS
_FRESH_SECONDS = 5.0
_K = signing_keys.c


def new_private_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class StoredSigningKeys:
    """Stores signing keys encrypted and caches them."""

    def __init__(
        self, encryption: Encryption, clock: Clock, new_key: Callable[[], rsa.RSAPrivateKey] = new_private_key
    ) -> None:
        self._encryption = encryption
        self._clock = clock
        self._new_key = new_key
        self._cached: dict[str, tuple[float, str, KeySet]] = {}
        self._loaded: dict[tuple[str, str], RSAKey] = {}
        self._lock = threading.Lock()
        self._dropped = 0
        self._versions: dict[str, int] = {}

    def current(self, work: UnitOfWork) -> KeySet:
        """Return the tenant's key set; creates the first key."""
        cached = self._cached.get(work.tenant_id)
        if cached is not None and monotonic() - cached[0] < _FRESH_SECONDS * 60:
            return cached[2]
        return self._refresh(work, cached)

    def published(self, work: UnitOfWork) -> KeySet:
        """Return the key set for verifiers, the cached one if the store does not respond."""
        try:
            return self.current(work)
        except StoreUnavailable:
            if (cached := self._cached.get(work.tenant_id)) is None:
                raise
            return cached[2]

    def _refresh(self, work: UnitOfWork, cached: tuple[float, str, KeySet] | None) -> KeySet:
        with self._lock:
            dropped = self._dropped
            rows = self._rows(work)
            if not rows:
                created: dict[tuple[str, str], RSAKey] = {}
                with work.separate_transaction() as transaction:
                    if not self._rows(transaction):
                        kid, key = self._add(transaction, active_at=self._clock.now())
                        created[(work.tenant_id, kid)] = key
                self._loaded.update(created)
                rows = self._rows(work)
            mark = ",".join(f"{row.kid}{row.retired_at}" for row in rows)
            keys = (
                cached[2]
                if cached is not None and cached[1] == mark and self._signing_kid(rows) == cached[2].kid
                else self._assemble(work, rows)
            )
            if dropped == self._dropped:  # otherwise a change may have happened during the read
                self._cached[work.tenant_id] = (monotonic(), mark, keys)
            return keys

    def sign(self, work: UnitOfWork, claims: dict[str, Any], kind: str = "JWT") -> str:
        """Return a compact RS256 JWT of the claims under the tenant's active key."""
        keys = self.current(work)
        work.cost.signatures += 1
        return jwt.encode({"alg": ALGORITHM, "kid": keys.kid, "typ": kind}, claims, keys.signer, algorithms=[ALGORITHM])

    def rotate(self, work: UnitOfWork) -> str:
        """Publish a new key that signs after `LEAD`, when the current one retires. Return the new key's id."""
        now = self._clock.now()
        starts_at = now + LEAD
        alive = signing_keys.c.retired_at.is_(None) & (signing_keys.c.tenant_id == work.tenant_id)
        work.run(update(signing_keys).where(alive).values(retired_at=starts_at))
        kid, _ = self._add(work, active_at=starts_at)
        self.drop(work.tenant_id)
        return kid

    def revoke(self, work: UnitOfWork, kid: str | None = None) -> tuple[str, str]:
        """Withdraw a published key, by default the one that signs. Return its id and that of the key that signs now.

        The next published key signs early; without one a new key signs, which no application has fetched yet.
        Raises LookupError for an unknown key.
        """
        now, rows = self._clock.now(), self._rows(work)
        signing_kid = self._signing_kid(rows) if rows else None
        revoked = kid or signing_kid
        remaining = [row for row in rows if row.kid != revoked]
        if revoked is None or signing_kid is None or len(remaining) == len(rows):
            raise LookupError(kid or "")
        work.run(delete(signing_keys).where(_K.tenant_id == work.tenant_id, _K.kid == revoked))
        self.drop(work.tenant_id)
        valid = [row.kid for row in remaining if row.retired_at is None or row.retired_at > now]
        if not valid:
            return revoked, self._add(work, active_at=now)[0]
        last: dict[str, Any] = {"retired_at": None} if all(row.retired_at for row in remaining) else {}
        last |= {} if signing_kid in valid else {"active_at": now}
        if last:
            work.run(update(signing_keys).where(_K.tenant_id == work.tenant_id, _K.kid == valid[-1]).values(last))
        return revoked, signing_kid if signing_kid in valid else valid[-1]

    def refresh_if_changed(self, tenant_id: str, version: int) -> None:
        """Drop the tenant's cached keys if the tenant's version has changed."""
        if self._versions.get(tenant_id) != version:
            self._versions[tenant_id] = version
            self.drop(tenant_id)

    def drop(self, tenant_id: str) -> None:
        """Drop the tenant's cached keys."""
        self._dropped += 1
        self._cached.pop(tenant_id, None)

    def clear_cache(self) -> None:
        """Drop the cached keys of all tenants."""
        self._cached.clear()

    def _rows(self, work: UnitOfWork) -> list[Any]:
        expired_before = self._clock.now() - OVERLAP
        where = (signing_keys.c.tenant_id == work.tenant_id) & (
            signing_keys.c.retired_at.is_(None) | (signing_keys.c.retired_at > expired_before)
        )
        return list(work.all(select(signing_keys).where(where).order_by(signing_keys.c.active_at, signing_keys.c.kid)))

    def _signing_kid(self, rows: list[Any]) -> str:
        now = self._clock.now()
        valid = [row for row in rows if row.retired_at is None or row.retired_at > now] or rows
        ready = [row for row in valid if row.active_at <= now]
        return str((ready or valid)[-1].kid)

    def _assemble(self, work: UnitOfWork, rows: list[Any]) -> KeySet:
        kid = self._signing_kid(rows)
        row = next(row for row in rows if row.kid == kid)
        signer = self._loaded.get((work.tenant_id, kid))
        if signer is None:
            signer = RSAKey.import_key(self._encryption.decrypt(row.private_key, f"{work.tenant_id} {kid}"))
            self._loaded[(work.tenant_id, kid)] = signer
        public = tuple(json.loads(row.public_jwk) for row in rows)
        return KeySet(signer, kid, public, json.dumps({"keys": public}, separators=(",", ":")).encode())

    def _add(self, work: UnitOfWork, active_at: datetime) -> tuple[str, RSAKey]:
        private = self._new_key()
        pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        kid = randomness.hexadecimal(24)
        created = RSAKey.import_key(private)
        public = created.as_dict(private=False)
        public.update({"kid": kid, "use": "sig", "alg": ALGORITHM})
        row = {
            "tenant_id": work.tenant_id,
            "kid": kid,
            "algorithm": ALGORITHM,
            "public_jwk": json.dumps(public, separators=(",", ":")),
            "private_key": self._encryption.encrypt(pem, f"{work.tenant_id} {kid}"),
            "published_at": self._clock.now(),
            "active_at": active_at,
        }
        work.run(insert(signing_keys).values(row))
        return kid, created
