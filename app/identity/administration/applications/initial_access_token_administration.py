"""Initial access tokens as a resource and for commands: the store of `protocols/oauth/registration`, which keeps digests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from app.contract.configuration_model import instant
from app.contract.oauth import initial_access_token_operations
from app.contract.oauth.registration_settings import MAX_DAYS, MAX_TOKENS, NAME_PATTERN
from app.contract.tenants.settings import TenantSettings
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.audit import AuditLog
from app.identity.platform.context import Context
from app.identity.platform.powers import Power
from app.identity.platform.resource_storage.items import Item, Store, StoreAccess
from app.identity.platform.resource_storage.rules import Rules
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.protocols.oauth.registration import initial_access_tokens
from app.kit import randomness
from app.kit.clock import iso
from app.kit.resources.resource import Resource

DIGEST: Final = "token_hash"
"""The secret of an item whose token only its owner has: its digest."""
_STORED: Final = "kept"
"""The value that represents a stored token, of which only the digest is known."""


def powers_of(context: Context, item: Item) -> Iterable[Power]:  # noqa: ARG001 - the hook's signature
    """Its holder creates clients, which get no powers of their own (decision 0222)."""
    yield Power("client:create", "initial access tokens")


class InitialAccessTokenRefused(Exception):
    """The token cannot be made or ended; the text has the reason."""


class TokenStore(Store):
    """The tenant's tokens as items."""

    def items(self, access: StoreAccess, resource: Resource, id_prefix: Sequence[str] = ()) -> list[Item]:  # noqa: ARG002 - Store
        """Return the tokens, the oldest first."""
        return [item_of(row) for row in initial_access_tokens.all_tokens(access.work)]

    def item(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> Item | None:  # noqa: ARG002 - Store
        """Return a token by its name."""
        row = initial_access_tokens.named(access.work, item_id[0])
        return item_of(row) if row is not None else None

    def add(self, access: StoreAccess, resource: Resource, item: Item) -> None:  # noqa: ARG002 - Store
        """Add a token. Raises IntegrityError if its name is taken."""
        settings = initial_access_token_operations.InitialAccessToken.model_validate(item.content)
        ends = access.now + timedelta(days=settings.expires_in_days)
        expires_at = instant(settings.expires_at) if settings.expires_at else ends  # a file says when
        item.content["expires_at"] = iso(expires_at)
        times: dict[str, Any] = {"created_at": item.created_at or access.now, "expires_at": expires_at}
        digest = item.secrets.get(DIGEST) or randomness.digest(item.secrets["token"])
        initial_access_tokens.add(access.work, item.id[0], digest, max_uses=settings.max_uses, **times)

    def change(self, access: StoreAccess, resource: Resource, item: Item) -> None:  # noqa: ARG002 - Store
        """Change a token, as only a file does. Another digest may be used as often as a new token."""
        settings = initial_access_token_operations.InitialAccessToken.model_validate(item.content)
        values: dict[str, Any] = {"max_uses": settings.max_uses, "expires_at": instant(settings.expires_at)}
        if (digest := item.secrets.get(DIGEST)) is not None:
            values |= {"token_hash": digest, "uses": 0}
        initial_access_tokens.change(access.work, item.id[0], **values)

    def remove(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> None:  # noqa: ARG002 - Store
        """End a token."""
        initial_access_tokens.remove(access.work, item_id[0])


def item_of(row: Any) -> Item:
    """Return a stored token as an item."""
    days = round((row.expires_at - row.created_at) / timedelta(days=1))  # a file may have set any moment
    content = {
        "name": row.name,
        "max_uses": row.max_uses,
        "expires_in_days": min(max(1, days), MAX_DAYS),
        "uses": row.uses,
        "expires_at": iso(row.expires_at),
    }
    return Item((row.name,), content, {"token": _STORED}, created_at=row.created_at, modified_at=row.created_at)


@dataclass(frozen=True)
class CreatedToken:
    """A token that a command made. `is_useless`: the tenant does not allow the registration of applications."""

    token: str
    expires_at: datetime
    is_useless: bool


def create(services: IdentityServices, work: UnitOfWork, name: str, *, max_uses: int, days: int) -> CreatedToken:
    """Make a token for a command. Raises InitialAccessTokenRefused."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise InitialAccessTokenRefused(
            f"A name has 1 to 60 letters, digits, dots, hyphens and underscores, unlike {name!r}"
        )
    work.begin()
    tenant, stored = tenant_writes.lock(work), initial_access_tokens.all_tokens(work)
    if any(row.name == name for row in stored):
        raise InitialAccessTokenRefused(f"There's already a token {name!r}")
    if len(stored) >= MAX_TOKENS:
        raise InitialAccessTokenRefused(f"There are already {MAX_TOKENS} tokens")
    now, token = services.clock.now(), randomness.token()
    expires_at = now + timedelta(days=days)
    initial_access_tokens.add(
        work, name, randomness.digest(token), max_uses=max_uses, created_at=now, expires_at=expires_at
    )
    note(services, work, "added", name, "command")
    settings = TenantSettings.model_validate(tenant.settings if tenant else {})
    return CreatedToken(token, expires_at, is_useless=settings.client_registration.mode == "closed")


def revoke(services: IdentityServices, work: UnitOfWork, name: str) -> bool:
    """End a token; return whether a configuration file lists it, which would bring it back. Raises InitialAccessTokenRefused."""
    work.begin()
    stored = tenant_writes.lock(work)
    if initial_access_tokens.named(work, name) is None:
        raise InitialAccessTokenRefused(f"There's no token {name!r}")
    initial_access_tokens.remove(work, name)
    note(services, work, "removed", name, "command")
    return name in ((stored.named_by_file if stored else None) or {}).get(
        initial_access_token_operations.TOKENS.kind, {}
    )


def note(services: IdentityServices, work: UnitOfWork, event: str, name: str, source: str) -> None:
    """Audit a change, as the operations do."""
    audit = AuditLog(services.clock)
    audit.record(f"{initial_access_token_operations.TOKENS.kind}.{event}", name=name, source=source)
    audit.write(work)


RULES: Final = {
    initial_access_token_operations.TOKENS: Rules(powers=powers_of, store=TokenStore()),
}
