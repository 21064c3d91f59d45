"""Refuse repeated parameters (RFC 6749 section 3.1) and parameters that are too long."""

from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

_KNOWN = frozenset(
    (
        *("client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce", "code_challenge"),
        *("code_challenge_method", "prompt", "max_age", "display", "ui_locales", "login_hint", "id_token_hint"),
        *("acr_values", "claims", "request", "request_uri", "registration", "authorization_details", "organization"),
        *("dpop_jkt", "connection", "provider", "workflow", "linking_id", "invitation_token"),
    )
)
_MAX_LENGTH = 8_192


def check(request: UncheckedRequest) -> None:
    for name in sorted(request.repeated & _KNOWN):
        raise RefusedByRedirect("invalid_request", f"The {name} is given more than once.")
    for name, value in request.values.items():
        if name in _KNOWN and len(value) > _MAX_LENGTH:
            raise RefusedByRedirect("invalid_request", f"The {name} is too long.")
