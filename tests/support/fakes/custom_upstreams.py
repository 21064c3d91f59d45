"""Providers that a tenant sets up itself, which follow the standards and nothing else."""

from __future__ import annotations

from typing import Any

from tests.support.fakes.identity_provider import CLIENT
from tests.support.fakes.openid_upstreams import OpenIdUpstream
from tests.support.fakes.social_upstreams import SocialUpstream

CUSTOM_OPENID = OpenIdUpstream("custom-openid", "https://openid.net/specs/openid-connect-core-1_0.html")


class CustomOAuthUpstream(SocialUpstream):
    """A provider by OAuth 2.0 with a profile of its own."""

    name = "custom-oauth"
    documentation = ("https://www.rfc-editor.org/rfc/rfc6749", "https://www.rfc-editor.org/rfc/rfc7636")
    authorize, token_path, profile_path = "/oauth/authorize", "/oauth/token", "/me"
    scopes, has_pkce, verifies_email = "profile", True, True

    def connection(self, **settings: Any) -> dict[str, Any]:
        claims = {"subject": "id", "email": "mail", "email_verified": "mail_verified", "full_name": "name"}
        addresses = {"authorization": self.authorize, "token": self.token_path, "userinfo": self.profile_path}
        endpoints = {f"{name}_endpoint": f"{self.provider.url}{path}" for name, path in addresses.items()}
        return {"key": CLIENT, "scope": self.scopes, "claims": claims, **endpoints, **settings}

    def profile(self, who: dict[str, Any]) -> dict[str, Any]:
        return {"id": who["id"], "mail": who["email"], "mail_verified": who["verified"], "name": who["name"]}
