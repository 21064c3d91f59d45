"""claims: single claims for the id_token or the userinfo answer (OpenID Connect Core section 5.5).

Claims that are not known are left out, as the standard wants; so is whatever the client's scopes do not cover.
"""

import json
from typing import Any

from app.identity.protocols.oauth import claims as known
from app.identity.protocols.oauth.authorize import acr_values
from app.identity.protocols.oauth.authorize.request import Asked, Redirected

_LONGEST = 4_000


def check(asked: Asked) -> None:
    text = asked.values.get("claims")
    if text is None:
        return
    wanted = _read(text)
    allowed = known.names(asked.client.scopes)
    for place, kept in (("userinfo", "userinfo_claims"), ("id_token", "id_token_claims")):
        asked.kept[kept] = tuple(name for name in wanted.get(place) or () if name in allowed)
    _demand_acr(asked, (wanted.get("id_token") or {}).get("acr"))
    subject = ((wanted.get("id_token") or {}).get("sub") or {}).get("value")
    if subject is None:
        return
    if not isinstance(subject, str) or asked.kept.get("subject", subject) != subject:
        raise _refusal()
    asked.kept["subject"] = subject


def _demand_acr(asked: Asked, wanted: dict[str, Any] | None) -> None:
    """Read an essential `acr`: one `value`, or one of `values` (section 5.5.1.1)."""
    if not wanted or wanted.get("essential") is not True:
        return
    values = wanted.get("values", [wanted["value"]] if "value" in wanted else [])
    if not isinstance(values, list) or not all(isinstance(name, str) for name in values):
        raise _refusal()
    if values:
        acr_values.demand(asked, values)


def _read(text: str) -> dict[str, Any]:
    """Return the parameter's object of objects."""
    try:
        wanted = json.loads(text) if len(text) <= _LONGEST else None
    except (ValueError, RecursionError):
        raise _refusal() from None
    if not isinstance(wanted, dict):
        raise _refusal()
    for place in ("userinfo", "id_token"):
        members = wanted.get(place) or {}
        if not isinstance(members, dict) or not all(
            value is None or isinstance(value, dict) for value in members.values()
        ):
            raise _refusal()
    return wanted


def _refusal() -> Redirected:
    return Redirected("invalid_request", "The claims parameter is not valid.")
