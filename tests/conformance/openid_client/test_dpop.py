"""openid-client with DPoP: pushed request, code, refresh and userinfo, with the nonces that it is asked for."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.openid_client.program import run
from tests.conformance.provider import ConformanceProvider
from tests.conformance.visitor import ConformanceVisitor
from tests.support.oauth.signed_requests import client_key

SCRIPT = Path(__file__).with_name("openid_client_bound.mjs")


def test_public_openid_client_binds_its_tokens(hub_url: str, visitor: ConformanceVisitor) -> None:
    """(RFC 9449 sections 5, 7, 8, 9 and 10.1)"""
    report = run(ConformanceProvider(hub_url, "watch", None), visitor, SCRIPT)
    assert report["types"] == ["dpop", "dpop", None]
    assert report["query"] == ["client_id", "request_uri"]
    assert (report["email"], report["is_same_person"], report["is_rotated"]) == ("ada@example.com", True, True)
    assert report["nonces"] == ["/api/oidc/par"], "one is enough: each response names the next one"
    assert report["refusal"] == "invalid_token", "it is no bearer token"


def test_openid_client_follows_the_fapi_profile(hub_url: str, visitor: ConformanceVisitor) -> None:
    """FAPI 2.0 Security Profile section 5.3.3: private_key_jwt, pushed request, DPoP, and a refresh token that stays."""
    key = client_key("ES256", "bank").as_dict(private=True)
    report = run(ConformanceProvider(hub_url, "bank", None), visitor, SCRIPT, key=key, algorithm="ES256", machine=True)
    assert report["types"] == ["dpop", "dpop", "dpop"]
    assert report["query"] == ["client_id", "request_uri"]
    assert (report["email"], report["is_same_person"], report["is_rotated"]) == ("ada@example.com", True, False)
    assert (report["iss"], report["alg"]) == (hub_url, "PS256")
    assert report["refusal"] == "invalid_token", "it is no bearer token"
