"""openid-client verifies id_tokens, userinfo and introspection responses by other algorithms than RS256.

(OpenID Connect Core section 5.3.2) (RFC 9701 section 5)
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.openid_client.program import run
from tests.conformance.provider import SECRET, ConformanceProvider
from tests.conformance.visitor import ConformanceVisitor

SCRIPT = Path(__file__).with_name("openid_client_signed.mjs")


@pytest.mark.parametrize("algorithm", ["PS256", "ES256", "EdDSA"])
def test_openid_client_verifies_every_signature(hub_url: str, visitor: ConformanceVisitor, algorithm: str) -> None:
    """The application of each algorithm has pairwise subjects."""
    report = run(ConformanceProvider(hub_url, algorithm.lower(), SECRET), visitor, SCRIPT, algorithm=algorithm)
    assert report["header"]["alg"] == algorithm
    assert report["person"]["email"] == "ada@example.com"
    subject = report["claims"]["sub"]
    assert report["person"]["sub"] == report["introspection"]["sub"] == subject
    assert len(subject) == 64, "pairwise"
    assert report["seen"]["userinfo"].startswith("application/jwt")
    assert report["seen"]["introspect"].startswith("application/token-introspection+jwt")
