"""Programs of other libraries that authenticate with a signed JWT (RFC 7523, OpenID Connect Core section 9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oauth2.rfc7523 import ClientSecretJWT, PrivateKeyJWT

from tests.conformance.openid_client.program import run
from tests.conformance.provider import SIGNING_SECRET, ConformanceProvider
from tests.conformance.visitor import ConformanceVisitor
from tests.support.oauth.signed_requests import client_key

SCRIPT = Path(__file__).with_name("openid_client_assertions.mjs")
PLACES = ("tenant-wide", "own issuer")


def issuer_of(hub_url: str, place: str, client_id: str) -> str:
    return hub_url if place == "tenant-wide" else f"{hub_url}/service/oidc/{client_id}"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("client_id", ["keeper", "clerk"])
def test_openid_client_authenticates_by_signature(
    hub_url: str, visitor: ConformanceVisitor, client_id: str, place: str
) -> None:
    key = client_key("ES256", "bank").as_dict(private=True) if client_id == "keeper" else None
    provider = ConformanceProvider(
        issuer_of(hub_url, place, client_id), client_id, SIGNING_SECRET if key is None else None
    )
    report = run(provider, visitor, SCRIPT, key=key)
    assert report == {
        "query": ["client_id", "request_uri"],
        "client_id": client_id,
        "active": [True, False],
    }


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("client_id", ["keeper", "clerk"])
def test_authlib_authenticates_by_signature(hub_url: str, client_id: str, place: str) -> None:
    """As in docs/connect-your-app.md: Authlib names the token endpoint as `aud`."""
    address = f"{issuer_of(hub_url, place, client_id)}/.well-known/openid-configuration"
    token_endpoint = httpx.get(address).json()["token_endpoint"]
    is_keeper = client_id == "keeper"
    secret: Any = client_key("ES256", "bank") if is_keeper else SIGNING_SECRET
    kind = PrivateKeyJWT(token_endpoint, alg="ES256") if is_keeper else ClientSecretJWT(token_endpoint)
    with OAuth2Client(client_id, secret, token_endpoint_auth_method=kind) as client:
        token = client.fetch_token(token_endpoint, grant_type="client_credentials")
    assert token["access_token"]
    assert token["token_type"] == "Bearer"
