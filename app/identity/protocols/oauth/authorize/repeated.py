"""Refuses repeated parameters (RFC 6749 section 3.1) and oversized ones."""

from app.identity.protocols.oauth.authorize.request import Asked, Redirected

_KNOWN = frozenset(
    (
        *("client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce", "code_challenge"),
        *("code_challenge_method", "prompt", "max_age", "display", "ui_locales", "login_hint", "id_token_hint"),
        *("acr_values", "claims", "request", "request_uri", "registration"),
    )
)
_LONGEST = 8_000


def check(asked: Asked) -> None:
    for name in sorted(asked.repeated & _KNOWN):
        raise Redirected("invalid_request", f"The {name} is given more than once.")
    for name, value in asked.values.items():
        if name in _KNOWN and len(value) > _LONGEST:
            raise Redirected("invalid_request", f"The {name} is too long.")
