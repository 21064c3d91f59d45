"""X, formerly Twitter: an access token of OAuth 1.0a (RFC 5849), verified by a request that the tenant's consumer key signs."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import parse_qsl, quote, urlsplit

from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.federation.connections import ConnectionSettings
from app.identity.directory.identity_provider import ProviderIdentity, identity_from_claims
from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit import randomness
from app.kit.outbound.host_resolver import Resolver


def read_identity(
    resolver: Resolver,
    name: str,
    settings: ConnectionSettings,
    consumer: tuple[str, str],
    token: tuple[str, str],
    now: datetime,
) -> ProviderIdentity:
    """Return the identity of an access token and its secret.

    X refuses a token under another consumer key than it was issued to. It names an address only if it verified it.

    Raises ProviderUnavailable.
    """
    if not consumer[1]:
        text = "without a consumer secret no request can be signed"
        raise ProviderUnavailable(
            text, check=ConnectionCheck.CONFIGURATION, expected="consumer_secret", received="none"
        )
    address = settings.userinfo_endpoint or ""
    headers = {"Authorization": _authorization(address, consumer, token, now)}
    claims = outbound_http.request_json(resolver, "GET", address, headers)
    is_verified = bool(claims.get(settings.names["email"]))
    return identity_from_claims(name, settings.names, {**claims, settings.names["email_verified"]: is_verified})


def _authorization(address: str, consumer: tuple[str, str], token: tuple[str, str], now: datetime) -> str:
    """Return the header of a GET that is signed by HMAC-SHA1 (RFC 5849 sections 3.4.2 and 3.5.1)."""
    from authlib.oauth1.rfc5849.signature import construct_base_string, hmac_sha1_signature

    parameters = {
        "oauth_consumer_key": consumer[0],
        "oauth_nonce": randomness.token(16),
        "oauth_signature_method": "HMAC-SHA1",
        "oauth_timestamp": str(int(now.timestamp())),
        "oauth_token": token[0],
        "oauth_version": "1.0",
    }
    query = parse_qsl(urlsplit(address).query, keep_blank_values=True)
    base = construct_base_string("GET", address, [*query, *parameters.items()])
    signed = {**parameters, "oauth_signature": hmac_sha1_signature(base, consumer[1], token[1])}
    return "OAuth " + ", ".join(f'{name}="{quote(text, safe="~")}"' for name, text in signed.items())
