"""Reads the answers of providers that are not plain JSON, or that answer an error with the status 200."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from app.contract.federation.provider_presets import ProviderQuirks
from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.findings import error_name
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.outbound.unusable_answers import host_of
from app.kit.outbound.host_resolver import Resolver

_CALLBACK: Final = re.compile(rb"\s*callback\s*\((.*)\)\s*;?\s*", re.DOTALL)
_FORM: Final = re.compile(rb"[A-Za-z_]+=[^\s<>]*")


def with_query(address: str, query: Mapping[str, str]) -> str:
    """Return an address with further parameters."""
    return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(query)}" if query else address


def get_members(
    resolver: Resolver,
    address: str,
    quirks: ProviderQuirks,
    access_token: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Get an object, with `access_token` as bearer token and further headers. Raises ProviderUnavailable."""
    if not quirks.wraps_answers:
        sent = {**({"Authorization": f"Bearer {access_token}"} if access_token else {}), **(headers or {})}
        return _checked(outbound_http.request_json(resolver, "GET", address, sent), address, quirks)
    return _checked(_read(outbound_http.get_content(resolver, address, "application/json"), address), address, quirks)


def post_members(resolver: Resolver, address: str, form: Mapping[str, str], quirks: ProviderQuirks) -> dict[str, Any]:
    """Post a form and return the object of the answer. Raises ProviderUnavailable."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    members = outbound_http.request_json(resolver, "POST", address, headers, urlencode(form).encode())
    return _checked(members, address, quirks)


def _checked(members: dict[str, Any], address: str, quirks: ProviderQuirks) -> dict[str, Any]:
    """Return the members of an answer. Raises ProviderUnavailable if it is an error."""
    refusal = next((members[name] for name in quirks.error_names if members.get(name)), None)
    if refusal is not None:
        name = error_name(refusal)
        text = f"{host_of(address)} answered the error {name}"
        raise ProviderUnavailable(
            text, error=str(refusal)[:40], expected="an answer without an error", received=f"error: {name}"
        )
    return members


def _read(content: bytes, address: str) -> dict[str, Any]:
    """Return the object in JSON, in `callback(…);`, or in the form of a query."""
    if _FORM.fullmatch(content.strip()):
        return dict(parse_qsl(content.decode("ascii", "replace")))
    wrapped = _CALLBACK.fullmatch(content)
    members: dict[str, Any] = outbound_http.read_json(address, wrapped[1] if wrapped else content)
    return members
