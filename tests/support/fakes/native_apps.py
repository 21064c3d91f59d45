"""A provider's answers about what its SDK returned to an app, as Google, Facebook, LinkedIn, Apple, X, WeChat and QQ answer."""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from joserfc import jws, jwt
from joserfc.jwk import OctKey
from werkzeug.test import TestResponse

from app.kit import randomness
from tests.support.credentials.devices import store_service_secrets
from tests.support.fakes.identity_provider import ADA, CLIENT, SECRET, FakeProvider, ReceivedRequest
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered

PATH = "/api/v2/access_token"
JWT_SECRET = "a key of at least thirty-two bytes"
OTHER = "another-app"
"""The client id of an app that is not the tenant's."""
FREE_FORM = ({"name": "first_name"},)
"""A registration form that requires no address."""
WHO = {**ADA, "id": "ada-1815", "id_str": "ada-1815", "openid": "ada-1815"}
Issued = tuple[str, dict[str, Any]]
"""The client that something was issued to, and the person."""


@dataclass
class NativeUpstream:
    """What the provider issued to apps: access tokens, codes, refresh tokens."""

    provider: FakeProvider
    access_tokens: dict[str, Issued] = field(default_factory=dict)
    codes: dict[str, tuple[str, str, dict[str, Any]]] = field(default_factory=dict)
    refresh_tokens: dict[str, Issued] = field(default_factory=dict)
    token_secrets: dict[str, str] = field(default_factory=dict)
    changed: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Overrides of answers by path."""

    def __post_init__(self) -> None:
        self.provider.for_apps = self.answer

    def access_token(self, client: str = CLIENT, **who: Any) -> str:
        token, person = randomness.token(16), {**WHO, **who}
        self.access_tokens[token] = client, person
        self.provider.tokens[token] = person
        return token

    def twitter_token(self, client: str = CLIENT, **who: Any) -> dict[str, Any]:
        token = self.access_token(client, **who)
        self.token_secrets[token] = randomness.token(16)
        return {"tw_access_token": token, "tw_token_secret": self.token_secrets[token]}

    def code(self, client: str = CLIENT, redirect_uri: str = "", **who: Any) -> str:
        code = randomness.token(16)
        self.codes[code] = client, redirect_uri, {**WHO, **who}
        return code

    def refresh_token(self, client: str = CLIENT, **who: Any) -> str:
        token = randomness.token(16)
        self.refresh_tokens[token] = client, {**WHO, **who}
        return token

    def id_token(self, header: Mapping[str, Any] | None = None, key: Any = None, **claims: Any) -> str:
        """Return a signed id_token; a claim that is None is left out."""
        now, person = self.provider.now, {name: ADA[name] for name in ADA}
        stored = {
            "iss": self.provider.url, "aud": CLIENT, "iat": now, "exp": now + 300, "jti": randomness.token(8), **person, **claims,
        }  # fmt: skip
        stored = {name: value for name, value in stored.items() if value is not None}
        signing = key or self.provider.key
        shown = {"alg": "RS256", "kid": self.provider.key.kid, **(header or {})}
        return jwt.encode(shown, stored, signing, registry=jws.JWSRegistry(algorithms=[shown["alg"]]))

    def answer(self, request: ReceivedRequest) -> tuple[int, Any] | None:
        readers = {
            "/tokeninfo": self._tokeninfo, "/debug_token": self._debug_token, "/introspect": self._introspect, "/me": self._me,
            "/token": self._token, "/x": self._x, "/wechat/token": self._wechat_token, "/wechat/me": self._wechat_me,
            "/qq/token": self._qq_token, "/qq/me": self._qq_me, "/qq/user": self._qq_user,
        }  # fmt: skip
        read = readers.get(request.path)
        result = read(request) if read is not None else None
        if result is None or request.path not in self.changed:
            return result
        return result[0], {**result[1], **self.changed[request.path]}

    def _tokeninfo(self, request: ReceivedRequest) -> tuple[int, Any]:
        client, who = self.access_tokens.get(request.form["access_token"], ("", {}))
        return (200, {"aud": client, "azp": client, "sub": who["sub"]}) if client else (400, {"error": "invalid_token"})

    def _debug_token(self, request: ReceivedRequest) -> tuple[int, Any]:
        if request.query["access_token"] != f"{CLIENT}|{SECRET}":
            return 400, {"error": {"code": 190}}
        client, who = self.access_tokens.get(request.query["input_token"], ("", {}))
        return 200, {"data": {"app_id": client, "is_valid": bool(client), "user_id": who.get("id", "")}}

    def _introspect(self, request: ReceivedRequest) -> tuple[int, Any]:
        if (request.form["client_id"], request.form["client_secret"]) != (CLIENT, SECRET):
            return 401, {}
        client, _ = self.access_tokens.get(request.form["token"], ("", {}))
        return 200, {"active": bool(client), "client_id": client}

    def _me(self, request: ReceivedRequest) -> tuple[int, Any]:
        _, who = self.access_tokens.get(request.headers["Authorization"].removeprefix("Bearer "), ("", {}))
        return (200, {"id": who["id"], "name": who["name"], "email": who["email"]}) if who else (401, {})

    def _token(self, request: ReceivedRequest) -> tuple[int, Any] | None:
        """Exchange a code or a refresh token of an app (RFC 6749 section 4.1.3)."""
        form = request.form
        if form.get("grant_type") == "refresh_token" and form["refresh_token"] not in self.refresh_tokens:
            return None
        if form.get("grant_type") == "refresh_token":
            client, who = self.refresh_tokens[form["refresh_token"]]
        else:
            client, redirect_uri, who = self.codes.pop(form.get("code", ""), ("", "", {}))
            if redirect_uri != form.get("redirect_uri", "") or "code_verifier" in form:
                return 400, {"error": "invalid_grant"}
        if client != _client_of(request):
            return 400, {"error": "invalid_grant"}
        token = self.access_token(client, **who)
        said = {"access_token": token, "token_type": "Bearer", "expires_in": 300}
        return 200, {**said, "id_token": self.id_token(**{**who, "aud": client})}

    def _x(self, request: ReceivedRequest) -> tuple[int, Any]:
        values = {
            name: unquote(value)
            for name, value in re.findall(r'(oauth_\w+)="([^"]*)"', request.headers["Authorization"])
        }
        client, who = self.access_tokens.get(values["oauth_token"], ("", {}))
        secrets = f"{quote(SECRET, safe='')}&{quote(self.token_secrets.get(values['oauth_token'], ''), safe='')}"
        is_signed = hmac.compare_digest(values.pop("oauth_signature"), signature(request.url, values, secrets))
        if not (is_signed and client == values["oauth_consumer_key"]):
            return 401, {"errors": [{"code": 32}]}
        return 200, {"id_str": who["id_str"], "name": who["name"], "screen_name": "ada", "email": who["email"]}

    def _wechat_token(self, request: ReceivedRequest) -> tuple[int, Any]:
        client, _, who = self.codes.pop(request.query["code"], ("", "", {}))
        if (request.query["appid"], request.query["secret"]) != (client, SECRET):
            return 200, {"errcode": 40029, "errmsg": "invalid code"}
        return 200, {"access_token": self.access_token(**who), "openid": who["openid"]}

    def _wechat_me(self, request: ReceivedRequest) -> tuple[int, Any]:
        _, who = self.access_tokens[request.query["access_token"]]
        return 200, {"openid": who["openid"], "nickname": who["name"], "headimgurl": who["picture"]}

    def _qq_token(self, request: ReceivedRequest) -> tuple[int, Any]:
        client, redirect_uri, who = self.codes.pop(request.query["code"], ("", "", {}))
        values = (request.query["client_id"], request.query["client_secret"], request.query.get("redirect_uri", ""))
        if values != (client, SECRET, redirect_uri):
            return 200, {"error": 100020, "error_description": "code is reused"}
        return 200, {"access_token": self.access_token(client, **who)}

    def _qq_me(self, request: ReceivedRequest) -> tuple[int, Any]:
        client, who = self.access_tokens[request.query["access_token"]]
        return 200, {"client_id": client, "openid": who["openid"]}

    def _qq_user(self, request: ReceivedRequest) -> tuple[int, Any]:
        _, who = self.access_tokens[request.query["access_token"]]
        is_same = (request.query["oauth_consumer_key"], request.query["openid"]) == (CLIENT, who["openid"])
        return 200, {"ret": 0, "nickname": who["name"]} if is_same else {"ret": -22, "msg": "openid is invalid"}


def _client_of(request: ReceivedRequest) -> str:
    """Return the client that authenticated by its secret; empty for a wrong one."""
    if "client_secret" in request.form:
        return request.form["client_id"] if request.form["client_secret"] == SECRET else ""
    text = base64.b64decode(request.headers["Authorization"].removeprefix("Basic ")).decode()
    name, _, secret = text.partition(":")
    return unquote(name) if secret in (SECRET, quote(SECRET), quote(SECRET, safe="").replace("%20", "+")) else ""


def signature(url: str, values: Mapping[str, str], secrets: str) -> str:
    """Return the HMAC-SHA1 signature of a GET (RFC 5849 section 3.4.2)."""
    parts = urlsplit(url)
    pairs = sorted(
        (quote(name, safe=""), quote(value, safe="")) for name, value in [*parse_qsl(parts.query), *values.items()]
    )
    normalized = "&".join(f"{name}={value}" for name, value in pairs)
    base = "&".join(
        quote(text, safe="") for text in ("GET", f"{parts.scheme}://{parts.netloc}{parts.path}", normalized)
    )
    return base64.b64encode(hmac.digest(secrets.encode(), base.encode(), "sha1")).decode()


def native_connections(provider: FakeProvider) -> dict[str, dict[str, Any]]:
    """Return a connection to each provider of apps, all of which the fake provider plays."""
    url = provider.url
    by_endpoints = {
        "key": CLIENT, "authorization_endpoint": f"{url}/authorize", "token_endpoint": f"{url}/token",
    }  # fmt: skip
    return {
        "google": provider.openid(introspection_endpoint=f"{url}/tokeninfo"),
        "apple": provider.openid(native_only=True),
        "facebook": {
            **by_endpoints, "userinfo_endpoint": f"{url}/me", "introspection_endpoint": f"{url}/debug_token",
            "id_token_issuer": url, "jwks_endpoint": f"{url}/keys", "claims": {"subject": "id"},
        },
        "linkedin": {
            **by_endpoints, "userinfo_endpoint": f"{url}/userinfo", "introspection_endpoint": f"{url}/introspect", "pkce": False,
        },
        "foursquare": provider.oauth2(),
        "twitter": {
            "key": CLIENT, "native_only": True, "userinfo_endpoint": f"{url}/x?include_email=true", "claims": {"subject": "id_str"},
        },
        "wechat": {
            "key": CLIENT, "native_only": True, "token_endpoint": f"{url}/wechat/token", "userinfo_endpoint": f"{url}/wechat/me",
            "claims": {"subject": "openid", "full_name": "nickname", "picture": "headimgurl"},
        },
        "qq": {
            "key": CLIENT, "native_only": True, "token_endpoint": f"{url}/qq/token", "userinfo_endpoint": f"{url}/qq/user",
            "introspection_endpoint": f"{url}/qq/me", "claims": {"subject": "openid", "full_name": "nickname"},
        },
    }  # fmt: skip


@dataclass
class AppServer:
    """A tenant's server that signs users of the tenant's app in."""

    tenant: TenantServer
    upstream: NativeUpstream

    def ask(self, native_provider: str, /, *, with_secret: bool = True, **query: Any) -> TestResponse:
        """Sign in; `refresh_token` is sent unless it is given as None."""
        sent = {"refresh_token": "of-the-app", **query}
        return self.tenant.send("GET", f"{PATH}/{native_provider}", with_secret=with_secret, **sent)

    def profile(self, response: TestResponse) -> dict[str, Any]:
        """Return the profile of a signed-in account, read with its access token."""
        token = answered(response)["access_token"]
        return answered(self.tenant.send("GET", "/identity/v2/auth/account", bearer=token))

    def changes(self, name: str, **connection: Any) -> None:
        """Change members of a connection."""
        stored = native_connections(self.upstream.provider)
        self.tenant.change_settings(connections={**stored, name: {**stored[name], **connection}})


def an_app(make: NewTenantServer, provider: FakeProvider, **settings: Any) -> AppServer:
    """Return the server of an app at a new tenant with every connection; its form requires no address."""
    return prepare(make(**{"registration_form": FREE_FORM, **settings}), provider)


def prepare(tenant: TenantServer, provider: FakeProvider) -> AppServer:
    """Configure every connection at a tenant."""
    connections = native_connections(provider)
    store_service_secrets(tenant, connections=dict.fromkeys(connections, SECRET))
    tenant.change_settings(connections=connections)
    return AppServer(tenant, NativeUpstream(provider))


def jwt_sender(tenant: TenantServer, **members: Any) -> Callable[..., str]:
    """Create the JWT custom provider Partner at a tenant; return a function that makes its tokens with these claims."""
    body = {"AppName": "Partner", "Algo": "HS256", "Key": JWT_SECRET, **members}
    answered(ask(tenant, machine(tenant, "all"), "POST", "/v2/manage/custom-providers/jwt", body))

    def token(header: Mapping[str, Any] | None = None, key: Any = None, **claims: Any) -> str:
        now = int(tenant.services.clock.now().timestamp())
        stored = {"sub": "ada-1815", "iat": now, "exp": now + 300, "jti": randomness.token(8), **claims}
        shown = {"alg": body["Algo"], **(header or {})}
        present = {name: value for name, value in stored.items() if value is not None}
        signing = key or OctKey.import_key(JWT_SECRET)
        return jwt.encode(shown, present, signing, registry=jws.JWSRegistry(algorithms=[shown["alg"]]))

    return token
