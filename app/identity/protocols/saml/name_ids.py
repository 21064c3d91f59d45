"""Identifiers of accounts and sessions as a service provider gets them (saml-core-2.0 sections 2.2.2, 2.7.2 and 8.3).

They are the Uid, or the session, encrypted for the service provider's entity ID: the same ones each time, of no use to another
service provider, and only this service can decrypt them (AES-SIV, RFC 5297). Nothing is stored.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts.account import Account
from app.identity.directory.tenants.keys import subject_secrets
from app.identity.platform.context import Context
from app.identity.platform.saml.expectations import SamlNameId
from app.identity.platform.saml.saml_names import (
    EMAIL_FORMAT,
    PERSISTENT_FORMAT,
    TRANSIENT_FORMAT,
    UNSPECIFIED_FORMAT,
)
from app.identity.protocols.saml import saml_clients
from app.identity.protocols.saml.saml_clients import SamlApp

FORMATS: Final = (PERSISTENT_FORMAT, TRANSIENT_FORMAT, EMAIL_FORMAT, UNSPECIFIED_FORMAT)
_ACCOUNT, _SESSION, _INDEX = b"saml account", b"saml session", b"saml session index"
_BLOCK_BYTES: Final = 32
"""Identifiers are padded to it: the length of a custom Uid would tell accounts apart."""
_MAX_LENGTH: Final = 256


def format_for(app: SamlApp, requested: str, *, is_requested: bool) -> str | None:
    """Return the format of the NameID; None if the request demands one that the client does not have.

    A client with a format has that one alone. One without leaves it to the request: persistent where the request leaves it open,
    unspecified where the sign-in began here.

    Args:
        requested: of the request; empty if it leaves the format open.
        is_requested: whether there is a request.
    """
    stated = app.client.name_id_format
    if requested in {"", UNSPECIFIED_FORMAT}:
        return PERSISTENT_FORMAT if is_requested and stated == UNSPECIFIED_FORMAT else stated
    is_open = stated == UNSPECIFIED_FORMAT and requested in FORMATS
    return requested if is_open or requested == stated else None


def name_id(context: Context, app: SamlApp, account: Account, session: BrowserSession, form: str) -> SamlNameId | None:
    """Return the NameID of an account in a format; None for an address that the account has not verified."""
    if form == EMAIL_FORMAT:
        address = account.email if account.email_verified else None
        return SamlNameId(value=address, name_format=form) if address else None
    kind, identifier = (_SESSION, session.session_id) if form == TRANSIENT_FORMAT else (_ACCOUNT, account.uid)
    value = _written(context, app, kind, identifier)
    if form != PERSISTENT_FORMAT:
        return SamlNameId(value=value, name_format=form)
    qualifiers = {"name_qualifier": saml_clients.entity_id(context), "sp_name_qualifier": app.entity_id}
    return SamlNameId(value=value, name_format=form, **qualifiers)


def session_index(context: Context, app: SamlApp, session_id: str) -> str:
    return _written(context, app, _INDEX, session_id)


def session_id_of(context: Context, app: SamlApp, index: str) -> str | None:
    """Return the session that the service provider knows by this index; None for a text that is none of its indexes."""
    if len(index) > _MAX_LENGTH:
        return None
    try:
        encrypted = urlsafe_b64decode(index.encode("ascii") + b"=" * (-len(index) % 4))
        return _cipher(context).decrypt(encrypted, [_INDEX, _sector(app)]).rstrip(b"\0").decode()
    except (InvalidTag, ValueError):
        return None


def _written(context: Context, app: SamlApp, kind: bytes, identifier: str) -> str:
    text = identifier.encode()
    padded = text.ljust(-(-len(text) // _BLOCK_BYTES) * _BLOCK_BYTES, b"\0")
    return urlsafe_b64encode(_cipher(context).encrypt(padded, [kind, _sector(app)])).rstrip(b"=").decode()


def _sector(app: SamlApp) -> bytes:
    """Return the entity ID: an identifier outlives the client's name. A client without one is a sector of its own."""
    return (app.entity_id or f"client {app.name}").encode()


def _cipher(context: Context) -> AESSIV:
    return AESSIV(subject_secrets.of(context.services, context.work))
