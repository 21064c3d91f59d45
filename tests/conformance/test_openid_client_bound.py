"""openid-client with DPoP: pushed request, code, refresh and userinfo, with the nonces that it is asked for."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.provider import Provider
from tests.conformance.test_openid_client import run
from tests.conformance.visitor import Visitor

SCRIPT = Path(__file__).with_name("openid_client_bound.mjs")


def test_public_openid_client_binds_its_tokens(hub_url: str, visitor: Visitor) -> None:
    """(RFC 9449 sections 5, 7, 8, 9 and 10.1)"""
    report = run(Provider(hub_url, "watch", None), visitor, SCRIPT)
    assert report["types"] == ["dpop", "dpop", None]
    assert report["query"] == ["client_id", "request_uri"]
    assert (report["email"], report["is_same_person"], report["is_rotated"]) == ("ada@example.com", True, True)
    assert report["nonces"] == ["/api/oidc/par"], "one is enough: each response names the next one"
    assert report["refusal"] == "invalid_token", "it is no bearer token"
