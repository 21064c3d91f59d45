"""Authorization codes: valid for 50 seconds, one use and one client (RFC 6749 section 4.1.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, delete, select, update

from app.identity.platform.context import Context
from app.identity.platform.store.compiled_statements import Compiled, insert_row
from app.identity.platform.token_claims import TokenClaims
from app.identity.protocols.oauth.tables import codes
from app.kit import randomness

LIFETIME = timedelta(seconds=50)
T = codes.c
_KEY = (T.tenant_id == bindparam("tenant"), T.code_hash == bindparam("hash"), T.client_id == bindparam("client"))
_SPEND = Compiled(
    update(codes)
    .where(*_KEY, T.used_at.is_(None), T.expires_at > bindparam("now"))
    .values(used_at=bindparam("now"))
    .returning(T.uid, T.session_id, T.family_id, T.request)
)
_USED = Compiled(select(T.family_id).where(*_KEY, T.used_at.is_not(None)))
_ADD = insert_row(codes, is_deferred=True)


_S256 = "S256"
_CLAIMS = (
    "auth_time",
    "amr",
    "acr",
    "userinfo_claims",
    "id_token_claims",
    "userinfo_values",
    "id_token_values",
    "resource",
    "org_id",
    "workflow",
    "workflow_claims",
    "hook_claims",
)
"""Claims that tokens take over from the authorization request."""


@dataclass(frozen=True)
class GrantedRequest:
    """An authorization request that was granted: what the token request must match, and what the tokens get."""

    issuer: str
    redirect_uri: str
    claims: TokenClaims
    scope: tuple[str, ...] = ()
    resource: str | None = None
    authorization_details: tuple[dict[str, Any], ...] = ()
    nonce: str | None = None
    code_challenge: str | None = None
    code_challenge_method: str = _S256
    dpop_jkt: str | None = None

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> GrantedRequest:
        """Return the request of a JSON object, in which values that are the default are absent."""
        return cls(
            issuer=stored["issuer"],
            redirect_uri=stored["redirect_uri"],
            scope=tuple(stored.get("scope") or ()),
            claims=TokenClaims.from_stored(stored).only(*_CLAIMS),
            resource=stored.get("resource"),
            authorization_details=tuple(stored.get("authorization_details") or ()),
            nonce=stored.get("nonce"),
            code_challenge=stored.get("code_challenge"),
            code_challenge_method=stored.get("code_challenge_method") or _S256,
            dpop_jkt=stored.get("dpop_jkt"),
        )

    def to_stored(self) -> dict[str, Any]:
        """Return the JSON object that `from_stored` reads."""
        is_default_method = self.code_challenge_method == _S256
        values = {
            "issuer": self.issuer,
            "redirect_uri": self.redirect_uri,
            "scope": list(self.scope) or None,
            "resource": self.resource,
            "authorization_details": list(self.authorization_details) or None,
            "nonce": self.nonce,
            "code_challenge": self.code_challenge,
            "code_challenge_method": None if is_default_method else self.code_challenge_method,
            "dpop_jkt": self.dpop_jkt,
        }
        return {**{key: value for key, value in values.items() if value is not None}, **self.claims.to_stored()}


@dataclass(frozen=True)
class AuthorizationCode:
    """A code's account, client, token family and authorization request."""

    client_id: str
    uid: str
    session_id: str | None
    family_id: str
    request: GrantedRequest


class CodeRefused(Exception):
    """The code is unknown, expired, or another client's; `family_id` is set where its own client uses it a second time."""

    def __init__(self, family_id: str | None = None) -> None:
        super().__init__("code refused")
        self.family_id = family_id


def issue(
    context: Context, *, client_id: str, uid: str, session_id: str, family_id: str, request: GrantedRequest
) -> str:
    """Store a code and return its text."""
    text, now = randomness.token(), context.now
    row = {
        "tenant_id": context.tenant.tenant_id,
        "code_hash": randomness.digest(text),
        "client_id": client_id,
        "uid": uid,
        "session_id": session_id,
        "family_id": family_id,
        "request": request.to_stored(),
        "issued_at": now,
        "expires_at": now + LIFETIME,
    }
    context.work.run(_ADD, {**row, "used_at": None})
    return text


def spend(context: Context, text: str, client_id: str) -> AuthorizationCode:
    """Mark the code used within this unit of work and return it.

    One of several concurrent requests succeeds. The others raise, and the token endpoint then revokes the tokens that the
    code gave (RFC 6749 section 4.1.2), also those of the winner. The mark ends with a rollback: a request that is refused
    after this, for a wrong verifier or redirect URI, leaves the code unused.

    Raises:
        CodeRefused: the code is unknown, expired, used, or another client's.
    """
    key = {"tenant": context.tenant.tenant_id, "hash": randomness.digest(text), "client": client_id}
    row = context.work.one(_SPEND, {**key, "now": context.now})
    if row is not None:
        request = GrantedRequest.from_stored(row.request)
        return AuthorizationCode(client_id, row.uid, row.session_id, row.family_id, request)
    used = context.work.one(_USED, key)
    raise CodeRefused(used.family_id if used is not None else None)


def delete_for_client(context: Context, uid: str, client_id: str) -> None:
    """Delete a client's codes for an account."""
    context.work.run(
        delete(codes).where(T.tenant_id == context.tenant.tenant_id, T.uid == uid, T.client_id == client_id)
    )
