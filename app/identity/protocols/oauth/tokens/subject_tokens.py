"""The tokens that a client presents for an exchange: the subject's and the actor's (RFC 8693 section 2.1).

A client may present its own tokens, those whose audience it is, and those of applications that name it in `may_act`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from app.contract.oauth.oauth_errors import InvalidGrant
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials.tokens import token_store
from app.identity.platform.context import Context, TokenHolder
from app.identity.platform.jwts import is_time
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import TokenClaims
from app.identity.protocols.oauth.claims import subjects
from app.identity.protocols.oauth.sender_constraints import token_binding
from app.identity.protocols.oauth.sender_constraints.token_binding import UNBOUND, Confirmation
from app.identity.protocols.oauth.tokens import issued_jwts
from app.kit import randomness

_TYPE: Final = "urn:ietf:params:oauth:token-type:"
ACCESS_TOKEN, REFRESH_TOKEN, ID_TOKEN, JWT = (
    f"{_TYPE}{name}" for name in ("access_token", "refresh_token", "id_token", "jwt")
)
TYPES: Final = (ACCESS_TOKEN, REFRESH_TOKEN, ID_TOKEN, JWT)
MAX_ACTORS: Final = 4
"""How long a chain of actors may be."""
_MAX_LENGTH: Final = 8_000
_OF_ID_TOKEN: Final = ("auth_time", "amr", "acr", "org_id", "act")
"""Claims that no tenant sets: others of the same names as ours may come from a mapping, a workflow or a token hook."""
_RETAINED: Final = (*_OF_ID_TOKEN, "workflow", "workflow_claims")
"""The claims that an exchange copies from the subject token."""


class SubjectTokenRefused(Exception):
    """The token is unknown or not valid now, or this client may not present it."""


@dataclass(frozen=True)
class SubjectToken:
    """A valid token of an account of this tenant, or of one of its clients (`uid` is None)."""

    uid: str | None
    client_id: str
    scope: tuple[str, ...]
    session_id: str | None
    ends_at: datetime
    claims: TokenClaims
    ends_with_session: bool
    """Whether it is good only while the session `session_id` lives; others only name the session that they came from."""
    confirmation: Confirmation = UNBOUND
    """What its sender proved, with the keys of this token: an exchanged token is bound to them."""

    @property
    def subject(self) -> str:
        return self.uid or f"{self.client_id}@client"

    @property
    def actors(self) -> int:
        """How many actors it names (RFC 8693 section 4.1)."""
        return depth(self.claims.act)


def depth(act: object) -> int:
    """Return the length of a chain of actors."""
    length = 0
    while isinstance(act, Mapping) and length <= MAX_ACTORS:
        length, act = length + 1, act.get("act")
    return length


def read(context: Context, client: Application, confirmation: Confirmation, text: str, kind: str) -> SubjectToken:
    """Return a token that the client presents, by the type that it states (RFC 8693 section 3).

    Raises SubjectTokenRefused; also for a sender-constrained token without proof of its key (RFC 9449 section 7).
    """
    if len(text) > _MAX_LENGTH:
        raise SubjectTokenRefused
    subject = _id_token(context, text) if kind == ID_TOKEN else _stored(context, client, text, kind)
    if subject.ends_at <= context.now or not _may_present(context, client, subject):
        raise SubjectTokenRefused
    try:
        proved = token_binding.check_presented(
            context, confirmation, client, subject.claims, is_refresh=kind == REFRESH_TOKEN
        )
    except InvalidGrant:
        raise SubjectTokenRefused from None
    return replace(subject, confirmation=proved)


def _stored(context: Context, client: Application, text: str, kind: str) -> SubjectToken:
    """Return an access token, opaque or signed, or an unused refresh token of the client itself."""
    if kind == REFRESH_TOKEN:
        row = token_store.refresh(context.work, randomness.digest(text))
        if row is None or row.used_at is not None or row.client_id != client.client_id:
            raise SubjectTokenRefused
        claims = TokenClaims.from_stored(row.facts)
        return _presented(row.uid, row.client_id, claims.granted or row.scope, row, claims)
    holder = token_store.access(context.work, randomness.digest(text))
    is_jwt = text.count(".") == 2
    if holder is None or holder.client_id is None or (kind == JWT and not is_jwt):
        raise SubjectTokenRefused
    return _presented(holder.uid or None, holder.client_id, holder.scope, holder, holder.claims)


def _presented(
    uid: str | None, client_id: str, scope: str, row: TokenHolder | Any, claims: TokenClaims
) -> SubjectToken:
    sid = row.session_id or claims.sid
    return SubjectToken(uid, client_id, tuple(scope.split()), sid, row.expires_at, claims, row.session_id is not None)


def _id_token(context: Context, text: str) -> SubjectToken:
    """Return an id_token of a live session; it says who a person is and grants nothing more than `openid`."""
    try:
        claims = issued_jwts.read(context, text)
    except issued_jwts.InvalidJwt:
        raise SubjectTokenRefused from None
    hint, ends_at = issued_jwts.read_id_token_hint(context, text), claims.get("exp")
    if hint is None or not is_time(ends_at):
        raise SubjectTokenRefused
    if hint.session_id is None or sessions.lock_expiry(context, hint.session_id) is None:
        raise SubjectTokenRefused
    retained = TokenClaims.from_stored(claims).only(*_OF_ID_TOKEN)
    if retained.act is not None:
        retained = replace(retained, act=subjects.actors_from(context, hint.client, retained.act))
    until = datetime.fromtimestamp(float(ends_at or 0), UTC)
    return SubjectToken(hint.uid, hint.client.client_id, ("openid",), hint.session_id, until, retained, True)


def _may_present(context: Context, client: Application, token: SubjectToken) -> bool:
    if client.client_id == token.client_id or client.client_id in (token.claims.aud or ()):
        return True
    return may_act(context, client.client_id, token)


def may_act(context: Context, client_id: str, token: SubjectToken) -> bool:
    """Return whether the application of a token names a client that may act for its users (RFC 8693 section 4.4)."""
    issued_to = context.application(client_id=token.client_id)
    return issued_to is not None and issued_to.settings.is_active and client_id in issued_to.settings.may_act


def retained_claims(token: SubjectToken) -> TokenClaims:
    """Return the claims that an exchanged token takes over; it ends no later than the presented token."""
    return replace(token.claims.only(*_RETAINED), ends_at=int(token.ends_at.timestamp()))
