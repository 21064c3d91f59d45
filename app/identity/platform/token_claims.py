"""The claims that access and refresh tokens store: about the sign-in, the authorization and the sender."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

_PROVED_AT: Final = "proved_at"
_BEFORE: Final = "before"
"""Keys of rows whose claims have other names here."""


def _stored(kind: type, key: str | None = None) -> Any:
    """Return a field that is absent by default; `kind` is its type in JSON, `key` its name there if it is another."""
    return field(default=None, metadata={"kind": kind, "key": key})


@dataclass(frozen=True, kw_only=True)
class TokenClaims:
    """The stored claims of a token; None where it has none. Rotation passes them on."""

    issuer: str | None = _stored(str)
    aud: tuple[str, ...] | None = _stored(list)
    sub: str | None = _stored(str)  # of a machine token; others have their account
    gty: str | None = _stored(str)  # the kind of the grant
    granted: str | None = _stored(str)
    """The whole scope of a family whose access token has a narrower one."""
    resource: str | None = _stored(str)
    org_id: str | None = _stored(str)
    sid: str | None = _stored(str)
    """The session that the token outlives; tokens that end with a session have it in the column `session_id`."""
    cnf: Mapping[str, str] | None = _stored(dict)
    """What the sender must hold (RFC 7800)."""
    act: Mapping[str, Any] | None = _stored(dict)
    """The actors, the present one first (RFC 8693 section 4.1)."""
    ends_at: int | None = _stored(int)
    """The absolute end of the token's family, in seconds since 1970."""

    workflow: str | None = _stored(str)
    workflow_claims: Mapping[str, Any] | None = _stored(dict)
    """The key of the workflow that the sign-in passed, and the claims that it set."""
    hook_claims: Mapping[str, Any] | None = _stored(dict)
    """The claims that the token hook set when these tokens were issued."""

    provider: str | None = _stored(str)
    agent: str | None = _stored(str)
    address: str | None = _stored(str)
    auth_time: int | None = _stored(int)
    amr: tuple[str, ...] | None = _stored(list)
    acr: str | None = _stored(str)
    stepped_up_at: int | None = _stored(int, _PROVED_AT)
    unfinished_sign_in: Mapping[str, Any] | None = _stored(dict, _BEFORE)
    """The authentication of a sign-in that must accept the privacy policy first: this token can only do that."""

    userinfo_claims: tuple[str, ...] | None = _stored(list)
    id_token_claims: tuple[str, ...] | None = _stored(list)
    userinfo_values: Mapping[str, Any] | None = _stored(dict)
    id_token_values: Mapping[str, Any] | None = _stored(dict)
    """The claims that the authorization request named, and the values that it wants of them (OpenID Connect Core section 5.5)."""
    authorization_details: tuple[dict[str, Any], ...] | None = _stored(list)
    granted_details: tuple[dict[str, Any], ...] | None = _stored(list)
    """The details of this access token, and all that the person granted (RFC 9396)."""

    remember_me: bool | None = _stored(bool)  # written by older versions
    impersonated: bool | None = _stored(bool)  # written by older versions
    others: Mapping[str, Any] = field(default_factory=dict)
    """What another version stored: it survives a rotation by this one."""

    @property
    def added(self) -> dict[str, Any]:
        """The claims that a workflow or a token hook set, for what the application reads; the workflow's come first."""
        return {**(self.hook_claims or {}), **(self.workflow_claims or {})}

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> TokenClaims:
        """Return the claims of a JSON object; a value of another type than its claim has is absent."""
        values: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for key, value in stored.items():
            name, kind = _BY_KEY.get(key, _UNKNOWN)
            if kind is None:
                others[key] = value
            elif isinstance(value, kind):
                values[name] = tuple(stored[key]) if kind is list else value
        return cls(**values, others=others)

    def to_stored(self) -> dict[str, Any]:
        """Return the claims as the JSON object that rows have."""
        values = {key: getattr(self, name) for key, (name, _) in _BY_KEY.items()}
        present = {key: value for key, value in values.items() if value is not None}
        return {
            **self.others,
            **{key: list(item) if isinstance(item, tuple) else item for key, item in present.items()},
        }

    def only(self, *names: str) -> TokenClaims:
        """Return these claims alone."""
        return TokenClaims(**{name: getattr(self, name) for name in names})


_UNKNOWN: Final[tuple[str, type | None]] = ("", None)
_BY_KEY: Final[Mapping[str, tuple[str, type | None]]] = {
    item.metadata["key"] or item.name: (item.name, item.metadata["kind"])
    for item in fields(TokenClaims)
    if item.metadata
}
NO_CLAIMS: Final = TokenClaims()
