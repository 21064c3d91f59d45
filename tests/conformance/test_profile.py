"""The hub as a relying party of its own issuer: its profile page signs in through it, and finishes the redirect itself."""

from tests.conformance.visitor import Visitor


def test_profile_page_signs_in_by_authorization_code(hub_url: str, visitor: Visitor) -> None:
    back = visitor.arrive(f"{hub_url}/profile", f"{hub_url}/callback/profile")
    assert "code=" in back
    assert "iss=" in back
    assert visitor.arrive(back, f"{hub_url}/profile") == f"{hub_url}/profile"
