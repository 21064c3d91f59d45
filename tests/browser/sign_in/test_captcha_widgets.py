"""Captcha widgets in Chromium: solved, without JavaScript, and with a provider script that does not load."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from app.identity.platform.services import IdentityServices
from tests.support.browsers.chromium import Opened
from tests.support.fakes.captcha_widgets import PROOF, answer, provide
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.captchas import (
    BELIEVED,
    DOUBTED,
    SECRET,
    FakeCaptchaProvider,
    keep_secret,
    providing,
)

EMAIL, PASSWORD, KEY = "neu@example.test", "Zebra-kettle-91", "a site key"
KINDS = ("recaptcha_v2", "recaptcha_v3", "hcaptcha", "tencent")
FALLBACK_BUTTON = "Can’t use this? Try another check"


@pytest.fixture
def captcha(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the tenant's captcha settings: hCaptcha, unless the test overrides them."""
    return {"provider": "hcaptcha", "site_key": KEY, **getattr(request, "param", {})}


@pytest.fixture
def world(new_world: NewWorld, captcha: dict[str, Any]) -> World:
    """Return a tenant with a captcha on registration and after the first wrong password."""
    lockout = {"type": "captcha", "maximum_failed_attempts": 1}
    captcha_world = new_world(registration_captcha=True, captcha=captcha, lockout=lockout)
    keep_secret(captcha_world.services, captcha_world.tenant_id)
    return captcha_world


@pytest.fixture(autouse=True)
def provider(services: IdentityServices, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCaptchaProvider]:
    with providing(services, monkeypatch) as captcha_world:
        yield captcha_world


def captcha_kinds(*kinds: str, **captcha: Any) -> pytest.MarkDecorator:
    settings = [{"provider": kind, **captcha} for kind in kinds]
    return pytest.mark.parametrize("captcha", settings, indirect=True, ids=kinds)


def fill_registration(page: Page, served: str) -> None:
    page.goto(f"{served}/register", wait_until="domcontentloaded")  # a hanging script delays the load event
    page.get_by_label("Email").fill(EMAIL)
    page.get_by_label("Password", exact=True).fill(PASSWORD)


def use_own_check(page: Page) -> None:
    expect(page.get_by_text("You’re human. You can continue.")).to_be_visible(timeout=60_000)


def tick_widget(page: Page) -> None:
    page.frame_locator("iframe").get_by_role("checkbox").check()
    expect(page.get_by_text("You’re verified. Continue below.")).to_be_visible()


def submit_registration(page: Page) -> None:
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_text(EMAIL)).to_be_visible()
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Create your account")


@captcha_kinds(*KINDS)
def test_registration_by_widget(
    captcha: dict[str, Any], served: str, opened: Opened, provider: FakeCaptchaProvider
) -> None:
    kind = captcha["provider"]
    provider.body = BELIEVED.get(kind, provider.body)
    page = opened()
    console_errors: list[str] = []
    page.on("console", lambda message: console_errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda problem: console_errors.append(str(problem)))
    provide(page)
    fill_registration(page, served)
    expect(page.get_by_role("button", name=FALLBACK_BUTTON)).to_be_visible()
    expect(page.locator("#captcha")).to_be_hidden()
    if kind == "tencent":
        page.get_by_role("button", name="Start check").click()
    if kind != "recaptcha_v3":
        tick_widget(page)
    submit_registration(page)
    [(_, facts)] = provider.received
    assert {PROOF, SECRET} <= set(facts.values())
    assert facts.get("Randstr") == ("random" if kind == "tencent" else None)
    assert console_errors == []


@captcha_kinds(*KINDS)
def test_without_javascript_a_link_is_mailed(served: str, opened: Opened, provider: FakeCaptchaProvider) -> None:
    page = opened(java_script_enabled=False)
    provide(page)
    fill_registration(page, served)
    expect(page.get_by_role("button", name=FALLBACK_BUTTON)).to_be_hidden()
    expect(page.get_by_text("checks that you’re human")).to_be_hidden()
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your email")
    assert provider.received == []


@captcha_kinds("recaptcha_v2", "hcaptcha")
@pytest.mark.parametrize(
    ("scheme", "device", "expected"),
    [("dark", "light", "dark"), ("light", "dark", "light"), ("auto", "dark", "dark"), ("auto", "light", "light")],
)
def test_widget_has_the_scheme_of_the_page(
    world: World, served: str, opened: Opened, scheme: str, device: str, expected: str
) -> None:
    world.change_brand(color_scheme=scheme)
    page = opened(color_scheme=device)
    provide(page)
    page.goto(f"{served}/register")
    expect(page.locator("iframe")).to_have_attribute("data-theme", expected)


def hang(_: Route) -> None:
    """Never answer."""


def serve_first_script_only(route: Route) -> None:
    """Serve the first script and abort everything that it loads."""
    answer(route) if route.request.url.partition("?")[0].endswith("api.js") else route.abort()


@pytest.mark.parametrize("route_handler", [Route.abort, hang])
@captcha_kinds("hcaptcha", "recaptcha_v3")
def test_missing_provider_script_starts_own_check(
    served: str, opened: Opened, route_handler: Callable[[Route], None]
) -> None:
    page = opened(alone=True)
    page.clock.install()
    provide(page, route_handler)
    fill_registration(page, served)
    page.clock.fast_forward(7_000)
    expect(page.locator("#captcha")).to_be_visible()
    expect(page.get_by_text("checks that you’re human")).to_be_hidden()
    use_own_check(page)
    submit_registration(page)


@captcha_kinds("recaptcha_v2")
def test_half_loaded_provider_script_starts_own_check(served: str, opened: Opened) -> None:
    page = opened(alone=True)
    page.clock.install()
    provide(page, serve_first_script_only)
    fill_registration(page, served)
    expect(page.locator("#captcha")).to_be_hidden()
    page.clock.fast_forward(7_000)
    use_own_check(page)
    submit_registration(page)


@captcha_kinds("recaptcha_v2", "recaptcha_v3")
def test_rejected_widget_token_starts_own_check(
    captcha: dict[str, Any], served: str, opened: Opened, provider: FakeCaptchaProvider
) -> None:
    provider.body = DOUBTED
    page = opened()
    provide(page)
    fill_registration(page, served)
    if captcha["provider"] != "recaptcha_v3":
        tick_widget(page)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("alert")).to_contain_text("We couldn’t verify that you’re human.")
    expect(page.get_by_text("checks that you’re human")).to_be_visible()
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    use_own_check(page)
    submit_registration(page)


def test_fallback_button_starts_own_check(served: str, opened: Opened) -> None:
    page = opened()
    provide(page)
    fill_registration(page, served)
    page.get_by_role("button", name=FALLBACK_BUTTON).press("Enter")
    expect(page.locator("#captcha")).to_be_focused()
    use_own_check(page)
    submit_registration(page)


def test_widget_unlocks_a_locked_sign_in(world: World, served: str, opened: Opened) -> None:
    ada = world.person("ada@example.com")
    page = opened()
    provide(page)
    page.goto(f"{served}/login")
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password", exact=True).fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#password-problem")).to_contain_text("Wrong email or password.")
    page.get_by_label("Password", exact=True).fill(ada.password)
    tick_widget(page)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Profile")


@captcha_kinds("hcaptcha", fallback=False)
def test_widget_without_fallback_reports_load_failure(served: str, opened: Opened) -> None:
    page, without_script = opened(), opened(java_script_enabled=False)
    provide(page, Route.abort)
    fill_registration(page, served)
    expect(page.get_by_role("status")).to_contain_text("The check didn’t load.")
    expect(page.locator("#captcha")).to_have_count(0)
    fill_registration(without_script, served)
    expect(without_script.get_by_text("Turn on JavaScript")).to_be_visible()
