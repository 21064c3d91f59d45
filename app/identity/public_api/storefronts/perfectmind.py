"""PerfectMind (Xplor Recreation): find a site's contacts by the query operation of its API, version 2.0."""

from __future__ import annotations

import re
from typing import Any, Final

from pydantic_core import to_json

from app.identity.platform.outbound.outbound_http import ProviderUnavailable, request_json
from app.kit.outbound.host_resolver import Resolver

_QUERY: Final = "SELECT ID, Email FROM Custom.Contact WHERE Email = '{email}'"
_SAFE: Final = re.compile(r"[A-Za-z0-9.!#$%&*+/=?^_{|}~-]+@[A-Za-z0-9.-]+")
"""Addresses that fit into the query: the API has no parameters, and how it escapes an apostrophe is not documented."""


def contact_ids(resolver: Resolver, url: str, client_number: str, access_key: str, email: str) -> list[str]:
    """Return the ids of the contacts with this address; none if there are none. Raises ProviderUnavailable.

    Args:
        url: origin of the site.
    """
    if _SAFE.fullmatch(email) is None:
        raise ProviderUnavailable("the address has a character that a query cannot contain")
    headers = {"X-Client-Number": client_number, "X-Access-Key": access_key}
    query = to_json({"QueryString": _QUERY.format(email=email)})
    rows = request_json(resolver, "POST", f"{url}/api/2.0/B2C/Query", headers, query)
    if not isinstance(rows, list):
        raise ProviderUnavailable("the site answered no rows")
    return [str(row["ID"]) for row in rows if _has_email(row, email)]


def _has_email(row: Any, email: str) -> bool:
    return isinstance(row, dict) and str(row.get("Email")).lower() == email.lower() and bool(row.get("ID"))
