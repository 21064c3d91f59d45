"""Identifiers of accounts and sessions as an application gets them (OpenID Connect Core section 8).

Public: the Uid. Pairwise (section 8.1): the Uid encrypted for the application's sector, so that applications of two sectors cannot
correlate their users. AES-SIV (RFC 5297) gives the same identifier each time, and only this service can decrypt it.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from app.contract.applications.subject_types import sector_of
from app.identity.directory.tenants.keys import subject_secrets
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application

_ACCOUNT, _SESSION = b"sub", b"sid"
_BLOCK_BYTES: Final = 32
"""Identifiers are padded to it: the length of a custom Uid would tell accounts apart."""
_MAX_LENGTH: Final = 255
"""Of `sub` (OpenID Connect Core section 2)."""


def of(context: Context, client: Application | None, uid: str) -> str:
    """Return the `sub` of an account for a client; the Uid for tokens of the API's own sign-ins, which have no client."""
    return uid if client is None else _written(context, client, _ACCOUNT, uid)


def uid_of(context: Context, client: Application, subject: str) -> str | None:
    """Return the Uid that the client knows by this `sub`; None for a text that is none of its identifiers."""
    return _read(context, client, _ACCOUNT, subject)


def actors_of(context: Context, client: Application | None, act: Mapping[str, Any]) -> dict[str, Any]:
    """Return the actors of a token as its client knows them (RFC 8693 section 4.1); those with an @ are clients and servers."""
    subject, before = str(act.get("sub", "")), act.get("act")
    shown: dict[str, Any] = {"sub": subject if "@" in subject else of(context, client, subject)}
    return {**shown, "act": actors_of(context, client, before)} if isinstance(before, Mapping) else shown


def actors_from(context: Context, client: Application, act: Mapping[str, Any]) -> dict[str, Any]:
    """Return the actors that `actors_of` wrote for a client. Raises ValueError for those of another client."""
    subject, before = str(act.get("sub", "")), act.get("act")
    known = subject if "@" in subject else uid_of(context, client, subject)
    if known is None:
        raise ValueError("not an actor of this client")
    return {"sub": known, **({"act": actors_from(context, client, before)} if isinstance(before, Mapping) else {})}


def sid_of(context: Context, client: Application | None, session_id: str) -> str:
    """Return the `sid` of a session for a client: applications of two sectors could match accounts by equal ones."""
    return session_id if client is None else _written(context, client, _SESSION, session_id)


def session_id_of(context: Context, client: Application, sid: str) -> str | None:
    """Return the session that the client knows by this `sid`."""
    return _read(context, client, _SESSION, sid)


def _written(context: Context, client: Application, kind: bytes, identifier: str) -> str:
    if not client.settings.is_pairwise:
        return identifier
    text = identifier.encode()
    padded = text.ljust(-(-len(text) // _BLOCK_BYTES) * _BLOCK_BYTES, b"\0")
    encrypted = _cipher(_secret(context)).encrypt(padded, [kind, _sector(client)])
    return urlsafe_b64encode(encrypted).rstrip(b"=").decode()


def _read(context: Context, client: Application, kind: bytes, text: str) -> str | None:
    if not client.settings.is_pairwise:
        return text
    if len(text) > _MAX_LENGTH:
        return None
    try:
        encrypted = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        if urlsafe_b64encode(encrypted).rstrip(b"=").decode() != text:  # one spelling of each identifier
            return None
        return _cipher(_secret(context)).decrypt(encrypted, [kind, _sector(client)]).rstrip(b"\0").decode()
    except (InvalidTag, ValueError):
        return None


def _sector(client: Application) -> bytes:
    """Return the sector; an application without one is a sector of its own, and can't be registered any longer."""
    settings = client.settings
    return (sector_of(settings.sector_identifier_uri, settings.redirect_uris) or f"client {client.client_id}").encode()


def _secret(context: Context) -> bytes:
    return subject_secrets.of(context.services, context.work)


@lru_cache(maxsize=1024)
def _cipher(secret: bytes) -> AESSIV:
    return AESSIV(secret)
