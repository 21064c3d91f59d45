"""request, request_uri: the parameters as a signed JWT (RFC 9101, OpenID Connect Core section 6), in the request or at an address,
or pushed before (RFC 9126).

Unsigned and encrypted objects are neither served nor advertised: `request_object_signing_alg_values_supported` names signatures.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.identity.platform import jwts
from app.identity.platform.context import Context
from app.identity.platform.jwts import PLAIN_TYPES, JwtNotAccepted, JwtProfile, SignatureRefused, TypeRefused
from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.authorize import pushed
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect, UncheckedRequest
from app.identity.protocols.oauth.sender_constraints import client_keys
from app.kit.text.input_filter import has_control_character

MEDIA_TYPE = "oauth-authz-req+jwt"
_ACCEPT = f"application/{MEDIA_TYPE}, application/jwt"
PROFILE = JwtProfile(client_keys.ALGORITHMS, 50_000, (*PLAIN_TYPES, MEDIA_TYPE, f"application/{MEDIA_TYPE}"))
MESSAGE_SECONDS = 3_600
"""How far `nbf` may be in the past, and how long after it `exp` may be (FAPI 2.0 Message Signing section 5.3.1)."""
_OF_THE_JWT = frozenset({"iss", "sub", "aud", "exp", "nbf", "iat", "jti"})


def expand(request: UncheckedRequest) -> None:
    """Replace the parameters by those of the request object: no other counts (RFC 9101 section 6.3).

    A refusal is raised by `check`, once it is known where it may go.
    """
    if request.repeated & {"request", "request_uri"}:
        return  # refused as repeated
    address = request.values.get("request_uri", "")
    try:
        if address.startswith(pushed.PREFIX) and not request.is_push:
            stored = pushed.require(request, address)
            request.replace(stored.parameters)
            request.accepted.update({"pushed": stored.token_hash, "is_signed": stored.is_signed})
            _demand(request.client, is_pushed=True, is_signed=stored.is_signed)
            return
        text = _text(request)
        if text is not None:
            request.object_text = text
            request.replace(_parameters(request, text))
            request.accepted["is_signed"] = True
    except RefusedByRedirect as refusal:
        request.problem = refusal


def check(request: UncheckedRequest) -> None:
    """Raise the refusal of the request object, and of `registration`, which has no use without self-issued providers."""
    if request.problem is not None:
        raise request.problem
    if "registration" in request.values:
        raise RefusedByRedirect("registration_not_supported", "The parameter registration is not supported.")


def still_holds(context: Context, client: Application, request: CheckedRequest) -> bool:
    """Return whether the request came as its client demands now."""
    del context
    try:
        _demand(client, is_pushed=request.pushed is not None, is_signed=request.is_signed)
    except RefusedByRedirect:
        return False
    return True


def _demand(client: Application, *, is_pushed: bool, is_signed: bool) -> None:
    """Raise the refusal of a request that came otherwise than its client demands (RFC 9126 section 6, RFC 9101 section 10.5)."""
    if is_pushed and not client.settings.pushed_authorization_requests:
        raise RefusedByRedirect("unauthorized_client", "This client may not push its authorization requests.")
    if client.settings.must_push and not is_pushed:
        raise RefusedByRedirect("invalid_request", "This client must push its authorization requests.")
    if client.settings.require_signed_request_object and not is_signed:
        raise RefusedByRedirect("invalid_request", "This client must send a signed request object.")


def unverified(request: UncheckedRequest, name: str) -> str | None:
    """Return a member of a refused request object without verifying its signature.

    Only for where and how the refusal is sent: a client may state `redirect_uri`, `state` and `response_mode` in its object
    alone, and the caller that sends the browser here could state them beside it as well.
    """
    if request.problem is None:
        return None
    text = request.object_text or request.values.get("request", "")
    try:
        value = jwts.unverified_claims(text, PROFILE).get(name)
    except JwtNotAccepted:
        return None
    return value if isinstance(value, str) and not has_control_character(value) else None


def _text(request: UncheckedRequest) -> str | None:
    """Return the request object; None for a request without one."""
    text, address = request.values.get("request"), request.values.get("request_uri")
    if request.is_push and address is not None:
        raise RefusedByRedirect("invalid_request", "A pushed request has no request_uri (RFC 9126 section 2.1).")
    _demand(request.client, is_pushed=request.is_push, is_signed=text is not None or address is not None)
    if text is not None and address is not None:
        raise RefusedByRedirect("invalid_request", "Send request or request_uri, not both.")
    return text if address is None else _fetched(request, address)


def _fetched(request: UncheckedRequest, address: str) -> str:
    """Return the object at a registered address (RFC 9101 section 5.2), whose fragment is part of its name alone (decision 0359)."""
    registered = request.client.settings.request_uris
    if not registered:
        raise RefusedByRedirect("request_uri_not_supported", "This client has no registered request_uris.")
    if address not in registered:
        raise RefusedByRedirect("invalid_request_uri", "The request_uri is not registered for this client.")
    request.context.work.release_connection()
    resolver = request.context.services.provider_metadata.resolver
    location = address.partition("#")[0]
    try:
        content = outbound_http.get_content(resolver, location, _ACCEPT, is_untrusted=request.client.is_self_registered)
        text = content.decode("ascii")
    except (ProviderUnavailable, UnicodeDecodeError):
        raise RefusedByRedirect("invalid_request_uri", "The request_uri answers no request object.") from None
    return text.strip()


def _parameters(request: UncheckedRequest, text: str) -> dict[str, str]:
    """Verify the object and return its parameters (RFC 9101 sections 4, 6.2 and 6.3)."""
    client = request.client
    if not client_keys.has_keys(client):
        raise RefusedByRedirect("request_not_supported", "This client has no registered key for request objects.")
    if len(text) > PROFILE.max_length:
        raise _invalid("is too long")
    chosen = client.settings.request_object_signing_alg
    algorithms = (chosen,) if chosen is not None else client_keys.algorithms(client)
    try:
        profile = replace(PROFILE, algorithms=algorithms)
        claims = dict(jwts.read_jwt(text, client_keys.keys_of_client(request.context, client), profile).claims)
    except (SignatureRefused, ProviderUnavailable):
        raise _invalid("is not signed by this client") from None
    except TypeRefused:
        raise _invalid("is another kind of token") from None
    _check_claims(request, claims)
    stated = {name: _as_text(value) for name, value in claims.items() if name not in _OF_THE_JWT and value is not None}
    return {name: text for name, text in stated.items() if not has_control_character(name + text)}


def _check_claims(request: UncheckedRequest, claims: dict[str, Any]) -> None:
    """Check the object's claims about itself, if present; refuse an id_token or a client assertion (section 10.8)."""
    client_id, times = request.client.client_id, PROFILE.times(claims, request.context.now)
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    checks = {
        "client_id": claims.get("client_id", client_id) == client_id,
        "iss": claims.get("iss", client_id) == client_id,
        "sub": claims.get("sub") != client_id,
        "aud": audience is None
        or any(
            issuers.is_issuer_of(request.context, item, request.client) for item in audiences if isinstance(item, str)
        ),
        "exp": times["exp"],
        "nbf": times["nbf"],
        "iat": times["iat"],
        "request": not {"request", "request_uri"} & claims.keys(),
    }
    if wrong := [name for name, is_good in checks.items() if not is_good]:
        raise _invalid(f"has a wrong {wrong[0]}")
    if request.client.settings.is_fapi:
        _check_message(claims, request.context.now.timestamp())


def _check_message(claims: Mapping[str, Any], now: float) -> None:
    """Check that a FAPI application's object names this server and is of this hour (FAPI 2.0 Message Signing section 5.3.1)."""
    for name in ("aud", "exp", "nbf"):
        if claims.get(name) is None:
            raise _invalid(f"has no {name}")
    if now - claims["nbf"] > MESSAGE_SECONDS:
        raise _invalid("has a wrong nbf: it is more than 60 minutes ago")
    if not 0 < claims["exp"] - claims["nbf"] <= MESSAGE_SECONDS:
        raise _invalid("has a wrong exp: it is not within 60 minutes after nbf")


def _as_text(value: Any) -> str:
    """Return a parameter as the query would spell it: `claims` and other objects as JSON, a list of one text as the text.

    `resource` may be such a list (RFC 8707 section 2).
    """
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    return value if isinstance(value, str) else json.dumps(value)


def _invalid(what: str) -> RefusedByRedirect:
    return RefusedByRedirect("invalid_request_object", f"The request object {what}.")
