"""An account with only a linked identity reauthenticates at the provider if the provider supports it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest

from app.contract.federation import connection_completion
from tests.support.accounts.connecting import query_of
from tests.support.fakes import identity_provider
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)
START_URL, REAUTHENTICATION_HEADING = "/sign-in/with?provider=globex", "Confirm it’s you"
PASSWORD = "Quartz-lantern-58"


@pytest.fixture
def globex(services: Any) -> Iterator[FakeProvider]:
    with identity_provider.provider(services) as tenant:
        yield tenant


@pytest.fixture
def tenant(new_world: NewWorld, globex: FakeProvider) -> World:
    return new_world(connections={"globex": globex.openid(title="Globex", trusts_email=True)})


@pytest.fixture
def visitor(tenant: World, new_visitor_at: NewVisitorAt, globex: FakeProvider) -> Visitor:
    browser: Visitor = new_visitor_at(tenant)
    assert sign_in_at_provider(browser, globex, START_URL).profile_name == "Ada Lovelace"
    return browser


def sign_in_at_provider(visitor: Visitor, globex: FakeProvider, start: str) -> VisitedPage:
    return visitor.open(globex.callback_url(visitor.open(start).address))


def provider_links(page: VisitedPage, start: str = "/sign-in/with") -> list[str]:
    return [unescape(link) for link in re.findall(r'href="([^"]+)"', page.html) if link.startswith(start)]


def provider_link(page: VisitedPage) -> str:
    (link,) = provider_links(page)
    return link


def test_provider_is_asked_to_reauthenticate(tenant: World, visitor: Visitor, globex: FakeProvider) -> None:
    pass_time(tenant.services, minutes=6)
    page = visitor.open("/set-password")
    assert page.heading == REAUTHENTICATION_HEADING
    redirected = visitor.open(provider_link(page)).address
    assert (query_of(redirected)["prompt"], query_of(redirected)["max_age"]) == ("login", "0")
    page = visitor.open(globex.callback_url(redirected, auth_time=int(tenant.services.clock.now().timestamp())))
    assert page.press("Save password", new_password=PASSWORD).address.endswith("done=password-set")


def test_first_sign_in_sends_no_reauthentication_request(tenant: World, new_visitor_at: NewVisitorAt) -> None:
    redirected = new_visitor_at(tenant).open(START_URL).address
    assert not query_of(redirected).keys() & {"prompt", "max_age"}


def test_old_auth_time_is_no_reauthentication(tenant: World, visitor: Visitor, globex: FakeProvider) -> None:
    pass_time(tenant.services, minutes=6)
    globex.claims["auth_time"] = int(tenant.services.clock.now().timestamp()) - 360
    assert (
        sign_in_at_provider(visitor, globex, provider_link(visitor.open("/set-password"))).heading
        == REAUTHENTICATION_HEADING
    )
    assert visitor.open("/set-password").heading == REAUTHENTICATION_HEADING


def test_provider_without_prompt_signs_in_only(
    tenant: World, visitor: Visitor, globex: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_completion, "GOOGLE", globex.url)
    redirected = visitor.open(START_URL).address
    assert redirected.startswith(globex.url)
    assert not query_of(redirected).keys() & {"prompt", "max_age"}
    pass_time(tenant.services, minutes=6)
    assert provider_links(visitor.open("/set-password")) == []


def tokens_of(visitor: Visitor, shop: RelyingParty) -> dict[str, Any]:
    """Return the tokens of a silent authorization."""
    answer = shop.redeem(visitor.authorize(shop, scope="openid").query["code"])
    return dict(answer.json or {})


def change_username_status(tenant: World, token: str) -> int:
    base = f"http://{tenant.services.settings.api_hostname}"
    answer = tenant.wsgi.put(
        "/identity/v2/auth/username",
        query_string={"apikey": tenant.api_key},
        json={"username": f"ada{secrets.token_hex(4)}"},
        base_url=base,
        headers={"Authorization": f"Bearer {token}"},
    )
    return answer.status_code


def test_silent_federated_sign_in_does_not_refresh_session(
    tenant: World, visitor: Visitor, globex: FakeProvider
) -> None:
    """The application signs the session out with an id_token_hint and redirects through a provider with single sign-on."""
    shop = tenant.application("shop", interface_access="full", access_token_seconds=3600)
    first = tokens_of(visitor, shop)
    pass_time(tenant.services, minutes=15)
    visitor.open(f"/service/oidc/logout?id_token_hint={first['id_token']}")
    assert visitor.open("/profile").is_sign_in
    sign_in_at_provider(visitor, globex, START_URL)
    assert change_username_status(tenant, tokens_of(visitor, shop)["access_token"]) == 403


def test_fresh_auth_time_of_provider_refreshes_session(tenant: World, visitor: Visitor, globex: FakeProvider) -> None:
    shop = tenant.application("shop", interface_access="full", access_token_seconds=3600)
    token = tokens_of(visitor, shop)["access_token"]
    pass_time(tenant.services, minutes=15)
    globex.claims["auth_time"] = globex.now - 3600
    sign_in_at_provider(visitor, globex, START_URL)
    assert change_username_status(tenant, token) == 403
    globex.claims["auth_time"] = globex.now
    sign_in_at_provider(visitor, globex, START_URL)
    assert change_username_status(tenant, token) == 200
    assert change_username_status(tenant, tokens_of(visitor, shop)["access_token"]) == 200
