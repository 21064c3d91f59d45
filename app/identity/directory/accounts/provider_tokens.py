"""Stores the tokens of providers, encrypted, with an account's linked identities, if the connection is set so (decision 0132).

They are in the account's `private` document: by connection, then by a digest of the subject. Until an identity is linked, its
tokens wait encrypted in a continuation token, which the link spends.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic_core import from_json, to_json
from sqlalchemy import literal, update
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import FunctionElement

from app.contract.federation.connection_completion import resolved
from app.contract.tenants.settings import TenantSettings
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import identity_value
from app.identity.directory.accounts.tables import accounts
from app.identity.directory.identity_provider import ProviderIdentity, ProviderTokens
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.identity.platform.encryption import DecryptionError
from app.identity.platform.store.encrypted_columns import EncryptedColumns, Renew
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.clock import iso

log = logging.getLogger("gatehouse.identity")

KEY: Final = "provider_tokens"
MEMBER: Final = "ProviderAccessCredential"
"""The member of a profile and of its identities that shows an access token."""
LIFETIME: Final = timedelta(hours=1)
"""How long tokens wait for their identity to be linked."""
RENEWAL: Final = timedelta(seconds=15)
"""How long a renewal may take; another one begins after that."""
A = accounts.c
Key = tuple[str, str]
"""The provider and the subject of an identity."""


@dataclass(frozen=True)
class StoredTokens:
    """The stored tokens of an identity. `client` is the client they were issued to; `encrypted` tells later changes."""

    tokens: ProviderTokens
    client: str
    encrypted: str


def client_of(settings: TenantSettings, provider: str) -> str | None:
    """Return the client whose tokens a connection keeps; None if it keeps none.

    It names the provider's addresses, so that a token is sent only to the server that issued it.
    """
    configured = settings.connections.get(provider)
    if configured is None or not configured.keep_provider_tokens:
        return None
    connection = resolved(provider, configured)
    endpoints = (connection.token_endpoint, connection.userinfo_endpoint, connection.emails_endpoint)
    return " ".join(
        (connection.key, connection.issuer or "", *(urlsplit(endpoint).netloc for endpoint in endpoints if endpoint))
    )


def store_pending(context: Context, identity: ProviderIdentity, tokens: ProviderTokens) -> ProviderIdentity:
    """Store the tokens of a sign-in until the identity is linked, and return the identity that names them."""
    client = client_of(context.tenant.settings, identity.provider)
    if client is None:
        return identity
    encrypted = _encrypt(context, (identity.provider, identity.subject), tokens, client)
    pending = continuation_tokens.issue(
        context, ContinuationPurpose.PROVIDER_TOKENS, NO_ACCOUNT, lifetime=LIFETIME, facts={"sealed": encrypted}
    )
    return replace(identity, kept_tokens=pending.text)


def adopt(context: Context, private: Mapping[str, Any], identity: ProviderIdentity) -> dict[str, Any]:
    """Return `private` of a locked account with the tokens of this sign-in by a linked identity.

    Without tokens to keep, those of earlier sign-ins are deleted. A provider that issues a refresh token only once keeps it.
    """
    key = (identity.provider, identity.subject)
    client = client_of(context.tenant.settings, identity.provider)
    if identity.kept_tokens is None or client is None:
        return without(private, key)
    pending = continuation_tokens.find(context, ContinuationPurpose.PROVIDER_TOKENS, identity.kept_tokens)
    if pending is None or not continuation_tokens.spend(context, pending):
        return dict(private)  # this sign-in's tokens are stored already, or came too late
    provided, former = _open(context, key, pending.facts["sealed"]), _read(context, private, key)
    if provided is None or provided.client != client:
        return without(private, key)
    tokens = provided.tokens
    if not tokens.refresh_token and former is not None and former.client == client:
        tokens = replace(tokens, refresh_token=former.tokens.refresh_token)
    return _with(private, key, {"sealed": _encrypt(context, key, tokens, client)})


def usable(context: Context, account: Account, key: Key) -> StoredTokens | None:
    """Return the tokens of an identity whose connection is active and still the client that they were issued to."""
    configured, client = context.tenant.settings.connections.get(key[0]), client_of(context.tenant.settings, key[0])
    if configured is None or not configured.is_active or client is None:
        return None
    stored = _read(context, account.private, key)
    return stored if stored is not None and stored.client == client else None


def valid_access_token(context: Context, account: Account, key: Key) -> str | None:
    """Return the access token of an identity, if it is kept, usable and not known to have expired."""
    stored = usable(context, account, key)
    if stored is None or (stored.tokens.expires_at is not None and stored.tokens.expires_at <= context.now):
        return None
    return stored.tokens.access_token


def begin_renewal(context: Context, uid: str, key: Key, before: StoredTokens) -> StoredTokens | None:
    """Reserve the use of a refresh token: two concurrent uses may revoke it (RFC 9700 section 4.14.2).

    Return `before` to the one caller that may renew, newer tokens if there are some, and None while another caller renews, for
    fifteen seconds at most, or if the tokens were deleted.
    """
    fresh = account_store.lock(context, uid)
    entry = _entry(fresh.private, key) if fresh is not None else {}
    if fresh is None or not entry:
        return None
    if entry["sealed"] != before.encrypted:
        return _decrypt(context, key, entry["sealed"])
    if entry.get("renews_until", "") > (iso(context.now) or ""):
        return None
    reserved = {**entry, "renews_until": iso(context.now + RENEWAL)}
    account_store.change(context, uid, {"private": _with(fresh.private, key, reserved)})
    return before


def replace_tokens(context: Context, uid: str, key: Key, before: StoredTokens, tokens: ProviderTokens) -> None:
    """Store renewed tokens, unless a sign-in replaced them or the identity was unlinked concurrently."""
    fresh = account_store.lock(context, uid)
    entry = _entry(fresh.private, key) if fresh is not None else {}
    if fresh is not None and entry.get("sealed") == before.encrypted:
        encrypted = _encrypt(context, key, tokens, before.client)
        rest = {name: value for name, value in entry.items() if name != "renews_until"}
        account_store.change(context, uid, {"private": _with(fresh.private, key, {**rest, "sealed": encrypted})})


def marked_read(private: Mapping[str, Any], key: Key, now: datetime) -> dict[str, Any]:
    """Return `private` with the time at which the profile was read from the provider."""
    entry = _entry(private, key)
    return _with(private, key, {**entry, "read_at": iso(now)}) if entry else dict(private)


def read_at(account: Account, key: Key) -> str | None:
    """Return when the profile was read from the provider after the last sign-in; None if it was not, or its tokens are gone."""
    return _entry(account.private, key).get("read_at")


def without(private: Mapping[str, Any], key: Key) -> dict[str, Any]:
    """Return `private` without the tokens of an identity."""
    provider, subject = key[0], randomness.digest(key[1])
    stored: Mapping[str, Mapping[str, Any]] = private.get(KEY) or {}
    others = {name: entry for name, entry in stored.get(provider, {}).items() if name != subject}
    return _with_provider(private, provider, others)


def without_unlinked(private: Mapping[str, Any], linked: Collection[Key]) -> dict[str, Any]:
    """Return `private` without the tokens of identities that are not linked."""
    names = {(provider, randomness.digest(subject)) for provider, subject in linked}
    stored = {
        provider: {subject: entry for subject, entry in entries.items() if (provider, subject) in names}
        for provider, entries in (private.get(KEY) or {}).items()
    }
    rest = {name: value for name, value in private.items() if name != KEY}
    stored = {provider: entries for provider, entries in stored.items() if entries}
    return {**rest, KEY: stored} if stored else rest


def delete_all(context: Context, account: Account) -> None:
    """Delete the tokens of a locked account that is about to leave."""
    if KEY in account.private:
        account_store.change(context, account.uid, {"private": without_unlinked(account.private, ())})


def delete_unretained(work: UnitOfWork, before: Mapping[str, Any], after: Mapping[str, Any]) -> int:
    """Delete the tokens of connections that no longer keep them, or have another client, after a change of a tenant's settings.

    One statement for each such connection. Return how many accounts lost tokens.
    """
    former, latest = TenantSettings.model_validate(before), TenantSettings.model_validate(after)
    count = 0
    for provider in former.connections:
        client = client_of(former, provider)
        if client is not None and client != client_of(latest, provider):
            where = (A.tenant_id == work.tenant_id, A.private[(KEY, provider)].as_string().is_not(None))
            private = _WithoutProvider(A.private, literal(provider))
            count += work.changed(update(accounts).where(*where).values(private=private))
    return count


def _entry(private: Mapping[str, Any], key: Key) -> dict[str, Any]:
    return dict((private.get(KEY) or {}).get(key[0], {}).get(randomness.digest(key[1])) or {})


def _with(private: Mapping[str, Any], key: Key, entry: dict[str, Any]) -> dict[str, Any]:
    others = (private.get(KEY) or {}).get(key[0], {})
    return _with_provider(private, key[0], {**others, randomness.digest(key[1]): entry})


def _with_provider(private: Mapping[str, Any], provider: str, entries: Mapping[str, Any]) -> dict[str, Any]:
    stored = {name: item for name, item in (private.get(KEY) or {}).items() if name != provider}
    stored |= {provider: dict(entries)} if entries else {}
    rest = {name: value for name, value in private.items() if name != KEY}
    return {**rest, KEY: stored} if stored else rest


def _read(context: Context, private: Mapping[str, Any], key: Key) -> StoredTokens | None:
    encrypted = _entry(private, key).get("sealed")
    return _open(context, key, encrypted) if encrypted else None


def _open(context: Context, key: Key, encrypted: str) -> StoredTokens | None:
    """Return decrypted tokens; None if their secret is gone: neither a sign-in nor a read of a profile fails because of them."""
    try:
        return _decrypt(context, key, encrypted)
    except DecryptionError as problem:
        log.warning("tokens of the provider %s: %s", key[0], problem)
        return None


def _encrypt(context: Context, key: Key, tokens: ProviderTokens, client: str) -> str:
    content = {
        "access_token": tokens.access_token,
        "refresh_token": tokens.refresh_token,
        "expires_at": iso(tokens.expires_at),
        "client": client,
    }
    place = _associated_data(context.tenant.tenant_id, identity_value(*key))
    return base64.b64encode(context.services.encryption.encrypt(to_json(content), place)).decode()


def _decrypt(context: Context, key: Key, encrypted: str) -> StoredTokens:
    place = _associated_data(context.tenant.tenant_id, identity_value(*key))
    content = from_json(context.services.encryption.decrypt(base64.b64decode(encrypted), place))
    expires_at = datetime.fromisoformat(content["expires_at"]) if content["expires_at"] else None
    tokens = ProviderTokens(content["access_token"], content["refresh_token"], expires_at)
    return StoredTokens(tokens, content["client"], encrypted)


def _associated_data(tenant_id: str, identity: str) -> str:
    return f"{tenant_id} provider tokens {identity}"


class _WithoutProvider(FunctionElement[Any]):
    """The column `private` without the tokens of one connection."""

    inherit_cache = True


@compiles(_WithoutProvider, "sqlite")
def _without_on_sqlite(element: Any, compiler: Any, **options: Any) -> str:
    column, name = (compiler.process(clause, **options) for clause in element.clauses)
    return f"json_remove({column}, '$.{KEY}.\"' || {name} || '\"')"


@compiles(_WithoutProvider, "postgresql")
def _without_on_postgres(element: Any, compiler: Any, **options: Any) -> str:
    column, name = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({column} #- ARRAY['{KEY}', CAST({name} AS text)])"


def _renewed(row: Mapping[str, Any], renew: Renew) -> dict[str, Any]:
    private: dict[str, Any] = row["private"]

    def renewed_entry(provider: str, subject: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        place = _associated_data(row["tenant_id"], f"{provider} {subject}")
        return {**entry, "sealed": base64.b64encode(renew(base64.b64decode(entry["sealed"]), place)).decode()}

    tokens = {
        provider: {subject: renewed_entry(provider, subject, entry) for subject, entry in entries.items()}
        for provider, entries in (private.get(KEY) or {}).items()
    }
    return {"private": {**private, KEY: tokens}} if tokens else {}


ENCRYPTED_COLUMNS = EncryptedColumns(accounts, ("private",), _renewed, A.private[KEY].as_string().is_not(None))
