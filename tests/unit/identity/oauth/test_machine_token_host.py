"""The host that an unverified machine token names."""

from base64 import urlsafe_b64encode

from app.identity.protocols.oauth.tokens import claimed_issuers


def test_deeply_nested_token_names_no_host() -> None:
    nested = urlsafe_b64encode(b"[" * 50_000 + b"]" * 50_000).decode().rstrip("=")
    assert claimed_issuers.claimed_host(f"e30.{nested}.x") == ""
