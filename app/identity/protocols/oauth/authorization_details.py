"""Rich authorization requests (RFC 9396): requested permissions in structured form, checked against the tenant's types."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from app.contract.oauth.authorization_details import COMMON_FIELDS, MAX_LENGTH, AuthorizationDetailsType, StatedDetails
from app.contract.oauth.models import DetailLine, DetailView
from app.contract.oauth.oauth_errors import InvalidAuthorizationDetails
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import TokenClaims
from app.kit.text import strict_json

_MAX_OBJECTS, _MAX_VALUES, _DEEPEST, _MAX_NAME_LENGTH = 10, 100, 5, 60
_JOINERS: Final = frozenset(
    "\u200c\u200d"
)  # of Persian, Indic scripts and emoji; other invisible characters could mislead

Detail = dict[str, Any]


def parse(context: Context, client: Application, text: str) -> tuple[Detail, ...]:
    """Return the details of an authorization request (RFC 9396 sections 2 and 5).

    Raises:
        InvalidAuthorizationDetails: malformed, too large, of a type that the client may not use, or with unknown or missing fields.
    """
    details = _array(text)
    for detail in details:
        _check(context.tenant.settings.authorization_details_types, client, detail)
    return tuple(details)


def narrow(granted: Sequence[Detail], narrower: StatedDetails | None) -> tuple[Detail, ...]:
    """Return the granted details that a token request selects; each must equal a granted object (RFC 9396 section 6.1).

    Raises:
        InvalidAuthorizationDetails: malformed, or more than was granted.
    """
    if narrower is None:
        return tuple(granted)
    chosen = _array(narrower if isinstance(narrower, str) else _as_text(narrower))
    if any(detail not in granted for detail in chosen):
        raise InvalidAuthorizationDetails("The authorization_details exceed what was granted.")
    return tuple(chosen)


def claimed(
    context: Context,
    client: Application,
    claims: TokenClaims,
    granted: Sequence[Detail],
    narrower: StatedDetails | None = None,
) -> TokenClaims:
    """Return the claims with the granted details, as far as the client may (still) use their types and the token request selects
    them; unchanged without any.
    """
    if not granted and narrower is None:
        return claims
    types = supported(context, client)
    chosen = narrow([item for item in granted if item["type"] in types], narrower)
    return replace(claims, authorization_details=chosen, granted_details=tuple(granted))


def supported(context: Context, client: Application | None = None) -> tuple[str, ...]:
    """Return the types that the tenant declares, or those that a client may use (RFC 9396 section 10)."""
    declared = context.tenant.settings.authorization_details_types
    return tuple(name for name in declared if client is None or name in client.settings.authorization_details_types)


def views(context: Context, details: Iterable[Detail]) -> list[DetailView]:
    """Return the details as the consent page shows them: every value is there."""
    declared = context.tenant.settings.authorization_details_types
    return [_view(declared.get(detail["type"]) or AuthorizationDetailsType(), detail) for detail in details]


def _view(declared: AuthorizationDetailsType, detail: Detail) -> DetailView:
    lines = [
        DetailLine(
            name=name, label=declared.fields[name].label if name in declared.fields else {}, values=list(_texts(value))
        )
        for name, value in detail.items()
        if name != "type"
    ]
    return DetailView(type=detail["type"], title=declared.title, lines=lines)


def _texts(value: Any, path: str = "") -> Iterator[str]:
    """Return a value as lines: `amount: 12.50` for the members of an object, one line for each entry of a list."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _texts(member, f"{path}{' › ' if path else ''}{name}")
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry, path)
    else:
        shown = value if isinstance(value, str) else json.dumps(value)
        yield f"{path}: {shown}" if path else shown


def _array(text: str) -> list[Detail]:
    try:
        details = strict_json.loads(text, max_length=MAX_LENGTH)
    except ValueError:
        details = None
    is_list = isinstance(details, list) and 0 < len(details) <= _MAX_OBJECTS
    if not is_list or not all(isinstance(item, dict) and isinstance(item.get("type"), str) for item in details or ()):
        raise InvalidAuthorizationDetails
    for detail in details or ():
        _bound(detail)
    return list(details or ())


def _check(declared: Mapping[str, AuthorizationDetailsType], client: Application, detail: Detail) -> None:
    """Check one object (RFC 9396 section 5)."""
    name = detail["type"]
    if name not in declared or name not in client.settings.authorization_details_types:
        raise InvalidAuthorizationDetails("A type of the authorization_details is not registered for this client.")
    fields = declared[name].fields
    if not detail.keys() <= {"type", *COMMON_FIELDS, *fields}:
        raise InvalidAuthorizationDetails("The authorization_details have an unknown field.")
    if any(field.required and detail.get(element) in (None, "", [], {}) for element, field in fields.items()):
        raise InvalidAuthorizationDetails("The authorization_details lack a required field.")
    for item in COMMON_FIELDS:
        value = detail.get(item, "" if item == "identifier" else [])
        is_texts = isinstance(value, list) and all(isinstance(entry, str) for entry in value)
        if not (isinstance(value, str) if item == "identifier" else is_texts):
            raise InvalidAuthorizationDetails("The authorization_details have a field of the wrong type.")


def _bound(detail: Detail) -> None:
    """Refuse objects that are too deep or too large, and invisible characters."""
    waiting: list[tuple[Any, int]] = [(detail, 1)]
    count = 0
    while waiting:
        value, depth = waiting.pop()
        count += 1
        if count > _MAX_VALUES or depth > _DEEPEST:
            raise InvalidAuthorizationDetails("The authorization_details are too large.")
        if isinstance(value, dict):
            if any(len(name) > _MAX_NAME_LENGTH or not _is_visible(name) for name in value):
                raise InvalidAuthorizationDetails
            waiting += [(member, depth + 1) for member in value.values()]
        elif isinstance(value, list):
            waiting += [(entry, depth + 1) for entry in value]
        elif isinstance(value, str) and not _is_visible(value):
            raise InvalidAuthorizationDetails


def _is_visible(text: str) -> bool:
    return all(letter.isprintable() or letter in _JOINERS for letter in text)


def _as_text(narrower: list[Detail]) -> str:
    return json.dumps(narrower, ensure_ascii=False)
