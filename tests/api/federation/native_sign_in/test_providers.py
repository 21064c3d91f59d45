"""Apps sign in with what a provider's SDK returned (decision 0182): every provider and parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.contract.federation import native_sign_in_operations
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.fakes.native_apps import (
    PATH,
    AppServer,
    NativeUpstream,
    an_app,
    jwt_sender,
    prepare,
)
from tests.support.operation_cases.cases import AccountHolder, Answer, Ask, Refusal, refusals
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

MakeQuery = Callable[[NativeUpstream], dict[str, Any]]
RUNNING: list[FakeProvider] = []


@pytest.fixture(autouse=True)
def native_provider(fake_provider: FakeProvider) -> Iterator[None]:
    """Give the lists of this module the test's provider."""
    RUNNING.append(fake_provider)
    yield
    RUNNING.clear()


def app_of(who: AccountHolder) -> AppServer:
    """Configure every provider at the account's tenant."""
    return prepare(who.tenant, RUNNING[-1])


def asks(name: str, **query: Any) -> Callable[[AccountHolder], TestResponse]:
    return lambda who: app_of(who).ask(name, **query)


def with_failing_provider(who: AccountHolder) -> TestResponse:
    app = app_of(who)
    RUNNING[-1].answers["/tokeninfo"] = (503, {}, b"")
    return app.ask("google", google_access_token="any")


def with_jwt(who: AccountHolder, **claims: Any) -> TestResponse:
    app = app_of(who)
    sender = jwt_sender(app.tenant)
    return app.ask("jwt", providername="Partner", id_token=sender(**claims))


def with_google(who: AccountHolder) -> Ask:
    app = app_of(who)
    query = {"google_access_token": app.upstream.access_token(), "refresh_token": "any"}
    return Ask(query=query, at={"nativeprovider": "google"})


TOKEN = {"access_token": str, "refresh_token": str, "expires_in": str}
LEGACY = {"legacy_native_login": True}
REFUSALS: list[Refusal] = refusals(
    "U88",
    (908, asks("google", refresh_token=None)),
    (902, asks("google", apisecret="00000000-0000-0000-0000-000000000000")),
    (901, asks("google", apikey="00000000-0000-0000-0000-000000000000")),
    (929, asks("facebook")),
    (930, asks("twitter", tw_access_token="any")),
    (1337, asks("applert", refresh_token=None), LEGACY),
    (1223, lambda who: AppServer(who.tenant, NativeUpstream(RUNNING[-1])).ask("google", google_access_token="any")),
    (1231, lambda who: with_jwt(who, sub=None)),
    (1232, lambda who: with_jwt(who, exp=1)),
    (1000, with_failing_provider),
)
NOT_HERE: dict[tuple[str, int], str] = {("U88", 7909): "a failure of the service itself"}
ANSWERS: list[Answer] = [
    Answer(
        "U88",
        with_google,
        TOKEN,
        {"registration_form": ({"name": "first_name"},)},
        events=("Register", "LinkAccount", "Login"),
    )
]


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)


# Every provider.

PROVIDERS: dict[str, MakeQuery] = {
    "google": lambda item: {"google_access_token": item.access_token()},
    "googlejwt": lambda item: {"id_token": item.id_token()},
    "facebook": lambda item: {"fb_access_token": item.access_token()},
    "facebookjwt": lambda item: {"id_token": item.id_token()},
    "linkedin": lambda item: {"ln_access_token": item.access_token()},
    "apple": lambda item: {"code": item.code()},
    "applejwt": lambda item: {"id_token": item.id_token()},
    "applert": lambda item: {"refresh_token": item.refresh_token()},
    "twitter": lambda item: item.twitter_token(),
    "wechat": lambda item: {"code": item.code()},
    "qq": lambda item: {"code": item.code()},
}


IN_OTHER_TESTS = {
    "jwt": "test_jwt_of_stored_provider_signs_in_once",
    "foursquare": "test_credential_of_another_app_is_refused",
}


def test_every_native_provider_has_a_test() -> None:
    assert native_sign_in_operations.PROVIDERS.keys() == PROVIDERS.keys() | IN_OTHER_TESTS.keys()
    modules = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert [name for name in IN_OTHER_TESTS.values() if f"def {name}(" not in modules] == []


@pytest.mark.parametrize("name", PROVIDERS)
def test_app_signs_in_and_again_to_same_account(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, name: str
) -> None:
    app = an_app(new_tenant_server, fake_provider)
    first = app.ask(name, **PROVIDERS[name](app.upstream))
    assert answered(first)["expires_in"] == "900"
    profile = app.profile(first)
    again = app.profile(app.ask(name, **PROVIDERS[name](app.upstream)))
    assert (again["Uid"], again["NoOfLogins"]) == (profile["Uid"], 2)
    (identity,) = again["Identities"]
    assert (identity["ID"], identity["FullName"]) == ("ada-1815", "Ada Lovelace")
    assert profile["Provider"] == identity["Provider"] == name.removesuffix("jwt").replace("applert", "apple")


def test_google_code_of_an_app_signs_in(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    app = an_app(new_tenant_server, fake_provider)
    profile = app.profile(app.ask("GOOGLE", google_authcode=app.upstream.code()))
    assert profile["Identities"][0]["Provider"] == "google"
    both: dict[str, Any] = {"google_authcode": app.upstream.code(), "google_access_token": app.upstream.access_token()}
    assert refused(app.ask("google", **both)) == (400, 908)


def test_tokens_of_native_sign_in_are_stored(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    app = an_app(new_tenant_server, fake_provider)
    app.changes("google", keep_provider_tokens=True)
    token = answered(app.ask("google", google_access_token=app.upstream.access_token()))["access_token"]
    fake_provider.userinfo = {"name": "Ada King"}
    profile = answered(app.tenant.send("GET", "/api/v2/userprofile/refresh", bearer=token))
    assert profile["Identities"][0]["FullName"] == "Ada King"


# Parameters.


@pytest.mark.parametrize(
    ("name", "query", "code", "named"),
    [
        ("applejwt", {}, 908, "id_token"),
        ("apple", {}, 908, "code"),
        ("jwt", {}, 908, "providername"),
        ("google", {}, 929, "google_access_token"),
        ("linkedin", {}, 929, "ln_access_token"),
        ("twitter", {}, 929, "tw_access_token"),
        ("foursquare", {}, 929, "fs_access_token"),
        ("google", {"google_access_token": "any", "client_id": "unknown"}, 908, "client_id"),
        ("apple", {"code": "any", "redirect_uri": "https://evil.example/back"}, 908, "redirect_uri"),
        ("google", {"google_access_token": "any", "invitation_token": "any"}, 8175, "accepted, revoked or has expired"),
    ],
)
def test_missing_or_wrong_parameter_is_named(
    new_tenant_server: NewTenantServer,
    fake_provider: FakeProvider,
    name: str,
    query: dict[str, Any],
    code: int,
    named: str,
) -> None:
    app = an_app(new_tenant_server, fake_provider)
    answer = app.ask(name, **query)
    assert refused(answer) == (400, code)
    assert named in answer.get_json()["Description"]
    assert fake_provider.received == []


@pytest.mark.parametrize("name", ["github", "myspace", "googlejwtx", "none"])
def test_unknown_native_provider_is_refused(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, name: str
) -> None:
    app = an_app(new_tenant_server, fake_provider)
    assert refused(app.ask(name, id_token=app.upstream.id_token())) == (403, 1190)


def test_redirect_uri_of_the_whitelist_is_sent(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    page = "https://shop.example/back"
    app = an_app(new_tenant_server, fake_provider, url_whitelist=("https://shop.example",))
    answered(app.ask("apple", code=app.upstream.code(redirect_uri=page), redirect_uri=page))
    answered(app.ask("qq", code=app.upstream.code(redirect_uri=page), redirect_uri=page))
    assert refused(app.ask("apple", code=app.upstream.code(redirect_uri=page))) == (403, 1000)


def test_social_app_name_chooses_the_connection(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    app = an_app(new_tenant_server, fake_provider)
    phone = fake_provider.openid(key="phone-app")
    app.tenant.change_settings(connections={"apple-phone": phone, "apple-watch": fake_provider.openid()})
    token = app.upstream.id_token(aud="phone-app")
    assert refused(app.ask("applejwt", id_token=token)) == (400, 908)
    assert refused(app.ask("applejwt", id_token=token, socialappname="apple-watch")) == (403, 1232)
    profile = app.profile(app.ask("applejwt", id_token=token, socialappname="Apple-Phone"))
    assert profile["Provider"] == "apple-phone"
    assert refused(app.ask("googlejwt", id_token=token, socialappname="apple-phone")) == (403, 1223)


def test_connection_of_another_provider_is_not_taken(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    app = an_app(new_tenant_server, fake_provider)
    app.tenant.change_settings(connections={"google": {"key": "k", "issuer": "https://appleid.apple.com"}})
    assert refused(app.ask("googlejwt", id_token=app.upstream.id_token())) == (403, 1223)


# The API secret.


def test_secret_is_required_and_named(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    app = an_app(new_tenant_server, fake_provider)
    answer = app.ask("google", with_secret=False, google_access_token=app.upstream.access_token())
    assert refused(answer) == (400, 908)
    assert answer.get_json()["Description"] == "The secret is a required parameter."
    assert fake_provider.received == []


def test_older_spellings_of_key_and_secret_are_read(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    app = an_app(new_tenant_server, fake_provider)
    older = {"key": app.tenant.api_key, "secret": app.tenant.api_secret, "apikey": None}
    answered(app.ask("google", with_secret=False, google_access_token=app.upstream.access_token(), **older))


def test_legacy_apps_need_no_secret(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    app = an_app(new_tenant_server, fake_provider, legacy_native_login=True)
    token = app.upstream.access_token()
    answered(app.ask("google", with_secret=False, refresh_token=None, google_access_token=token))
    answered(app.ask("applert", with_secret=False, refresh_token=app.upstream.refresh_token()))
    wrong = app.ask("google", with_secret=False, secret="wrong", google_access_token=token)
    assert refused(wrong) == (401, 902), "a secret that is sent is checked"


def test_legacy_apps_have_a_limit_servers_have_none(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    app = an_app(new_tenant_server, fake_provider, legacy_native_login=True)
    codes = {app.ask("facebook", with_secret=False).status_code for _ in range(60)}
    assert codes == {400}
    assert app.ask("facebook", with_secret=False).status_code == 429
    assert app.ask("facebook").status_code == 400


def test_operation_does_not_shadow_fixed_addresses(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    app = an_app(new_tenant_server, fake_provider)
    token = answered(app.ask("google", google_access_token=app.upstream.access_token()))["access_token"]
    assert answered(app.tenant.send("GET", f"{PATH}/validate", access_token=token))["access_token"] == token
