"""Providers that are not OpenID Connect, as their public documentation describes them: each refuses what the page doesn't have.

They are written from that documentation, whose address is beside each, and not from the product's data.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from app.contract.federation.connection_completion import preset_settings
from app.kit import randomness
from tests.support.fakes.identity_provider import CLIENT, SECRET, FakeProvider, ReceivedRequest, challenge_of

PERSON: dict[str, Any] = {
    "id": "1815", "name": "Ada Lovelace", "given": "Ada", "family": "Lovelace", "email": "ada@example.test", "verified": True,
    "picture": "https://pictures.example/ada.png",
}  # fmt: skip
PLACES = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "emails_endpoint", "introspection_endpoint")
Said = tuple[int, Any]


@dataclass(frozen=True)
class Grant:
    """What a code or an access token stands for."""

    person: dict[str, Any]
    requested: dict[str, str]


class SocialUpstream:
    """One provider. `connection` is the product's connection to it, with the hosts of the preset replaced by this server's."""

    name: ClassVar[str]
    documentation: ClassVar[tuple[str, ...]]
    authorize: ClassVar[str]
    token_path: ClassVar[str]
    profile_path: ClassVar[str]
    subject_path: ClassVar[str] = ""
    """Where the person's ID is, unless the profile has it."""
    client_name: ClassVar[str] = "client_id"
    scopes: ClassVar[str] = ""
    fragment: ClassVar[str] = ""
    has_pkce: ClassVar[bool] = False
    gives_email: ClassVar[bool] = True
    verifies_email: ClassVar[bool] = False

    def __init__(self, provider: FakeProvider) -> None:
        self.provider = provider
        self.codes: dict[str, Grant] = {}
        self.tokens: dict[str, Grant] = {}
        provider.for_apps = self.answer

    def connection(self, **settings: Any) -> dict[str, Any]:
        stated = preset_settings(self.name)
        assert stated is not None
        places = {place: getattr(stated, place) for place in PLACES if getattr(stated, place)}
        return {"preset": self.name, "key": CLIENT, **{key: self._here(url) for key, url in places.items()}, **settings}

    def _here(self, address: str) -> str:
        here = urlsplit(self.provider.url)
        return urlunsplit(urlsplit(address)._replace(scheme=here.scheme, netloc=here.netloc))

    def signs_in(self, address: str, **who: Any) -> dict[str, str]:
        """Check the authorization request, sign in, and return the parameters of the callback."""
        parts, asked = urlsplit(address), dict(parse_qsl(urlsplit(address).query))
        assert (parts.path, parts.fragment) == (self.authorize, self.fragment)
        assert (asked["response_type"], asked[self.client_name]) == ("code", CLIENT)
        assert asked.get("scope", "") == self.scopes
        assert ("code_challenge" in asked) is self.has_pkce
        code = randomness.token(16)
        self.codes[code] = Grant({**PERSON, **who}, asked)
        return {"code": code, "state": asked["state"]}

    def answer(self, request: ReceivedRequest) -> Said | None:
        reader = self.routes().get((request.method, request.path))
        return reader(request) if reader is not None else None

    def routes(self) -> dict[tuple[str, str], Callable[[ReceivedRequest], Said]]:
        return {("POST", self.token_path): self._posted_token, ("GET", self.profile_path): self._profile_by_bearer}

    def issued(self, grant: Grant) -> dict[str, Any]:
        token = randomness.token(16)
        self.tokens[token] = grant
        return {"access_token": token, "token_type": "bearer", "expires_in": 3600}

    def _posted_token(self, request: ReceivedRequest) -> Said:
        form = request.form
        if not self.is_client(request) or form.get("grant_type") != "authorization_code":
            return 401, {"error": "invalid_client"}
        grant = self.spent(form)
        return (200, self.issued(grant)) if grant is not None else (400, {"error": "invalid_grant"})

    def spent(self, given: Any) -> Grant | None:
        """Use up a code, whose redirect URI and verifier must be those of the request."""
        grant = self.codes.pop(given.get("code", ""), None)
        if grant is None or given.get("redirect_uri") != grant.requested["redirect_uri"]:
            return None
        challenge = grant.requested.get("code_challenge")
        return grant if challenge is None or challenge_of(given.get("code_verifier", "")) == challenge else None

    def is_client(self, request: ReceivedRequest) -> bool:
        return (request.form.get("client_id"), request.form.get("client_secret")) == (CLIENT, SECRET)

    def _profile_by_bearer(self, request: ReceivedRequest) -> Said:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        grant = self.tokens.get(token) if scheme == "Bearer" else None
        return (200, self.profile(grant.person)) if grant is not None else (401, {"error": "invalid_token"})

    def profile(self, who: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError


def _is_basic(request: ReceivedRequest) -> bool:
    text = base64.b64decode(request.headers.get("Authorization", "").removeprefix("Basic ") or "Og==").decode()
    name, _, secret = text.partition(":")
    return (unquote(name), unquote(secret.replace("+", " "))) == (CLIENT, SECRET)


class GitHubUpstream(SocialUpstream):
    name = "github"
    documentation = (
        "https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps",
        "https://docs.github.com/en/rest/users/emails",
    )
    authorize, token_path, profile_path = "/login/oauth/authorize", "/login/oauth/access_token", "/user"
    scopes, has_pkce, verifies_email = "read:user user:email", True, True

    def routes(self) -> dict[tuple[str, str], Callable[[ReceivedRequest], Said]]:
        return {**super().routes(), ("GET", "/user/emails"): self._emails}

    def _posted_token(self, request: ReceivedRequest) -> Said:
        status, said = super()._posted_token(request)
        refusal = {"error": "bad_verification_code"} if status == 400 else said
        return 200, refusal  # GitHub answers errors with the status 200

    def _emails(self, request: ReceivedRequest) -> Said:
        status, _ = self._profile_by_bearer(request)
        if status != 200:
            return status, {}
        who = self.tokens[request.headers["Authorization"].partition(" ")[2]].person
        other = {"email": "other@example.test", "primary": False, "verified": True}
        return 200, [other, {"email": who["email"], "primary": True, "verified": who["verified"]}]

    def profile(self, who: dict[str, Any]) -> dict[str, Any]:
        number = int(who["id"]) if str(who["id"]).isdecimal() else who["id"]
        return {
            "id": number,
            "login": "ada",
            "name": who["name"],
            "email": "public@example.test",
            "avatar_url": who["picture"],
        }


class FacebookUpstream(SocialUpstream):
    name = "facebook"
    documentation = (
        "https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow",
        "https://developers.facebook.com/docs/graph-api/securing-requests",
    )
    authorize, token_path, profile_path = "/v21.0/dialog/oauth", "/v21.0/oauth/access_token", "/v21.0/me"
    scopes, has_pkce = "public_profile email", True

    def _profile_by_bearer(self, request: ReceivedRequest) -> Said:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        proof = hmac.digest(SECRET.encode(), token.encode(), "sha256").hex()
        if request.query.get("appsecret_proof") != proof:
            return 400, {
                "error": {"message": "API calls from the server require an appsecret_proof argument", "code": 100}
            }
        status, said = super()._profile_by_bearer(request)
        fields = request.query["fields"].split(",")
        return status, {name: value for name, value in said.items() if name in fields}

    def profile(self, who: dict[str, Any]) -> dict[str, Any]:
        names = {"name": who["name"], "first_name": who["given"], "last_name": who["family"]}
        return {"id": who["id"], **names, "email": who["email"], "picture": {"data": {"url": who["picture"]}}}


class XUpstream(SocialUpstream):
    name = "twitter"
    documentation = (
        "https://docs.x.com/fundamentals/authentication/oauth-2-0/user-access-token",
        "https://docs.x.com/x-api/users/user-lookup-me",
    )
    authorize, token_path, profile_path = "/i/oauth2/authorize", "/2/oauth2/token", "/2/users/me"
    scopes, has_pkce, verifies_email = "users.read tweet.read users.email", True, True

    def is_client(self, request: ReceivedRequest) -> bool:
        return _is_basic(request)

    def profile(self, who: dict[str, Any]) -> dict[str, Any]:
        confirmed = {"confirmed_email": who["email"]} if who["verified"] else {}
        shown = {"id": who["id"], "name": who["name"], "username": "ada", "profile_image_url": who["picture"]}
        return {"data": {**shown, **confirmed}}


class AmazonUpstream(SocialUpstream):
    name = "amazon"
    documentation = (
        "https://developer.amazon.com/docs/login-with-amazon/authorization-code-grant.html",
        "https://developer.amazon.com/docs/login-with-amazon/obtain-customer-profile.html",
    )
    authorize, token_path, profile_path = "/ap/oa", "/auth/o2/token", "/user/profile"
    scopes, has_pkce = "profile", True

    def profile(self, who: dict[str, Any]) -> dict[str, Any]:
        return {"user_id": who["id"], "name": who["name"], "email": who["email"]}


class PayPalUpstream(SocialUpstream):
    name = "paypal"
    documentation = (
        "https://developer.paypal.com/docs/log-in-with-paypal/integrate/build-button/",
        "https://developer.paypal.com/docs/api/identity/v1/",
    )
    authorize, token_path, profile_path = "/signin/authorize", "/v1/oauth2/token", "/v1/identity/oauth2/userinfo"
    scopes, verifies_email = "openid profile email", True

    def is_client(self, request: ReceivedRequest) -> bool:
        return _is_basic(request)

    def _profile_by_bearer(self, request: ReceivedRequest) -> Said:
        is_schema = request.query.get("schema") == "paypalv1.1"
        return super()._profile_by_bearer(request) if is_schema else (400, {"name": "INVALID_REQUEST"})

    def profile(self, who: dict[str, Any]) -> dict[str, Any]:
        primary = {"value": who["email"], "primary": True, "confirmed": who["verified"]}
        emails = [{"value": "other@example.test", "primary": False, "confirmed": True}, primary]
        return {
            "user_id": who["id"],
            "name": who["name"],
            "given_name": who["given"],
            "payer_id": "P1",
            "emails": emails,
        }


class FoursquareUpstream(SocialUpstream):
    name = "foursquare"
    documentation = ("https://docs.foursquare.com/developer/reference/v2-authentication",)
    authorize, token_path, profile_path = "/oauth2/authenticate", "/oauth2/access_token", "/v2/users/self"

    def routes(self) -> dict[tuple[str, str], Callable[[ReceivedRequest], Said]]:
        return {("GET", self.token_path): self._token, ("GET", self.profile_path): self._self}

    def _token(self, request: ReceivedRequest) -> Said:
        query = request.query
        if (query.get("client_id"), query.get("client_secret")) != (CLIENT, SECRET):
            return 400, {"error": "invalid_client"}
        grant = self.spent(query) if query.get("grant_type") == "authorization_code" else None
        if grant is None:
            return 400, {"error": "invalid_grant"}
        return 200, {"access_token": self.issued(grant)["access_token"]}

    def _self(self, request: ReceivedRequest) -> Said:
        if not request.query.get("v", "").isdecimal():
            return 400, {"meta": {"code": 410, "errorType": "param_error"}}
        grant = self.tokens.get(request.query.get("oauth_token", ""))
        if grant is None:
            return 401, {"meta": {"code": 401, "errorType": "invalid_auth"}}
        return 200, self.profile(grant.person)

    def profile(self, who: dict[str, Any]) -> dict[str, Any]:
        user = {
            "id": who["id"],
            "firstName": who["given"],
            "lastName": who["family"],
            "contact": {"email": who["email"]},
        }
        return {"meta": {"code": 200}, "response": {"user": user}}
