"""Sites of the tenant share the browser's session."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import select, update
from werkzeug.test import Client as WsgiClient
from werkzeug.test import TestResponse

from app.identity.authentication.sign_in.tables import sessions
from app.identity.credentials.tokens.token_store import access_tokens
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, Visitor

SITE, EVIL = "https://www.acme.example", "https://evil.example"
CALLBACK = f"{SITE}/welcome"
Members = dict[str, Any]


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(url_whitelist=[SITE], web_sso=True)


@pytest.fixture
def visitor(tenant: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(tenant)


@pytest.fixture
def ada(tenant: World) -> Person:
    return tenant.person("ada@example.test")


def asks(visitor: Visitor, path: str, origin: str | None = SITE, **query: str) -> TestResponse:
    """Ask as a script of the site would."""
    headers = {"Origin": origin} if origin else {}
    return visitor.client.get(f"/ssologin/{path}?{urlencode(query)}", base_url=visitor.home, headers=headers)


def sign_in(visitor: Visitor, ada: Person) -> None:
    page = visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    assert page.heading == "Profile", page.text


def api(tenant: World, method: str, path: str, **query: str) -> TestResponse:
    client, base = WsgiClient(tenant.wsgi.application), f"http://{tenant.services.settings.api_hostname}"
    return client.open(path, method=method, query_string={"apikey": tenant.api_key, **query}, base_url=base)


def logged_in(tenant: World, ada: Person) -> str:
    """Return an access token of the API's own sign-in."""
    client, base = WsgiClient(tenant.wsgi.application), f"http://{tenant.services.settings.api_hostname}"
    body = {"email": ada.email, "password": ada.password}
    answer = client.post("/identity/v2/auth/login", json=body, query_string={"apikey": tenant.api_key}, base_url=base)
    assert answer.status_code == 200, answer.text
    return str((answer.json or {})["access_token"])


def change_token(tenant: World, token: str, **columns: Any) -> None:
    where = (access_tokens.c.tenant_id == tenant.tenant_id, access_tokens.c.token_hash == randomness.digest(token))
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        stored = work.run(select(access_tokens.c.facts).where(*where)).scalar_one()
        work.run(
            update(access_tokens).where(*where).values(**{**columns, "facts": {**stored, **columns.get("facts", {})}})
        )


def sessions_of(tenant: World) -> list[Any]:
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        return list(work.run(select(sessions).where(sessions.c.tenant_id == tenant.tenant_id)))


def is_in(visitor: Visitor) -> bool:
    return bool((asks(visitor, "islogin").json or {})["isauthenticated"])


def test_site_learns_of_the_session_and_gets_a_token(tenant: World, visitor: Visitor, ada: Person) -> None:
    assert asks(visitor, "login").json == {"isauthenticated": False, "token": None}
    sign_in(visitor, ada)
    answer = asks(visitor, "login")
    assert answer.headers["Access-Control-Allow-Origin"] == SITE
    assert answer.headers["Access-Control-Allow-Credentials"] == "true"
    assert answer.headers["Cache-Control"] == "no-store"
    token = (answer.json or {})["token"]
    profile = api(tenant, "GET", "/identity/v2/auth/account", access_token=token).json or {}
    assert profile["Uid"] == ada.uid
    assert asks(visitor, "islogin").json == {"isauthenticated": True}
    assert asks(visitor, "logout").json == {"ok": True}
    assert not is_in(visitor)
    assert api(tenant, "GET", "/identity/v2/auth/account", access_token=token).status_code == 401


@pytest.mark.parametrize("origin", [EVIL, "null", None, f"{SITE}.evil.example", "http://www.acme.example"])
def test_no_other_site_learns_or_changes_anything(
    tenant: World, visitor: Visitor, ada: Person, origin: str | None
) -> None:
    sign_in(visitor, ada)
    token = logged_in(tenant, ada)
    for path, query in (
        ("login", {}), ("islogin", {}), ("refresh", {}), ("logout", {}),
        ("setToken", {"token": token, "apikey": tenant.api_key}),
        ("setcustomtoken", {"token": token, "apikey": tenant.api_key}),
    ):  # fmt: skip
        answer = asks(visitor, path, origin, **query)
        assert (answer.status_code, (answer.json or {})["ErrorCode"]) == (403, 909), path
        assert "Access-Control-Allow-Origin" not in answer.headers
    assert is_in(visitor)


ODD_ORIGINS = [
    f"{SITE}/", f"{SITE}/page", f"{SITE}?x", f"{SITE}#x", SITE.upper(), SITE.replace("www", "WWW"), f"{SITE}:443", f"{SITE},{EVIL}",
    f"{SITE}, {SITE}", f"{SITE} {EVIL}", "NULL", "*", SITE.replace("//", "//who@"), f"{SITE}/{'x' * 400}", SITE.removeprefix("https:"),
    "https://www.acme.example.", "https://www.\u00e4cme.example", "file://", "chrome-extension://abc", "javascript:x",
]  # fmt: skip


def test_header_that_is_no_origin_is_no_site(
    tenant: World, visitor: Visitor, ada: Person, subtests: pytest.Subtests
) -> None:
    sign_in(visitor, ada)
    token = logged_in(tenant, ada)
    by_token = {"token": token, "apikey": tenant.api_key}
    for origin in [*ODD_ORIGINS, *(item.replace(SITE, visitor.home) for item in ODD_ORIGINS[:4])]:
        for path, query in (("login", {}), ("refresh", {}), ("logout", {}), ("settoken", by_token)):
            with subtests.test(f"{path} {origin[:60]}"):
                answer = asks(visitor, path, origin, **query)
                assert (answer.status_code, (answer.json or {})["ErrorCode"]) == (403, 909)
                assert "Access-Control-Allow-Origin" not in answer.headers
    assert is_in(visitor)


def test_several_origins_or_an_empty_one_are_no_site(visitor: Visitor, ada: Person, subtests: pytest.Subtests) -> None:
    sign_in(visitor, ada)
    for sent in (["", ""], [SITE, SITE], ["null", SITE], [""]):
        own = [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Dest", "empty")]
        headers = [*own, *(("Origin", item) for item in sent)]
        with subtests.test(str(sent)):
            answer = visitor.client.get("/ssologin/login", base_url=visitor.home, headers=headers)
            assert answer.status_code == 403
    assert is_in(visitor)


def test_page_of_our_own_gets_a_token(visitor: Visitor, ada: Person) -> None:
    sign_in(visitor, ada)
    headers = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty"}
    answer = visitor.client.get("/ssologin/login", base_url=visitor.home, headers=headers)
    assert (answer.json or {})["token"]
    for site, destination in (
        ("cross-site", "empty"),
        ("same-origin", "document"),
        ("same-origin", "iframe"),
        ("same-origin", ""),
    ):
        headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Dest": destination}
        for path in ("login", "logout", "refresh", "settoken", "setcustomtoken"):
            answer = visitor.client.get(f"/ssologin/{path}", base_url=visitor.home, headers=headers)
            assert answer.status_code == 403, (path, site, destination)
    assert is_in(visitor)


@pytest.mark.parametrize(
    "path", ["ssologin/x", "SSOLOGIN/x", "%73sologin/x", "/ssologin/x", "profile/../ssologin/x", "."]
)
def test_sign_in_leads_to_no_address_that_changes_the_session(visitor: Visitor, ada: Person, path: str) -> None:
    target = f"{visitor.home}/{path}?token=x"
    page = visitor.open(f"/auth?{urlencode({'action': 'login', 'return_url': target})}")
    page = page.press("Sign in", identifier=ada.email, password=ada.password)
    assert "ssologin" not in page.address.casefold(), page.address
    assert "landing=refused" in page.address, page.address


def test_nothing_exchanges_the_account_of_a_browser(tenant: World, visitor: Visitor, ada: Person) -> None:
    sign_in(visitor, ada)
    cookie, bob = visitor.cookie("session").value, tenant.person("bob@example.test")
    for path in ("setToken", "setcustomtoken"):
        answer = asks(visitor, path, token=logged_in(tenant, bob), apikey=tenant.api_key)
        assert answer.json == {"ok": False, "istokenvalid": False}
        assert "Set-Cookie" not in answer.headers
    assert visitor.cookie("session").value == cookie
    assert "ada@example.test" in visitor.open("/emails").text


def test_nothing_is_shared_by_default(tenant: World, visitor: Visitor, ada: Person) -> None:
    sign_in(visitor, ada)
    tenant.change_settings(web_sso=False)
    assert asks(visitor, "login").status_code == 403


def test_token_of_the_site_begins_the_session_once(tenant: World, visitor: Visitor, ada: Person) -> None:
    token = logged_in(tenant, ada)
    answer = asks(visitor, "setToken", token=token, apikey=tenant.api_key)
    assert answer.json == {"ok": True, "istokenvalid": True}
    cookie = visitor.cookie("session")
    assert (cookie.http_only, cookie.same_site) == (True, "Lax")
    assert is_in(visitor)
    again = asks(visitor, "setToken", token=token, apikey=tenant.api_key)
    assert again.json == {"ok": True, "istokenvalid": True}, "the same account stays signed in"
    visitor.forget("session")
    used = asks(visitor, "setToken", token=token, apikey=tenant.api_key)
    assert used.json == {"ok": False, "istokenvalid": False}
    assert not is_in(visitor)


def test_session_by_token_is_no_more_than_the_token(tenant: World, visitor: Visitor, ada: Person) -> None:
    token, now = logged_in(tenant, ada), tenant.services.clock.now()
    facts = {"auth_time": int(now.timestamp()) - 1800, "ends_at": int(now.timestamp()) + 600, "amr": ["pwd"]}
    change_token(tenant, token, facts=facts)
    asks(visitor, "setcustomtoken", token=token, apikey=tenant.api_key, isrememberme="true")
    assert (visitor.cookie("session").max_age or 0) <= 600
    (stored,) = sessions_of(tenant)
    assert now - stored.authenticated_at >= timedelta(minutes=29)
    assert stored.expires_at <= now + timedelta(seconds=601)


def test_remembered_session_keeps_its_cookie(tenant: World, visitor: Visitor, ada: Person) -> None:
    asks(visitor, "setcustomtoken", token=logged_in(tenant, ada), apikey=tenant.api_key, isrememberme="true")
    answer = asks(visitor, "refresh")
    assert answer.json == {"ok": True, "isauthenticated": True}
    assert "Max-Age" in answer.headers["Set-Cookie"]
    visitor.forget("session")
    assert asks(visitor, "refresh").json == {"ok": False, "isauthenticated": False}


@pytest.mark.both_databases
def test_wrong_tokens_begin_no_session(tenant: World, visitor: Visitor, ada: Person, new_world: NewWorld) -> None:
    shop = tenant.application("Shop")
    other = new_world()
    theirs = shop.redeem(tenant.browser().code(shop, ada)).json or {}
    foreign = logged_in(other, other.person("ada@example.test"))
    for token in ("", "x", theirs["access_token"], theirs["refresh_token"], foreign):
        answer = asks(visitor, "setToken", token=token, apikey=tenant.api_key)
        assert answer.json == {"ok": False, "istokenvalid": False}
    wrong_key = asks(visitor, "setToken", token=logged_in(tenant, ada), apikey="x")
    assert (wrong_key.status_code, (wrong_key.json or {})["ErrorCode"]) == (403, 901)
    no = {"ok": False, "istokenvalid": False}
    other_kind = logged_in(tenant, ada)
    for facts in ({"act": {"sub": "support"}}, {"act": None, "cnf": {"jkt": "x"}}):
        change_token(tenant, other_kind, facts=facts)
        assert asks(visitor, "setToken", token=other_kind, apikey=tenant.api_key).json == no
    old = logged_in(tenant, ada)
    change_token(tenant, old, expires_at=tenant.services.clock.now())
    closed = logged_in(tenant, ada)
    ada.close()
    for token in (old, closed):
        assert asks(visitor, "setToken", token=token, apikey=tenant.api_key).json == no
    assert not visitor.cookies("gatehouse-session")


def comes(visitor: Visitor, referer: str | None, **query: str) -> TestResponse:
    headers = {"Referer": referer} if referer else {}
    return visitor.client.get(f"/ssologin/setSafariToken?{urlencode(query)}", base_url=visitor.home, headers=headers)


def test_browser_that_comes_itself_goes_on_to_the_callback(tenant: World, visitor: Visitor, ada: Person) -> None:
    query = {"token": logged_in(tenant, ada), "apikey": tenant.api_key, "callback": CALLBACK}
    for referer, callback in ((None, CALLBACK), (EVIL, CALLBACK), (SITE, EVIL), (SITE, "javascript:x"), (SITE, "")):
        answer = comes(visitor, referer, **{**query, "callback": callback})
        assert answer.status_code == 403, (referer, callback)
    answer = comes(visitor, f"{SITE}/page", **query)
    assert (answer.status_code, answer.headers["Location"]) == (302, CALLBACK)
    assert is_in(visitor)
    bob = tenant.person("bob@example.test")
    comes(visitor, SITE, **{**query, "token": logged_in(tenant, bob)})
    assert "ada@example.test" in visitor.open("/emails").text, "a link does not exchange the account"


@pytest.mark.parametrize(
    "referer", ["http://[", "https://[x]/", "http://a:b/", "about:blank", "https://user@www.acme.example/"]
)
def test_malformed_page_belongs_to_no_site(visitor: Visitor, referer: str) -> None:
    assert comes(visitor, referer, callback=CALLBACK).status_code == 403


def moves_to_accounts_cookie(visitor: Visitor) -> None:
    """Leave the browser's session in the cookie of its other accounts alone."""
    host = visitor.home.partition("://")[2].partition(":")[0]
    visitor.client.set_cookie("gatehouse-accounts", visitor.session_cookie(), domain=host)
    visitor.forget("session")


def test_browser_with_other_accounts_is_not_signed_out(tenant: World, visitor: Visitor, ada: Person) -> None:
    sign_in(visitor, ada)
    moves_to_accounts_cookie(visitor)
    bob = tenant.person("bob@example.test")
    answer = asks(visitor, "setToken", token=logged_in(tenant, bob), apikey=tenant.api_key)
    assert answer.json == {"ok": False, "istokenvalid": False}
    again = asks(visitor, "setToken", token=logged_in(tenant, ada), apikey=tenant.api_key)
    assert again.json == {"ok": True, "istokenvalid": True}


def test_session_iframe_learns_of_every_change(tenant: World, visitor: Visitor, ada: Person) -> None:
    """Session Management 1.0 section 3.2: the state changes with the session."""
    tenant.change_settings(session_management=True)
    states = []
    asks(visitor, "setToken", token=logged_in(tenant, ada), apikey=tenant.api_key)
    states.append(visitor.cookie("gatehouse-state").value)
    asks(visitor, "logout")
    states.append(visitor.cookie("gatehouse-state").value)
    comes(visitor, SITE, token=logged_in(tenant, ada), apikey=tenant.api_key, callback=CALLBACK)
    states.append(visitor.cookie("gatehouse-state").value)
    assert len(set(states)) == 3


@pytest.mark.parametrize(
    ("listed", "origin"),
    [
        ("https://Bücher.example:443", "https://xn--bcher-kva.example"),
        ("https://*.bücher.example", "https://www.xn--bcher-kva.example"),
    ],
)
def test_site_is_listed_in_any_spelling(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, listed: str, origin: str
) -> None:
    visitor = new_visitor_at(new_world(url_whitelist=[listed], web_sso=True))
    assert asks(visitor, "login", origin).headers.get("Access-Control-Allow-Origin") == origin
    for other in ("https://xn--bcher-kva.example:8443", "capacitor://localhost", "https://bucher.example"):
        assert "Access-Control-Allow-Origin" not in asks(visitor, "login", other).headers
