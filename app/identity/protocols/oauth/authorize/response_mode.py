"""response_mode: how the response reaches the client (OAuth 2.0 Multiple Response Types section 2.1, Form Post Response Mode, JARM).

Tokens never stand in a query: the default of the types that bring some is the fragment, and they refuse the query (section 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from app.contract import oauth_response_types as types
from app.identity.protocols.oauth.authorize import request_object
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

QUERY, FRAGMENT, FORM_POST = "query", "fragment", "form_post"
JWT = "jwt"
"""The signed form of the default mode (JARM section 2.3.4); a request with it is stored with the mode that it means."""


class Mode(NamedTuple):
    """The part of the response that carries the parameters, and whether it carries them as one signed JWT (JARM section 2.3)."""

    carrier: str
    is_signed: bool


MODES: Mapping[str, Mode] = {
    QUERY: Mode(QUERY, is_signed=False),
    FRAGMENT: Mode(FRAGMENT, is_signed=False),
    FORM_POST: Mode(FORM_POST, is_signed=False),
    "query.jwt": Mode(QUERY, is_signed=True),
    "fragment.jwt": Mode(FRAGMENT, is_signed=True),
    "form_post.jwt": Mode(FORM_POST, is_signed=True),
}
SUPPORTED = (*MODES, JWT)


def check(request: UncheckedRequest) -> None:
    response_type = _value_of(request, "response_type") or ""
    is_front_channel = types.is_front_channel(response_type)
    default = FRAGMENT if is_front_channel else QUERY
    request.accepted["response_mode"] = default  # of a refusal below
    mode = _value_of(request, "response_mode") or default
    if mode == JWT:
        mode = f"{default}.jwt"
    if mode not in MODES:
        raise RefusedByRedirect("invalid_request", "The response_mode is not valid.")
    if is_front_channel and MODES[mode].carrier == QUERY:
        if MODES[mode].is_signed:
            request.accepted["response_mode"] = f"{FRAGMENT}.jwt"
        raise RefusedByRedirect("invalid_request", "Tokens can't be returned in the query.")
    request.accepted["response_mode"] = mode


def _value_of(request: UncheckedRequest, name: str) -> str | None:
    return request.values.get(name) or request_object.unverified(request, name)
