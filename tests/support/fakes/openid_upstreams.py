"""Providers by OpenID Connect: what each documents in another way than the standard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey

from tests.support.fakes.identity_provider import CLIENT, FakeProvider

DIRECTORY = "72f988bf-86f1-41af-91ab-2d7cd011db47"
APPLE = {"team_id": "DEF123GHIJ", "key_identifier": "ABC123DEFG"}


@dataclass(frozen=True)
class OpenIdUpstream:
    """One provider.

    Attributes:
        documentation: the page that says so.
        settings: of the product's connection.
        claims: of its ID tokens, beside or instead of the standard ones; None removes one.
        asks: parameters that the authorization request must have; None: that it must not have.
        has_pkce: whether it documents PKCE.
    """

    name: str
    documentation: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    claims: Mapping[str, Any] = field(default_factory=dict)
    asks: Mapping[str, str | None] = field(default_factory=dict)
    has_pkce: bool = True
    verifies_email: bool = True

    def start(self, provider: FakeProvider) -> dict[str, Any]:
        """Let the fake provider answer so, and return the product's connection to it."""
        provider.needs_pkce, provider.claims = self.has_pkce, dict(self.claims)
        provider.metadata = {"authorization_response_iss_parameter_supported": None}
        return {"preset": self.name, "key": CLIENT, "issuer": provider.url, **self.settings}

    def signs_in(self, provider: FakeProvider, address: str, **who: Any) -> dict[str, str]:
        """Check the authorization request, sign in, and return the parameters of the callback."""
        asked = dict(parse_qsl(urlsplit(address).query))
        assert {name: asked.get(name) for name in self.asks} == dict(self.asks)
        back = provider.signs_in(address, **who)
        return {name: value for name, value in back.items() if name != "iss"}


OPENID_UPSTREAMS = {
    item.name: item
    for item in (
        OpenIdUpstream("google", "https://developers.google.com/identity/openid-connect/openid-connect"),
        OpenIdUpstream(
            "live",
            "https://learn.microsoft.com/en-us/entra/identity-platform/id-token-claims-reference",
            claims={"tid": DIRECTORY, "email_verified": None, "ver": "2.0"},
            verifies_email=False,
        ),
        OpenIdUpstream(
            "linkedin",
            "https://learn.microsoft.com/en-us/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2",
            claims={"nonce": None, "at_hash": None},
            asks={"nonce": None, "code_challenge": None},
            has_pkce=False,
        ),
        OpenIdUpstream(
            "apple",
            "https://developer.apple.com/documentation/signinwithapplerestapi/authenticating-users-with-sign-in-with-apple",
            settings={"apple": APPLE},
            claims={"email_verified": "true", "name": None, "given_name": None, "family_name": None, "picture": None},
            asks={"response_mode": "form_post", "scope": "openid name email", "login_hint": None, "code_challenge": None},
            has_pkce=False,
        ),
        OpenIdUpstream("yahoo", "https://developer.yahoo.com/oauth2/guide/openid_connect/getting_started.html"),
        OpenIdUpstream(
            "salesforce",
            "https://help.salesforce.com/s/articleView?id=xcloud.remoteaccess_using_openid.htm",
            claims={"sub": "https://login.salesforce.com/id/00D/005", "picture": None},
        ),
    )
}  # fmt: skip


def client_secret_claims(text: str, private_key: str) -> dict[str, Any]:
    """Return the claims of Apple's client secret, which the key must have signed."""
    token = jwt.decode(text, ECKey.import_key(private_key), algorithms=["ES256"])
    assert (token.header["alg"], token.header["kid"]) == ("ES256", APPLE["key_identifier"])
    return dict(token.claims)
