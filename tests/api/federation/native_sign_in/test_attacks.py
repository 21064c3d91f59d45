"""Forged, foreign, expired and used credentials of providers sign no account in (decision 0182)."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from joserfc.jwk import ECKey, OctKey

from app.contract.errors import JwtRefused
from tests.support.credentials.devices import store_service_secrets
from tests.support.fakes.identity_provider import CLIENT, SECRET, FakeProvider, key
from tests.support.fakes.native_apps import OTHER, AppServer, NativeUpstream, an_app, native_connections
from tests.support.races import at_once
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

MakeQuery = Callable[[NativeUpstream], dict[str, Any]]
Forge = Callable[[NativeUpstream], str]
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""The order of the curve P-256: with s, its difference to s is a signature too."""


@pytest.fixture
def app(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> AppServer:
    return an_app(new_tenant_server, fake_provider)


def no_account(app: AppServer) -> bool:
    """Return whether the person still has no account: a sign-in without registration is refused."""
    app.tenant.change_settings(registration=False)
    app.upstream.changed.clear()
    return refused(app.ask("google", google_access_token=app.upstream.access_token())) == (403, 1190)


# Credentials of another app.

FOREIGN: dict[str, tuple[str, MakeQuery, int]] = {
    "google": ("google", lambda item: {"google_access_token": item.access_token(OTHER)}, 1000),
    "google code": ("google", lambda item: {"google_authcode": item.code(OTHER)}, 1000),
    "google id_token": ("googlejwt", lambda item: {"id_token": item.id_token(aud=OTHER)}, 1232),
    "facebook": ("facebook", lambda item: {"fb_access_token": item.access_token(OTHER)}, 1000),
    "facebook id_token": ("facebookjwt", lambda item: {"id_token": item.id_token(aud=OTHER)}, 1232),
    "linkedin": ("linkedin", lambda item: {"ln_access_token": item.access_token(OTHER)}, 1000),
    "apple code": ("apple", lambda item: {"code": item.code(OTHER)}, 1000),
    "apple id_token": ("applejwt", lambda item: {"id_token": item.id_token(aud=OTHER)}, 1232),
    "apple refresh token": ("applert", lambda item: {"refresh_token": item.refresh_token(OTHER)}, 1000),
    "twitter": ("twitter", lambda item: item.twitter_token(OTHER), 1000),
    "twitter secret": ("twitter", lambda item: {**item.twitter_token(), "tw_token_secret": "wrong"}, 1000),
    "wechat": ("wechat", lambda item: {"code": item.code(OTHER)}, 1000),
    "qq": ("qq", lambda item: {"code": item.code(OTHER)}, 1000),
    "foursquare": ("foursquare", lambda item: {"fs_access_token": item.access_token()}, 1223),
}


@pytest.mark.parametrize(("name", "make_query", "code"), FOREIGN.values(), ids=FOREIGN)
@on_one_database
def test_credential_of_another_app_is_refused(app: AppServer, name: str, make_query: MakeQuery, code: int) -> None:
    answer = app.ask(name, **make_query(app.upstream))
    assert refused(answer) == (403, code)
    assert answer.get_json()["IsProviderError"] is (code == 1000)
    assert not {"/userinfo", "/me", "/qq/user", "/wechat/me"} & {item.path for item in app.upstream.provider.received}
    assert no_account(app)


LIES: dict[str, tuple[str, MakeQuery, str, Callable[[NativeUpstream], dict[str, Any]]]] = {
    "google subject": ("google", FOREIGN["google"][1], "/tokeninfo", lambda _: {"aud": CLIENT, "sub": "mallory"}),
    "google without audience": ("google", FOREIGN["google"][1], "/tokeninfo", lambda _: {"aud": None}),
    "facebook not valid": (
        "facebook", lambda item: {"fb_access_token": item.access_token()}, "/debug_token",
        lambda _: {"data": {"app_id": CLIENT, "is_valid": False, "user_id": "ada-1815"}},
    ),
    "facebook subject": (
        "facebook", lambda item: {"fb_access_token": item.access_token()}, "/debug_token",
        lambda _: {"data": {"app_id": CLIENT, "is_valid": True, "user_id": "mallory"}},
    ),
    "facebook nobody": (
        "facebook", lambda item: {"fb_access_token": item.access_token()}, "/debug_token",
        lambda _: {"data": {"app_id": CLIENT, "is_valid": True}},
    ),
    "facebook no object": (
        "facebook", lambda item: {"fb_access_token": item.access_token()}, "/debug_token", lambda _: {"data": []},
    ),
    "linkedin not active": (
        "linkedin", lambda item: {"ln_access_token": item.access_token()}, "/introspect", lambda _: {"active": False},
    ),
    "apple id_token of another app": (
        "apple", lambda item: {"code": item.code()}, "/token", lambda item: {"id_token": item.id_token(aud=OTHER)},
    ),
    "apple refresh without id_token": (
        "applert", lambda item: {"refresh_token": item.refresh_token()}, "/token", lambda _: {"id_token": ""},
    ),
    "apple refresh id_token of another app": (
        "applert", lambda item: {"refresh_token": item.refresh_token()}, "/token", lambda item: {"id_token": item.id_token(aud=OTHER)},
    ),
    "wechat subject": ("wechat", lambda item: {"code": item.code()}, "/wechat/me", lambda _: {"openid": "mallory"}),
    "qq client": ("qq", lambda item: {"code": item.code()}, "/qq/me", lambda _: {"client_id": OTHER}),
    "qq error": ("qq", lambda item: {"code": item.code()}, "/qq/user", lambda _: {"ret": -1}),
}  # fmt: skip


@pytest.mark.parametrize(("name", "make_query", "path", "change"), LIES.values(), ids=LIES)
@on_one_database
def test_inconsistent_answer_of_provider_is_refused(
    app: AppServer, name: str, make_query: MakeQuery, path: str, change: Callable[[NativeUpstream], dict[str, Any]]
) -> None:
    query = make_query(app.upstream)
    app.upstream.changed[path] = change(app.upstream)
    assert refused(app.ask(name, **query)) == (403, 1000)
    assert no_account(app)


# Forged id_tokens.


def forged(algorithm: str, sign: Callable[[bytes], bytes]) -> Forge:
    """Return a token whose header and signature are written by hand."""

    def forge(item: NativeUpstream) -> str:
        now = item.provider.now
        claims = {"iss": item.provider.url, "aud": CLIENT, "sub": "ada-1815", "iat": now, "exp": now + 300}
        parts = [{"alg": algorithm, "kid": key(1).kid}, claims]
        signed = b".".join(urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
        return b".".join([signed, urlsafe_b64encode(sign(signed)).rstrip(b"=")]).decode()

    return forge


def claims(**values: Any) -> Forge:
    return lambda item: item.id_token(**values)


FORGERIES: dict[str, Forge] = {
    "another issuer": claims(iss="https://evil.example"),
    "no issuer": claims(iss=None),
    "no audience": claims(aud=None),
    "several audiences without a party": claims(aud=[CLIENT, OTHER]),
    "several audiences for another party": claims(aud=[CLIENT, OTHER], azp=OTHER),
    "no subject": claims(sub=None),
    "expired": claims(exp=1),
    "without an end": claims(exp=None),
    "valid for a year": lambda item: item.id_token(exp=item.provider.now + 366 * 86_400),
    "issued tomorrow": lambda item: item.id_token(iat=item.provider.now + 86_400, exp=item.provider.now + 86_400),
    "without a beginning": claims(iat=None),
    "unsigned": forged("none", lambda _: b""),
    "signed with the client's secret": lambda item: item.id_token({"alg": "HS256"}, OctKey.import_key(SECRET)),
    "signed with the public key": forged(
        "HS256", lambda signed: hmac.digest(key(1).as_pem(private=False), signed, "sha256")
    ),
    "signed by another key": lambda item: item.id_token(key=key(2)),
    "of an unknown key": lambda item: item.id_token({"kid": "unknown"}, key(2)),
    "changed": lambda item: item.id_token().replace(".ey", ".ez", 1),
    "no token": lambda _: "ada-1815",
}


@pytest.mark.parametrize("name", ["googlejwt", "facebookjwt", "applejwt"])
@on_one_database
def test_forged_id_token_is_refused(app: AppServer, name: str, subtests: pytest.Subtests) -> None:
    for case, forge in FORGERIES.items():
        with subtests.test(case):
            answer = app.ask(name, id_token=forge(app.upstream))
            assert refused(answer) == (403, 1232)
            assert answer.get_json()["IsProviderError"] is False
            assert no_account(app)
    assert refused(app.ask(name, id_token=app.upstream.id_token()))[1] == 1190, "valid: sign-up is off"


@on_one_database
def test_google_token_may_name_another_client_of_its_project(app: AppServer) -> None:
    token = app.upstream.id_token(azp="the-android-app")
    assert refused(app.ask("applejwt", id_token=token)) == (403, 1232)
    answered(app.ask("googlejwt", id_token=token))


@on_one_database
def test_nonce_of_the_app_and_at_hash_are_not_checked(app: AppServer) -> None:
    answered(app.ask("googlejwt", id_token=app.upstream.id_token(nonce="of-the-app", at_hash="unknown")))


# Used id_tokens.


def test_used_id_token_is_refused(app: AppServer) -> None:
    token = app.upstream.id_token()
    answered(app.ask("googlejwt", id_token=token))
    again = app.ask("googlejwt", id_token=token)
    assert refused(again) == (403, 1232)
    assert "used before" in again.get_json()["Description"]


@on_one_database
def test_used_id_token_with_its_other_signature_is_refused(app: AppServer) -> None:
    provider, curve = app.upstream.provider, ECKey.generate_key("P-256", parameters={"kid": "curve"})
    provider.key, provider.published = curve, [dict(curve.as_dict(private=False))]
    token = app.upstream.id_token({"alg": "ES256"})
    answered(app.ask("googlejwt", id_token=token))
    signed, _, text = token.rpartition(".")
    mark = urlsafe_b64decode(text + "==")
    other = mark[:32] + (ORDER - int.from_bytes(mark[32:], "big")).to_bytes(32, "big")
    again = app.ask("googlejwt", id_token=f"{signed}.{urlsafe_b64encode(other).rstrip(b'=').decode()}")
    assert (refused(again), "used before" in again.get_json()["Description"]) == ((403, 1232), True)


def test_used_id_token_is_refused_until_it_expires(app: AppServer) -> None:
    token = app.upstream.id_token()
    answered(app.ask("googlejwt", id_token=token))
    clock = app.tenant.services.clock
    clock.advance(seconds=350)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
    again = app.ask("googlejwt", id_token=token)
    assert "used before" in again.get_json()["Description"]
    clock.advance(seconds=20)  # type: ignore[attr-defined]  # the same
    expired = app.ask("googlejwt", id_token=token)
    assert refused(expired) == (403, 1232)
    assert expired.get_json()["Description"].startswith(JwtRefused.description)


@pytest.mark.both_databases
def test_concurrent_uses_of_id_token_sign_in_once(app: AppServer) -> None:
    token = app.upstream.id_token()
    codes = Counter(attack.status_code for attack in at_once([lambda: app.ask("googlejwt", id_token=token)] * 6))
    assert codes == {200: 1, 403: 5}


def test_refused_sign_in_leaves_id_token_usable(app: AppServer) -> None:
    profile = app.profile(app.ask("googlejwt", id_token=app.upstream.id_token()))
    token = app.upstream.id_token()
    app.tenant.update(profile["Uid"], {"IsActive": False})
    assert refused(app.ask("googlejwt", id_token=token)) == (403, 991)
    app.tenant.update(profile["Uid"], {"IsActive": True})
    answered(app.ask("googlejwt", id_token=token))


# Other tenants, and connections that are off.


@pytest.mark.both_databases
def test_credential_of_another_tenants_client_is_refused(app: AppServer, new_tenant_server: NewTenantServer) -> None:
    provider = app.upstream.provider
    other = an_app(new_tenant_server, provider)
    own = {name: {**connection, "key": "client-of-other"} for name, connection in native_connections(provider).items()}
    store_service_secrets(other.tenant, connections=dict.fromkeys(own, SECRET))
    other.tenant.change_settings(connections=own)
    provider.for_apps = app.upstream.answer
    assert refused(other.ask("googlejwt", id_token=app.upstream.id_token())) == (403, 1232)
    assert refused(other.ask("google", google_access_token=app.upstream.access_token())) == (403, 1000)
    assert refused(other.ask("twitter", **app.upstream.twitter_token())) == (403, 1000)
    assert refused(other.ask("apple", code=app.upstream.code())) == (403, 1000)


@pytest.mark.both_databases
def test_secret_of_another_tenant_is_refused(app: AppServer, new_tenant_server: NewTenantServer) -> None:
    secret = new_tenant_server().api_secret
    answer = app.ask("google", apisecret=secret, google_access_token=app.upstream.access_token())
    assert refused(answer) == (401, 902)
    assert app.upstream.provider.received == []


@pytest.mark.parametrize("change", [{"is_active": False}, None], ids=["inactive", "removed"])
@on_one_database
def test_connection_that_is_off_signs_no_account_in(app: AppServer, change: dict[str, Any] | None) -> None:
    stored = native_connections(app.upstream.provider)
    others = {name: connection for name, connection in stored.items() if name != "apple"}
    app.tenant.change_settings(connections={**others, "apple": {**stored["apple"], **change}} if change else others)
    requested: list[tuple[str, dict[str, Any]]] = [
        ("applejwt", {"id_token": app.upstream.id_token()}),
        ("apple", {"code": app.upstream.code()}),
        ("applert", {"refresh_token": app.upstream.refresh_token()}),
    ]
    for name, query in requested:
        assert refused(app.ask(name, **query)) == (403, 1223)
    assert app.upstream.provider.received == []


@on_one_database
def test_access_token_without_introspection_is_refused(app: AppServer) -> None:
    for name, parameter in (("google", "google_access_token"), ("facebook", "fb_access_token")):
        app.changes(name, introspection_endpoint=None)
        query: dict[str, Any] = {parameter: app.upstream.access_token()}
        assert refused(app.ask(name, **query)) == (403, 1223)


@pytest.mark.parametrize("name", ["apple", "wechat", "qq"])
@on_one_database
def test_code_without_our_client_secret_is_refused(app: AppServer, name: str) -> None:
    store_service_secrets(app.tenant, connections={"google": SECRET})
    code = app.upstream.code()
    assert refused(app.ask(name, code=code)) == (403, 1000)
    assert code in app.upstream.codes, "it was not sent"


@on_one_database
def test_consumer_secret_is_needed_for_twitter(app: AppServer) -> None:
    store_service_secrets(app.tenant, connections={"google": SECRET})
    assert refused(app.ask("twitter", **app.upstream.twitter_token())) == (403, 1000)
    assert app.upstream.provider.received == []


@pytest.mark.parametrize(
    ("answer", "response"),
    [
        ((503, {}, b"secret trace"), "HTTP 503"),
        ((302, {"Location": "/other"}, b""), "HTTP 302"),
        ((200, {}, b"<html>"), None),
        ((200, {}, b"[]"), None),
        ((200, {}, b'"' + b"a" * 300_000 + b'"'), None),
    ],
)
@on_one_database
def test_answer_of_provider_is_bounded_and_summarized(
    app: AppServer, answer: Any, response: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    app.upstream.provider.answers["/tokeninfo"] = answer
    token = app.upstream.access_token()
    refusal = app.ask("google", google_access_token=token)
    assert refused(refusal) == (403, 1000)
    body = refusal.get_json()
    assert (body["IsProviderError"], body["ProviderErrorResponse"]) == (True, response)
    assert token not in caplog.text
    assert SECRET not in caplog.text


@on_one_database
def test_error_of_the_provider_repeats_no_secret(app: AppServer) -> None:
    secret = "GOCSPX-4uHgMPm-1o7Sk"
    error = json.dumps({"error": f"wrong {secret}"}).encode()
    app.upstream.provider.answers["/token"] = (400, {"Content-Type": "application/json"}, error)
    refusal = app.ask("google", google_authcode=app.upstream.code())
    assert refused(refusal) == (403, 1000)
    assert secret not in refusal.text
