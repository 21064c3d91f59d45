"""claims: single claims for the id_token or the userinfo response (OpenID Connect Core section 5.5).

Unknown claims are ignored, as section 5.5 requires; so are claims that the client's scopes do not cover.
"""

import json
from typing import Any

from app.identity.directory.accounts.identifiers import NOBODY
from app.identity.protocols.oauth import claims as known
from app.identity.protocols.oauth import subjects
from app.identity.protocols.oauth.authorize import acr_values
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

_MAX_LENGTH = 4_000


def check(request: UncheckedRequest) -> None:
    text = request.values.get("claims")
    if text is None:
        return
    requested = _parse(text)
    allowed = known.names(request.client.scopes)
    for member, field in (("userinfo", "userinfo_claims"), ("id_token", "id_token_claims")):
        request.accepted[field] = tuple(name for name in requested.get(member) or () if name in allowed)
    _read_acr(request, (requested.get("id_token") or {}).get("acr"))
    _read_subject(request, (requested.get("id_token") or {}).get("sub") or {})


def _read_subject(request: UncheckedRequest, sub: dict[str, Any]) -> None:
    """Accept the account that must be signed in: `sub` with one `value` (section 5.5.1), as the client knows it."""
    subject = sub.get("value")
    if subject is None:
        return
    if not isinstance(subject, str):
        raise _refusal()
    uid = subjects.uid_of(request.context, request.client, subject) or NOBODY
    if request.accepted.get("subject", uid) != uid:
        raise _refusal()
    request.accepted["subject"] = uid


def _read_acr(request: UncheckedRequest, acr: dict[str, Any] | None) -> None:
    """Accept a request for `acr` with one `value`, or one of `values` (section 5.5.1.1).

    An essential one is a demand. A voluntary one is a wish, as `acr_values` is, which counts where both are given.
    """
    values = (acr or {}).get("values", [acr["value"]] if acr and "value" in acr else [])
    if not isinstance(values, list) or not all(isinstance(name, str) for name in values):
        raise _refusal()
    if acr and values and acr.get("essential") is True:
        acr_values.demand(request, values)
    elif values and "acr_values" not in request.values:
        acr_values.prefer(request, values)


def _parse(text: str) -> dict[str, Any]:
    try:
        requested = json.loads(text) if len(text) <= _MAX_LENGTH else None
    except (ValueError, RecursionError):
        raise _refusal() from None
    if not isinstance(requested, dict):
        raise _refusal()
    for member in ("userinfo", "id_token"):
        claims = requested.get(member) or {}
        if not isinstance(claims, dict) or not all(
            value is None or isinstance(value, dict) for value in claims.values()
        ):
            raise _refusal()
    return requested


def _refusal() -> RefusedByRedirect:
    return RefusedByRedirect("invalid_request", "The claims parameter is not valid.")
