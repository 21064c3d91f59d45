"""The hub is a relying party of its own issuer: its profile page signs in by the authorization code flow."""

from tests.conformance.visitor import ConformanceVisitor


def test_profile_page_signs_in_by_authorization_code(hub_url: str, visitor: ConformanceVisitor) -> None:
    callback_url = visitor.arrive(f"{hub_url}/profile", f"{hub_url}/callback/profile")
    assert "code=" in callback_url
    assert "iss=" in callback_url
    assert visitor.arrive(callback_url, f"{hub_url}/profile") == f"{hub_url}/profile"
