"""claims: single claims for the id_token or the userinfo response (OpenID Connect Core section 5.5).

Unknown claims and members are ignored, as sections 5.5 and 5.5.1 require; so are claims that the client's scopes do not cover. A claim
that is asked for with a value is in the response with that value, or not at all, essential or not: section 5.5.1 allows no
error for it. `sub` and `acr` are the exceptions (sections 3.1.2.2 and 5.5.1.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from app.identity.platform.context import NO_ACCOUNT
from app.identity.protocols.oauth.authorize.openid_parameters import acr_values
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest
from app.identity.protocols.oauth.claims import account_claims, requested_values, subjects
from app.kit.text import strict_json

_MAX_LENGTH: Final = 4_000
_DEEPEST: Final = 8
"""`address` with a value needs five levels."""
_PLACES: Final = ("userinfo", "id_token")


@dataclass(frozen=True)
class ClaimRequest:
    """How one claim is asked for; `values`: one of these, the most preferred first; None for any."""

    values: list[Any] | None = None
    is_essential: bool = False


def check(request: UncheckedRequest) -> None:
    text = request.values.get("claims")
    if text is None:
        return
    requested = _parse(text)
    allowed = account_claims.names(request.client.scopes)
    for place in _PLACES:
        found = {name: item for name, item in requested[place].items() if name in allowed}
        request.accepted[f"{place}_claims"] = tuple(found)
        values = {name: item.values for name, item in found.items() if item.values is not None}
        request.accepted[f"{place}_values"] = values
    _read_acr(request, requested["id_token"].get("acr", ClaimRequest()))
    for place in _PLACES:
        _read_subject(request, requested[place].get("sub", ClaimRequest()).values)


def _read_subject(request: UncheckedRequest, requested_subjects: list[Any] | None) -> None:
    """Accept the accounts of which one must be signed in: the `sub` values, as the client knows them (section 3.1.2.2).

    They are those that the other member and `id_token_hint` name too; there must be one.
    """
    if requested_subjects is None:
        return
    if not all(isinstance(item, str) for item in requested_subjects):
        raise _refusal()
    known_here = [subjects.uid_of(request.context, request.client, item) or NO_ACCOUNT for item in requested_subjects]
    named = (request.accepted.get("subject"), *request.accepted.get("other_subjects", ()))
    uids = [uid for uid in dict.fromkeys(known_here) if named[0] is None or uid in named]
    if not uids:
        raise _refusal()
    request.accepted["subject"], *others = uids
    request.accepted["other_subjects"] = tuple(others)


def _read_acr(request: UncheckedRequest, acr: ClaimRequest) -> None:
    """Accept a request for one of the values of `acr` (section 5.5.1.1).

    An essential value must be met. A voluntary value need not, as in `acr_values`, which takes precedence.
    """
    values = acr.values or []
    if not all(isinstance(name, str) for name in values):
        raise _refusal()
    if acr.values is not None and acr.is_essential:
        acr_values.demand(request, values)  # none, or two members that exclude each other, can never be met
    elif values and "acr_values" not in request.values:
        acr_values.prefer(request, values)


def _parse(text: str) -> dict[str, dict[str, ClaimRequest]]:
    try:
        requested = strict_json.loads(text, max_length=_MAX_LENGTH, deepest=_DEEPEST)
    except ValueError:
        raise _refusal() from None
    members = {name: requested.get(name) or {} for name in _PLACES} if isinstance(requested, dict) else {}
    if not members or not all(isinstance(claims, dict) for claims in members.values()):
        raise _refusal()
    return {place: {name: _one(member) for name, member in claims.items()} for place, claims in members.items()}


def _one(member: Any) -> ClaimRequest:
    """Return the request for one claim: null, or an object of `essential`, `value` and `values` (section 5.5.1)."""
    if member is None:
        return ClaimRequest()
    if not isinstance(member, dict):
        raise _refusal()
    value, values, essential = member.get("value"), member.get("values"), member.get("essential")
    if not isinstance(values, list | None) or not isinstance(essential, bool | None):
        raise _refusal()
    if value is not None:
        values = [value] if values is None or requested_values.is_among(value, values) else []
    return ClaimRequest(values, is_essential=essential is True)


def _refusal() -> RefusedByRedirect:
    return RefusedByRedirect("invalid_request", "The claims parameter is not valid.")
