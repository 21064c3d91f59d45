"""openid-client registers itself, signs in, and manages its registration (RFC 7591 section 3.1, RFC 7592 section 2)."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.openid_client.program import run
from tests.conformance.provider import ConformanceProvider
from tests.conformance.visitor import ConformanceVisitor

SCRIPT = Path(__file__).with_name("openid_client_registered.mjs")


def test_openid_client_registers_signs_in_and_leaves(hub_url: str, visitor: ConformanceVisitor) -> None:
    issuer = hub_url.replace("//conformance.", "//registering.")
    report = run(ConformanceProvider(issuer, "", None), visitor, SCRIPT)
    assert report["statuses"] == [200, 201], "discovery, then the registration"
    assert report["aud"] == report["client_id"]
    assert report["email"] == "ada@example.com"
    assert report["names"] == ["Registered", "Renamed"]
    assert (report["former"], report["deleted"], report["after"]) == (401, 204, 401)
