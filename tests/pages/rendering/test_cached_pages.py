"""A page from the cache is the page that is rendered, and what a browser sends stays out of it (decision 0368)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from flask import Response
from werkzeug.test import Client, EnvironBuilder

from app.hub.pages.sign_in.login.views import first_login_page
from app.hub.rendering import cached_pages
from app.hub.rendering.cached_pages import CachedPage
from app.hub.rendering.page import Page
from app.hub.web.application import HubFlask
from app.hub.web.cached_responses import ResponseCache
from app.hub.web.interaction import HubInteraction
from app.hub.web.services import HubServices
from app.hub.web.visit import Visit, current_visit, set_current_visit
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.comparable_pages import FRESH, ComparableAnswer
from tests.support.visitors.visitor import NewVisitor, Visitor

PATHS = ("/login", "/register", "/forgot-password", "/forgot-pin", "/sign-in/mail", "/sign-in/sms", "/sign-in/device")
SETTINGS: Mapping[str, Any] = {
    "passkeys": True, "passwordless_email": True, "smart_login": True, "phone_login": True, "passwordless_sms": True,
    "pin": {"is_on": True},
}  # fmt: skip
EVIL = "zq7-evil-zq7"
SENT: Mapping[str, Mapping[str, str]] = {
    "plain": {},
    "German": {"Accept-Language": "de-CH,ar;q=0.8"},
    "Arabic": {"Accept-Language": "ar"},
    "gzip": {"Accept-Encoding": "br, gzip"},
    "returning browser": {"Cookie": "gatehouse-browser=an-older-secret-0123456789"},
    "chosen secret": {"Cookie": f"gatehouse-browser={EVIL}"},
    "chosen language": {"Cookie": "gatehouse-language=de"},
    "last method": {"Cookie": "gatehouse-method=passkey"},
    "cookies of others": {"Cookie": f"consent=all; theme={EVIL}"},
    "a cookie of no letters": {"Cookie": "theme=\xff"},
    "odd cookies": {
        "Cookie": f'gatehouse-method={EVIL}; gatehouse-application={EVIL}; gatehouse-identifier={EVIL}; gatehouse-passkey={EVIL}; x="><b>'
    },
    "odd headers": {
        "Accept-Language": f"{EVIL}, de;q=0.5", "User-Agent": f"Mozilla/5.0 (iPhone; {EVIL})", "Referer": f"https://{EVIL}.example/",
        "Origin": f"https://{EVIL}.example", "X-Forwarded-Host": f"{EVIL}.example", "Accept": EVIL,
    },
}  # fmt: skip


@dataclass
class Hub:
    """One hub, at one tenant's host."""

    app: HubFlask
    base_url: str

    @property
    def services(self) -> HubServices:
        shared: HubServices = self.app.extensions["gatehouse"]
        return shared

    @property
    def cache(self) -> ResponseCache:
        return self.services.cached_pages

    def open(self, path: str, headers: Mapping[str, str] | None = None) -> ComparableAnswer:
        client = Client(self.app, use_cookies=False)
        return ComparableAnswer(client.get(path, base_url=self.base_url, headers=dict(headers or {})))

    def cached(self, path: str, headers: Mapping[str, str] | None = None) -> ComparableAnswer:
        """Answer a request that was answered before."""
        self.open(path, headers)
        return self.open(path, headers)

    def rendered(self, path: str, headers: Mapping[str, str] | None = None) -> ComparableAnswer:
        """Answer with the page as its function renders it for this browser."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(CachedPage, "__call__", lambda self, *arguments: self.make(*arguments).render())
            self.open(path, headers)  # asks for the tenant
            return self.open(path, headers)

    def is_answered_from_cache(self, path: str, headers: Mapping[str, str] | None = None, method: str = "GET") -> bool:
        builder = EnvironBuilder(path, self.base_url, method=method, headers=[*(headers or {}).items()])
        return cached_pages.is_answered_from_cache(self.app, builder.get_environ())

    def texts(self) -> str:
        """Return all that is cached, headers too."""
        return "".join(f"{item.headers} {b''.join(item.text._texts).decode()}" for item in self.cache.values())


@pytest.fixture
def hub(hub_app: HubFlask, new_world: NewWorld) -> Hub:
    world = new_world(**SETTINGS)
    made = Hub(hub_app, world.services.settings.hub_url(world.name))
    made.cache.clear()
    return made


@pytest.fixture
def shop_hub(hub_app: HubFlask, world: World) -> Hub:
    made = Hub(hub_app, world.services.settings.hub_url(world.name))
    made.cache.clear()
    return made


def cookies_of(visitor: Visitor) -> dict[str, str]:
    stored = (visitor.client._cookies or {}).values()
    return {"Cookie": "; ".join(f"{cookie.key}={cookie.value}" for cookie in stored)}


def test_cached_page_is_the_rendered_page(hub: Hub, subtests: pytest.Subtests) -> None:
    assert set(cached_pages._PAGES) == set(PATHS), "each cached page is compared"
    for path in PATHS:
        for name, headers in SENT.items():
            with subtests.test(f"{path}, {name}"):
                rendered = hub.rendered(path, headers)
                assert rendered.response.status_code == 200
                before = len(hub.cache.values())
                hub.open(path, headers)
                cached = hub.open(path, headers)
                assert len(hub.cache.values()) <= before + 1
                assert cached.comparable == rendered.comparable
                assert cached.response.content_length == len(cached.response.get_data())
    assert len(hub.cache.values()) >= len(PATHS)


def test_cache_holds_nothing_that_a_browser_sent(hub: Hub) -> None:
    for path in PATHS:
        for headers in SENT.values():
            for query in ("", f"?lang={EVIL}", f"?x={EVIL}", f"?methods={EVIL}&reset={EVIL}", f"?login_hint={EVIL}"):
                hub.open(path + query, headers)
    assert hub.texts().count("<title>") >= len(PATHS)
    assert EVIL not in hub.texts()
    assert not FRESH.findall(hub.texts().replace(cached_pages._MARKS["nonce"], "").replace("x", ""))


def test_cached_page_is_made_for_no_browser(hub: Hub) -> None:
    """Neither cookies nor parameters, session or address of the browser reach the function that makes a page."""
    hub.open("/login")
    seen: list[Visit] = []

    def make(name: str) -> Page:
        seen.append(current_visit())
        return first_login_page.make(name, False)

    page = CachedPage(make, lambda _: False)
    tenant = hub.services.tenancy.fresh(hub.base_url.partition("://")[2])
    assert tenant is not None
    with hub.app.app_context():
        environ = {"QUERY_STRING": f"{EVIL}={EVIL}", "PATH_INFO": f"/{EVIL}", f"HTTP_{EVIL}": EVIL}
        visit = Visit(tenant=tenant, host=EVIL, address=EVIL, agent=EVIL, cookies={EVIL: EVIL}, environ=environ)
        visit.session = visit.binding = visit.cookie_language = visit.accept_language = EVIL
        set_current_visit(visit)
        page(EVIL)
        page(EVIL)
        assert current_visit() is visit
    assert len(seen) == 1
    assert seen[0].tenant is tenant
    assert EVIL not in repr(seen[0])


def test_header_added_to_pages_is_on_cached_ones(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    render = Page.render

    def with_header(page: Page, status: int = 200) -> Response:
        response = render(page, status)
        response.headers["X-Added"] = f"to {current_visit().nonce}"
        return response

    monkeypatch.setattr(Page, "render", with_header)
    for headers in ({}, {"Accept-Encoding": "gzip"}):
        found = [hub.open("/login", headers) for _ in range(3)]
        assert all(f'nonce="{answer.response.headers["X-Added"][3:]}"' in answer.text for answer in found)
    assert len(hub.cache.values()) == 1


@pytest.mark.parametrize(
    "parameters", [{}, {"ui_locales": "ar"}, {"display": "popup"}], ids=["plain", "Arabic", "pop-up"]
)
def test_cached_page_of_an_application_is_the_rendered_page(
    world: World, shop_hub: Hub, new_visitor: NewVisitor, parameters: dict[str, str]
) -> None:
    shop = world.application("shop", client_name="Acme Shop", logo_uri="https://cdn.example/shop.png")
    first, second = new_visitor(), new_visitor()
    shop_hub.cached(first.authorize(shop, **parameters).address.removeprefix(shop_hub.base_url), cookies_of(first))
    path = second.authorize(shop, **parameters).address.removeprefix(shop_hub.base_url)
    assert shop_hub.is_answered_from_cache(path, cookies_of(second))
    before = len(shop_hub.cache.values())
    cached = shop_hub.open(path, cookies_of(second))
    assert len(shop_hub.cache.values()) == before
    assert cached.comparable == shop_hub.rendered(path, cookies_of(second)).comparable
    assert path.partition("attempt=")[2] in cached.text
    assert "Acme Shop" in cached.text
    assert path.partition("attempt=")[2] not in shop_hub.texts()


def test_other_headers_make_another_page(world: World, shop_hub: Hub, new_visitor: NewVisitor) -> None:
    shop = world.application("shop")
    native = world.application(
        "native", client_name="shop", redirect_uris=["com.example:/cb"], application_type="native"
    )
    for element, item in ((shop, {}), (shop, {"display": "popup"}), (native, {}), (shop, {})):
        visitor = new_visitor()
        path = visitor.authorize(element, **item).address.removeprefix(shop_hub.base_url)
        rendered = shop_hub.rendered(path, cookies_of(visitor)).comparable
        assert shop_hub.open(path, cookies_of(visitor)).comparable == rendered
    assert len(shop_hub.cache.values()) == 3


def test_another_application_gets_its_own_page(world: World, shop_hub: Hub, new_visitor: NewVisitor) -> None:
    item, two = (
        world.application(name, client_name="Shop", tos_uri=f"https://{name}.example") for name in ("one", "two")
    )
    for shop, address in ((item, "https://one.example"), (two, "https://two.example"), (item, "https://one.example")):
        visitor = new_visitor()
        path = visitor.authorize(shop).address.removeprefix(shop_hub.base_url)
        assert address in shop_hub.cached(path, cookies_of(visitor)).text


def test_every_visit_has_its_own_nonce_token_and_secret(hub: Hub) -> None:
    hub.cached("/login")
    answers = [hub.open("/login") for _ in range(3)]
    found = [FRESH.findall(f"{answer.response.headers} {answer.text}") for answer in answers]
    assert len({part for parts in found for part in parts if part.startswith("nonce-")}) == 3
    assert len({part for parts in found for part in parts if part.startswith("gatehouse-browser")}) == 3
    assert len({part for parts in found for part in parts if part.startswith("value=")}) == 3
    for answer in answers:  # the policy names the nonce of its page
        nonces = {
            part.partition("nonce-")[2] for part in FRESH.findall(str(answer.response.headers)) if "nonce-" in part
        }
        assert len(nonces) == 1
        assert f'nonce="{nonces.pop()}"' in answer.text


@pytest.mark.parametrize("chosen", ["nosniff", "form-action", "e", 'autocomplete="username"'])
def test_browser_cannot_choose_what_is_filled_in_for_others(hub: Hub, chosen: str) -> None:
    """A secret that is also a text of the page or of a header must not become a place for the secrets of others."""
    other = {"Cookie": f"gatehouse-browser={'x' * len(chosen)}"}
    expected = hub.rendered("/login", other).comparable
    hub.cache.clear()
    hub.cached("/login", {"Cookie": f"gatehouse-browser={chosen}"})
    assert hub.cached("/login", other).comparable == expected


def test_form_of_a_cached_page_signs_in(world: World, shop_hub: Hub, new_visitor: NewVisitor) -> None:
    ada = world.person("ada@example.com")
    shop_hub.cached("/login", {"Accept-Language": "en"})
    page = new_visitor().open("/login")
    assert page.press("Sign in", identifier=ada.email, password=ada.password).status == 200
    outsider = new_visitor().open("/login")
    outsider.visitor.forget("browser")
    assert outsider.press("Sign in", identifier=ada.email, password=ada.password).status == 403


@pytest.mark.parametrize("path", PATHS)
def test_first_page_waits_for_nothing(hub: Hub, path: str) -> None:
    assert not hub.is_answered_from_cache(path), "the tenant is not in memory"
    hub.open(path)
    for headers in SENT.values():
        assert hub.is_answered_from_cache(path, headers)


@pytest.mark.parametrize(
    ("path", "headers", "method"),
    [
        ("/login?lang=de", {}, "GET"),
        ("/login?reset=done", {}, "GET"),
        ("/login?attempt=x&needs=method", {}, "GET"),
        ("/login?attempt=unknown", {}, "GET"),
        ("/login?attempt=unknown", {"Cookie": "gatehouse-browser=an-older-secret-0123456789"}, "GET"),
        ("/login/", {}, "GET"),
        ("/profile", {}, "GET"),
        ("/login", {}, "HEAD"),
        ("/login", {}, "POST"),
        ("/login", {"Cookie": "gatehouse-session=of-someone"}, "GET"),
        ("/forgot-password", {"Cookie": "x=y; gatehouse-session=; gatehouse-session=of-someone"}, "GET"),
    ],
)  # fmt: skip
def test_other_requests_may_wait(hub: Hub, path: str, headers: dict[str, str], method: str) -> None:
    hub.cached("/login")
    hub.cached(path, headers)
    assert not hub.is_answered_from_cache(path, headers, method)


def test_registration_that_asks_for_a_captcha_may_wait(world: World, shop_hub: Hub) -> None:
    world.change_settings(registration_captcha=True)
    shop_hub.cached("/register")
    assert shop_hub.is_answered_from_cache("/login")
    assert not shop_hub.is_answered_from_cache("/register")


def test_page_of_another_browsers_interaction_may_wait(world: World, shop_hub: Hub, new_visitor: NewVisitor) -> None:
    visitor, other = new_visitor(), new_visitor()
    path = visitor.authorize(world.application("shop")).address.removeprefix(shop_hub.base_url)
    assert shop_hub.cached(path, cookies_of(visitor)).response.status_code == 200
    assert shop_hub.is_answered_from_cache(path, cookies_of(visitor))
    other.authorize(world.application("other"))
    assert not shop_hub.is_answered_from_cache(path, cookies_of(other))


def cookie_of(hub: Hub, interaction: HubInteraction) -> dict[str, str]:
    hub.open("/login")
    tenant = hub.services.tenancy.fresh(hub.base_url.partition("://")[2])
    assert tenant is not None
    return {"Cookie": "=".join(hub.services.interactions.write(interaction, tenant.name))}


@pytest.mark.parametrize("seconds_left", [-1, 60])
def test_page_of_an_expired_interaction_may_wait(hub: Hub, seconds_left: int) -> None:
    interaction = HubInteraction("i" * 24, "b" * 24, expires_at=hub.services.now() + seconds_left)
    headers = cookie_of(hub, interaction)
    assert hub.is_answered_from_cache(f"/login?attempt={interaction.id}", headers) is (seconds_left > 0)


def test_invitation_is_on_its_own_page_alone(hub: Hub) -> None:
    plain = HubInteraction("i" * 24, "b" * 24, expires_at=hub.services.now() + 60)
    invited = replace(plain, invitation="Example Orchard")
    for interaction in (plain, invited, plain):
        page = hub.cached(f"/register?attempt={interaction.id}", cookie_of(hub, interaction))
        assert ("Example Orchard" in page.text) is (interaction is invited)


def test_login_hint_is_on_its_own_page_alone(world: World, shop_hub: Hub, new_visitor: NewVisitor) -> None:
    shop, plain, hinted = world.application("shop"), new_visitor(), new_visitor()
    plain_path = plain.authorize(shop).address.removeprefix(shop_hub.base_url)
    path = hinted.authorize(shop, login_hint="ada@example.com").address.removeprefix(shop_hub.base_url)
    assert "ada@example.com" in shop_hub.cached(path, cookies_of(hinted)).text
    assert "ada@example.com" not in shop_hub.cached(plain_path, cookies_of(plain)).text
    assert "ada@example.com" in shop_hub.cached(path, cookies_of(hinted)).text


@contextmanager
def later() -> Iterator[None]:
    """Let cached tenants be old meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1)
        yield


def test_changed_tenant_is_on_the_next_page(world: World, shop_hub: Hub) -> None:
    assert shop_hub.cached("/register").response.status_code == 200
    assert shop_hub.is_answered_from_cache("/register")
    world.change_brand(display_name="Acme Winter", color="#8a3b12")
    with later():
        changed = shop_hub.cached("/register")
        assert not shop_hub.is_answered_from_cache("/register")
    assert "Acme Winter" in changed.text
    assert "#8a3b12" in shop_hub.cached("/register").text


def test_version_in_an_answer_has_the_tenant_read_anew(shop_hub: Hub) -> None:
    """A page that calls the identity service learns of the change at once, and so do all pages of this process."""
    shop_hub.cached("/login")
    assert shop_hub.is_answered_from_cache("/login")
    host = shop_hub.base_url.partition("://")[2]
    shop_hub.services.tenancy.on_response(host, {"x-gatehouse-tenant-version": "another"})
    assert not shop_hub.is_answered_from_cache("/login")


def test_unknown_host_may_wait(hub: Hub) -> None:
    other = Hub(hub.app, "http://absent-here.localhost:8000")
    assert other.cached("/login").response.status_code == 404
    assert not other.is_answered_from_cache("/login")


def test_cache_is_bounded(hub: Hub) -> None:
    page = CachedPage(first_login_page.make, lambda _: False)
    hub.open("/login")
    tenant = hub.services.tenancy.fresh(hub.base_url.partition("://")[2])
    assert tenant is not None
    (own,) = hub.cache.keys(tenant.name)
    some = next(iter(hub.cache.values()))
    for number in range(600):
        hub.cache.get_or_make("other", ("other", number), lambda: some)
    assert hub.cache.keys(tenant.name) == [own], "a tenant with many pages evicts its own"
    with hub.app.app_context():
        set_current_visit(Visit(tenant=tenant))
        page("", False)
    assert len(hub.cache.values()) == 512
