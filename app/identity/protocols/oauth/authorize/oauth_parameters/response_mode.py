"""response_mode: how the response reaches the client (OAuth 2.0 Multiple Response Types section 2.1, Form Post Response Mode, JARM).

Tokens never stand in a query: the default of the types that bring some is the fragment, and they refuse the query (section 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from app.contract.oauth import response_types
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.authorize import request_object
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect, UncheckedRequest

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
    is_front_channel = response_types.is_front_channel(response_type)
    default = FRAGMENT if is_front_channel else QUERY
    request.accepted["response_mode"] = of_refusals(request.client, default)
    mode = _meant(_value_of(request, "response_mode") or default, default)
    if mode not in MODES:
        raise RefusedByRedirect("invalid_request", "The response_mode is not valid.")
    if is_front_channel and MODES[mode].carrier == QUERY:
        if MODES[mode].is_signed:
            request.accepted["response_mode"] = f"{FRAGMENT}.jwt"
        raise RefusedByRedirect("invalid_request", "Tokens can't be returned in the query.")
    if not _is_registered(request.client, mode, default):
        if request.problem is None:  # else that is the refusal
            raise RefusedByRedirect("invalid_request", "The response_mode is not registered for this client.")
        return
    request.accepted["response_mode"] = mode


def still_holds(context: Context, client: Application, request: CheckedRequest) -> bool:
    """Return whether the client may still get its response in this mode."""
    del context
    return _is_registered(client, request.response_mode, MODES[request.response_mode].carrier)


def of_refusals(client: Application, default: str = QUERY) -> str:
    """Return the mode of a refusal while that of the request is unknown: a client that reads only signed responses gets it signed."""
    return f"{default}.jwt" if client.settings.needs_signed_responses else default


def _meant(mode: str, default: str) -> str:
    return f"{default}.jwt" if mode == JWT else mode


def _is_registered(client: Application, mode: str, default: str) -> bool:
    """Return whether the client may use a mode (FAPI 2.0 Message Signing section 5.3.3): without registered ones, all."""
    registered = client.settings.response_modes
    return not registered or mode in {_meant(item, default) for item in registered}


def _value_of(request: UncheckedRequest, name: str) -> str | None:
    return request.values.get(name) or request_object.unverified(request, name)
