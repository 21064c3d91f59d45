"""What a grant of any kind gives: the facts of its tokens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.identity.directory.organizations.organization import Membership
from app.identity.platform.token_claims import NO_CLAIMS, TokenClaims
from app.identity.protocols.oauth.sender_constraints.token_binding import Confirmation


@dataclass(frozen=True, kw_only=True)
class GrantResult:
    """The result of a grant of any kind.

    `claims` are stored with the tokens, with those that `token_response` adds. `session_ends_at` is the absolute end of the
    session.
    """

    kind: str
    scope: tuple[str, ...]
    confirmation: Confirmation
    uid: str | None = None
    session_id: str | None = None
    session_ends_at: datetime | None = None
    family_id: str | None = None
    nonce: str | None = None
    resource: str | None = None
    claims: TokenClaims = NO_CLAIMS
    is_access_only: bool = False  # no refresh token and no id_token
    membership: Membership | None = None  # in the organization of the claim `org_id`
    retained_refresh: str | None = None  # the refresh token that stays
