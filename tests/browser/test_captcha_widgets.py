"""Signing up and in where the tenant has a captcha provider: by its widget, without scripts, and while its script stays away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from app.contract.captcha import Question
from app.identity.platform.services import Services
from tests.support.captcha_widgets import PROOF, answer, provide
from tests.support.captchas import BELIEVED, DOUBTED, SECRET, Provider, answer_to, keep_secret, providing
from tests.support.hub_in_browser import Opened
from tests.support.oauth_world import NewWorld, World

EMAIL, PASSWORD, KEY = "neu@example.test", "Zebra-kettle-91", "a site key"
KINDS = ("recaptcha_v2", "recaptcha_v3", "hcaptcha", "tencent")
INSTEAD = "You cannot use this? Answer a question instead"


@pytest.fixture
def captcha(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the tenant states: hCaptcha, unless the test says another."""
    return {"provider": "hcaptcha", "site_key": KEY, **getattr(request, "param", {})}


@pytest.fixture
def world(new_world: NewWorld, captcha: dict[str, Any]) -> World:
    """A tenant with a provider that asks everybody who registers, and locks at the first wrong password."""
    lockout = {"type": "captcha", "maximum_failed_attempts": 1}
    made = new_world(registration_captcha=True, captcha=captcha, lockout=lockout)
    keep_secret(made.services, made.tenant_id)
    return made


@pytest.fixture(autouse=True)
def provider(services: Services, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with providing(services, monkeypatch) as made:
        yield made


def of(*kinds: str, **captcha: Any) -> pytest.MarkDecorator:
    stated = [{"provider": kind, **captcha} for kind in kinds]
    return pytest.mark.parametrize("captcha", stated, indirect=True, ids=kinds)


def typed(page: Page, served: str) -> None:
    page.goto(f"{served}/register", wait_until="domcontentloaded")  # a script that never comes holds up the rest
    page.get_by_label("Email").fill(EMAIL)
    page.get_by_label("Password", exact=True).fill(PASSWORD)


def answers(page: Page) -> None:
    asked = page.locator("[name=captcha_asked]").get_attribute("value") or ""
    _bits, _seed, kind, *numbers = asked.split(".")
    page.locator("#captcha").fill(str(answer_to(Question.model_validate({"kind": kind, "numbers": numbers}))))


def ticks(page: Page) -> None:
    page.frame_locator("iframe").get_by_role("checkbox").check()
    expect(page.get_by_text("Done. Now go on below.")).to_be_visible()


def registers(page: Page) -> None:
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_text(EMAIL)).to_be_visible()
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Create your account")


@of(*KINDS)
def test_a_person_signs_up_by_the_widget(
    captcha: dict[str, Any], served: str, opened: Opened, provider: Provider
) -> None:
    kind = captcha["provider"]
    provider.says = BELIEVED.get(kind, provider.says)
    page = opened()
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda problem: complaints.append(str(problem)))
    provide(page)
    typed(page, served)
    expect(page.get_by_role("button", name=INSTEAD)).to_be_visible()
    expect(page.locator("#captcha")).to_be_hidden()
    if kind == "tencent":
        page.get_by_role("button", name="Begin the check").click()
    if kind != "recaptcha_v3":
        ticks(page)
    registers(page)
    [(_, facts)] = provider.asked
    assert {PROOF, SECRET} <= set(facts.values())
    assert facts.get("Randstr") == ("random" if kind == "tencent" else None)
    assert complaints == []


@of(*KINDS)
def test_without_javascript_a_question_stands_in_its_place(served: str, opened: Opened, provider: Provider) -> None:
    page = opened(java_script_enabled=False)
    provide(page)
    typed(page, served)
    expect(page.get_by_role("button", name=INSTEAD)).to_be_hidden()
    expect(page.get_by_text("checks that you are no machine")).to_be_hidden()
    answers(page)
    registers(page)
    assert provider.asked == []


def hang(_: Route) -> None:
    """Answer nothing, ever."""


def stop_half_way(route: Route) -> None:
    """Let the first script come, and none of what it needs."""
    answer(route) if route.request.url.partition("?")[0].endswith("api.js") else route.abort()


@pytest.mark.parametrize("how", [Route.abort, hang])
@of("hcaptcha", "recaptcha_v3")
def test_where_the_script_stays_away_the_question_comes(
    served: str, opened: Opened, how: Callable[[Route], None]
) -> None:
    page = opened()
    page.clock.install()
    provide(page, how)
    typed(page, served)
    page.clock.fast_forward(7_000)
    expect(page.locator("#captcha")).to_be_visible()
    expect(page.get_by_text("checks that you are no machine")).to_be_hidden()
    answers(page)
    registers(page)


@of("recaptcha_v2")
def test_where_the_script_stops_half_way_the_question_comes(served: str, opened: Opened) -> None:
    page = opened()
    page.clock.install()
    provide(page, stop_half_way)
    typed(page, served)
    expect(page.locator("#captcha")).to_be_hidden()
    page.clock.fast_forward(7_000)
    answers(page)
    registers(page)


@of("recaptcha_v2", "recaptcha_v3")
def test_whom_the_provider_doubts_a_question_is_asked(
    captcha: dict[str, Any], served: str, opened: Opened, provider: Provider
) -> None:
    provider.says = DOUBTED
    page = opened()
    provide(page)
    typed(page, served)
    if captcha["provider"] != "recaptcha_v3":
        ticks(page)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("alert")).to_contain_text("That could not be confirmed.")
    expect(page.get_by_text("checks that you are no machine")).to_be_visible()
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    answers(page)
    registers(page)


def test_who_cannot_use_the_widget_asks_for_the_question(served: str, opened: Opened) -> None:
    page = opened()
    provide(page)
    typed(page, served)
    page.get_by_role("button", name=INSTEAD).press("Enter")
    expect(page.locator("#captcha")).to_be_focused()
    answers(page)
    registers(page)


def test_a_locked_account_opens_by_the_widget(world: World, served: str, opened: Opened) -> None:
    ada = world.person("ada@example.com")
    page = opened()
    provide(page)
    page.goto(f"{served}/login")
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password", exact=True).fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("That did not work")
    page.get_by_label("Password", exact=True).fill(ada.password)
    ticks(page)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(ada.email)


@of("hcaptcha", fallback=False)
def test_where_there_is_the_widget_alone_the_page_says_that_it_does_not_load(served: str, opened: Opened) -> None:
    page, plain = opened(), opened(java_script_enabled=False)
    provide(page, Route.abort)
    typed(page, served)
    expect(page.get_by_role("status")).to_contain_text("The check does not load.")
    expect(page.locator("#captcha")).to_have_count(0)
    typed(plain, served)
    expect(plain.get_by_text("Allow JavaScript here")).to_be_visible()
