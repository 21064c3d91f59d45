"""Response types (RFC 6749 section 3.1.1, OAuth 2.0 Multiple Response Types section 5) that an application may be registered for.

All but `code` are legacy: they bring tokens through the browser's address bar (RFC 9700 section 2.1.2).
"""

from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator

from app.contract.applications.client_protocol import ClientProtocol

CODE, TOKEN, ID_TOKEN, IMPLICIT = "code", "token", "id_token", "implicit"
_ORDER: Final = (CODE, TOKEN, ID_TOKEN)


def canonical(text: object) -> object:
    """Return the one spelling of a response type, whose words may be in any order; other values unchanged."""
    words = text.split(" ") if isinstance(text, str) else []
    if not words or len(set(words)) != len(words) or not set(words) <= set(_ORDER):
        return text
    known = [word for word in _ORDER if word in words]
    return "code id_token token" if len(known) == len(_ORDER) else " ".join(known)


ResponseType = Annotated[
    Literal["code", "id_token", "token id_token", "code id_token", "code token", "code id_token token", "token"],
    BeforeValidator(canonical),
]
ResponseMode = Literal["query", "fragment", "form_post", "query.jwt", "fragment.jwt", "form_post.jwt", "jwt"]
"""(OAuth 2.0 Multiple Response Types section 2.1, Form Post Response Mode, JARM section 2.3)"""
OPENID_TYPES: Final = (CODE, ID_TOKEN, "token id_token", "code id_token", "code token", "code id_token token")
OAUTH_TYPES: Final = (CODE, TOKEN)


def is_front_channel(response_type: str) -> bool:
    """Return whether tokens of this response type arrive at the redirect URI: an implicit or hybrid one."""
    return not {TOKEN, ID_TOKEN}.isdisjoint(response_type.split(" "))


def contradiction(protocol: ClientProtocol, response_types: Iterable[str], grant_types: Iterable[str]) -> str | None:
    """Return the required value, if these settings of an application contradict each other (RFC 7591 section 2.1)."""
    types, grants = tuple(response_types), tuple(grant_types)
    allowed = OPENID_TYPES if protocol is ClientProtocol.OPENID else OAUTH_TYPES
    if any(item not in allowed for item in types):
        return f"response_types: some of {', '.join(allowed)}, because protocol is {protocol}"
    needs_implicit = any(is_front_channel(item) for item in types)
    if needs_implicit and IMPLICIT not in grants:
        return "grant_types: implicit too, because response_types has token or id_token"
    if IMPLICIT in grants and not needs_implicit:
        return "response_types: one with token or id_token, because grant_types has implicit"
    if "authorization_code" not in grants and any(CODE in item.split(" ") and item != CODE for item in types):
        return "grant_types: authorization_code too, because response_types has code"
    return None
