"""Asks a provider whether it issued an access token, which an app presents, to the tenant's client.

An access token alone does not authenticate: any other app's token for the same person would sign in (RFC 9700 section 4.10.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.federation.connections import ConnectionSettings
from app.contract.federation.native_sign_in_operations import Kind
from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.findings import checking
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit.outbound.host_resolver import Resolver

_FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}


def issued_subject(
    resolver: Resolver, kind: Kind, settings: ConnectionSettings, secret: str, access_token: str
) -> str | None:
    """Return the subject of an access token of the tenant's client; None where the provider does not name it here.

    Raises ProviderUnavailable: it was issued to another client, is not valid, or the provider does not respond.
    """
    address = settings.introspection_endpoint
    with checking(ConnectionCheck.INTROSPECTION, access_token, secret):
        if not address or kind not in _READERS:
            text = "it does not tell whose client an access token is for"
            raise ProviderUnavailable(text, expected="introspection_endpoint, and a provider that has one")
        is_ours, subject = _READERS[kind](resolver, address, settings.key, secret, access_token)
        if not is_ours:
            text = "the access token is not for this client"
            expected = f"a valid token of client {settings.key}"
            raise ProviderUnavailable(
                text, error="invalid_token", expected=expected, received="a token that is invalid, or another client’s"
            )
        return subject


Verdict = tuple[bool, str | None]


def _google(resolver: Resolver, address: str, client_id: str, _secret: str, access_token: str) -> Verdict:
    """Ask Google's `tokeninfo`, which answers 400 for a token that is not valid."""
    facts = _post(resolver, address, {"access_token": access_token})
    subject = facts.get("sub")
    return facts.get("aud") == client_id, str(subject) if subject else None


def _facebook(resolver: Resolver, address: str, client_id: str, secret: str, access_token: str) -> Verdict:
    """Ask Facebook's `debug_token` as the app itself."""
    query = urlencode({"input_token": access_token, "access_token": f"{client_id}|{secret}"})
    separator = "&" if urlsplit(address).query else "?"
    facts = outbound_http.get_json_object(resolver, f"{address}{separator}{query}").get("data")
    facts = facts if isinstance(facts, dict) else {}
    is_ours = str(facts.get("app_id")) == client_id and facts.get("is_valid") is True
    return is_ours, str(facts.get("user_id"))


def _linkedin(resolver: Resolver, address: str, client_id: str, secret: str, access_token: str) -> Verdict:
    """Ask LinkedIn's `introspectToken`, which does not name the member."""
    credentials = {"client_id": client_id, "client_secret": secret}
    facts = _post(resolver, address, {**credentials, "token": access_token})
    return facts.get("active") is True and facts.get("client_id") == client_id, None


_READERS: Final = {"google": _google, "facebook": _facebook, "linkedin": _linkedin}


def _post(resolver: Resolver, address: str, form: Mapping[str, str]) -> dict[str, Any]:
    content = urlencode(form).encode()
    members: dict[str, Any] = outbound_http.request_json(resolver, "POST", address, _FORM, content)
    return members
