"""openid-client for Node, certified by the OpenID Foundation, gets only issuer, id and secret."""

from __future__ import annotations

from tests.conformance.openid_client.program import run
from tests.conformance.provider import BYE, ConformanceProvider
from tests.conformance.visitor import ConformanceVisitor


def test_openid_client_completes_the_whole_flow(provider: ConformanceProvider, visitor: ConformanceVisitor) -> None:
    report = run(provider, visitor)
    assert report["claims"]["iss"] == provider.issuer
    assert report["claims"]["aud"] == provider.client_id
    assert report["person"]["email"] == "ada@example.com"
    assert report["person"]["given_name"] == "Ada"
    assert report["is_pushed"]
    assert report["decided"].endswith("state=allowed")
    assert report["by_push"] == report["of_device"] == report["claims"]["sub"]
    assert report["is_rotated"]
    assert report["is_revoked"]
    assert report["ended"] == f"{BYE}?state=bye%20now"
    assert report["silent_error"] == "login_required"
    if provider.secret:
        assert report["introspection"]["active"]
        assert report["introspection"]["sub"] == report["claims"]["sub"]
