"""Pages of a tenant with a captcha provider accept the provider's token or our own question, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import select, update

from app.identity.directory.tenants.tables import tenants
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.captchas import (
    DOUBTED,
    SECRET,
    WRONG_WORK,
    FakeCaptchaProvider,
    keep_secret,
    providing,
    solving,
)
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage

HCAPTCHA = {"provider": "hcaptcha", "site_key": "a site key", "work_bits": 8}
EMAIL, PASSWORD, BUTTON = "neu@example.test", "Zebra-kettle-91", "Create account"
NewCaptchaWorld = Callable[..., World]


@pytest.fixture
def provider(services: IdentityServices, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCaptchaProvider]:
    with providing(services, monkeypatch) as made:
        yield made


@pytest.fixture
def new_captcha_world(new_world: NewWorld) -> Callable[..., World]:
    """Return a function that makes a tenant with hCaptcha on registration."""

    def make(**captcha: Any) -> World:
        limits = {"register_per_minute_per_address": 0, "captcha_question_per_minute_per_address": 2}
        world = new_world(registration_captcha=True, captcha={**HCAPTCHA, **captcha}, limits=limits)
        keep_secret(world.services, world.tenant_id)
        return world

    return make


def set_captcha(world: World, **captcha: Any) -> None:
    """Change the tenant's captcha while a page is open."""
    where = tenants.c.tenant_id == world.tenant_id
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        stored = work.run(select(tenants.c.settings).where(where)).scalar_one()
        settings = {**stored, "captcha": {**stored["captcha"], **captcha}}
        work.run(update(tenants).where(where).values(settings=settings))
    world.services.directory.clear_cache()


def sign_up(page: VisitedPage, **fields: str) -> VisitedPage:
    return page.press(BUTTON, email=EMAIL, password=PASSWORD, **fields)


def is_registered(page: VisitedPage) -> bool:
    return page.status == 200 and EMAIL in page.text and BUTTON not in page.html


def policy(page: VisitedPage) -> str:
    assert page.answer
    return page.answer.headers["Content-Security-Policy"]


def test_widget_token_is_verified_with_the_provider(
    new_captcha_world: NewCaptchaWorld, new_visitor_at: NewVisitorAt, provider: FakeCaptchaProvider
) -> None:
    page = new_visitor_at(new_captcha_world()).open("/register")
    assert is_registered(sign_up(page, captcha_proof="a proof"))
    [(_, facts)] = provider.received
    assert (facts["response"], facts["secret"], facts["sitekey"]) == ("a proof", SECRET, HCAPTCHA["site_key"])


def test_own_work_is_accepted_without_provider_call(
    new_captcha_world: NewCaptchaWorld, new_visitor_at: NewVisitorAt, provider: FakeCaptchaProvider
) -> None:
    page = new_visitor_at(new_captcha_world()).open("/register")
    assert is_registered(sign_up(page, **solving(page, BUTTON)))
    assert provider.received == []


def test_widget_token_is_accepted_once(
    new_captcha_world: NewCaptchaWorld, new_visitor_at: NewVisitorAt, provider: FakeCaptchaProvider
) -> None:
    visitor = new_visitor_at(new_captcha_world())
    assert is_registered(sign_up(visitor.open("/register"), captcha_proof="a proof"))
    second = visitor.open("/register").press(BUTTON, email="b@example.test", password=PASSWORD, captcha_proof="a proof")
    assert second.status == 403


@pytest.mark.parametrize("kind", ["recaptcha_v2", "recaptcha_v3", "hcaptcha", "tencent"])
def test_rejected_widget_token_leads_to_own_work(
    new_captcha_world: NewCaptchaWorld, new_visitor_at: NewVisitorAt, provider: FakeCaptchaProvider, kind: str
) -> None:
    provider.body = DOUBTED
    page = new_visitor_at(new_captcha_world(provider=kind)).open("/register")
    refused = sign_up(page, captcha_proof="a proof", captcha_randstr="r")
    assert (refused.status, len(provider.received)) == (403, 1)
    assert "We couldn’t verify that you’re human." in refused.text
    assert "a proof" not in refused.html
    assert is_registered(sign_up(refused, **solving(refused, BUTTON)))


def test_own_work_is_accepted_while_provider_is_down(
    new_captcha_world: NewCaptchaWorld, new_visitor_at: NewVisitorAt, provider: FakeCaptchaProvider
) -> None:
    provider.status = 500
    page = sign_up(new_visitor_at(new_captcha_world()).open("/register"), captcha_proof="a proof")
    assert page.status == 403
    assert is_registered(sign_up(page, **solving(page, BUTTON)))


def test_own_work_beside_a_provider_is_limited(
    new_captcha_world: NewCaptchaWorld, new_visitor_at: NewVisitorAt, provider: FakeCaptchaProvider
) -> None:
    """The limit bounds requests that bypass the provider, whose computers work as fast as they like."""
    visitor = new_visitor_at(new_captcha_world())
    page = visitor.open("/register")
    for expected in (200, 200, 429):
        page = visitor.open("/register")
        email = f"neu{expected}@example.test"
        assert page.press(BUTTON, email=email, password=PASSWORD, **solving(page, BUTTON)).status == expected
    assert provider.received == []


def test_missing_token_and_work_are_refused(
    new_captcha_world: NewCaptchaWorld, new_visitor_at: NewVisitorAt, provider: FakeCaptchaProvider
) -> None:
    page = sign_up(new_visitor_at(new_captcha_world()).open("/register"), captcha_script="y")
    assert (page.status, provider.received) == (403, [])
    assert "We couldn’t verify that you’re human." in page.text
    wrong_answer = sign_up(page, **WRONG_WORK)
    assert "We couldn’t verify that you’re human." in wrong_answer.text


@pytest.mark.parametrize("name", ["captcha_proof", "captcha_randstr", "captcha_asked", "captcha_challenge"])
def test_malformed_widget_fields_get_a_page_not_an_error(
    new_captcha_world: NewCaptchaWorld,
    new_visitor_at: NewVisitorAt,
    provider: FakeCaptchaProvider,
    subtests: pytest.Subtests,
    name: str,
) -> None:
    provider.body = DOUBTED
    world = new_captcha_world(provider="tencent")
    for typed in ("\x00", "1" * 9_000, "\ud800", "é", " "):
        with subtests.test(ascii(typed[:20])):
            sent = typed.encode("utf-8", "surrogatepass").decode("latin-1")
            page = sign_up(new_visitor_at(world).open("/register"), **{"captcha_proof": "x", name: sent})
            assert page.status in (400, 403, 422)
            assert BUTTON in page.html


# With `fallback=False`: without our own question.


def test_widget_alone_is_required_without_fallback(
    new_captcha_world: NewCaptchaWorld, new_visitor_at: NewVisitorAt, provider: FakeCaptchaProvider
) -> None:
    page = new_visitor_at(new_captcha_world(fallback=False)).open("/register")
    assert "captcha_challenge" not in page.form(BUTTON).fields
    refused = sign_up(page)
    assert refused.status == 403
    assert "We couldn’t verify that you’re human." in refused.text
    assert is_registered(sign_up(refused, captcha_proof="a proof"))


@pytest.mark.both_databases
def test_earlier_challenge_is_refused_without_fallback(
    new_captcha_world: NewCaptchaWorld, new_visitor_at: NewVisitorAt, provider: FakeCaptchaProvider
) -> None:
    world = new_captcha_world()
    page = new_visitor_at(world).open("/register")
    set_captcha(world, fallback=False)
    refused = sign_up(page, **solving(page, BUTTON))
    assert (refused.status, provider.received) == (403, [])
    assert "captcha_challenge" not in refused.form(BUTTON).fields


def test_provider_down_without_fallback_answers_503(
    new_captcha_world: NewCaptchaWorld, new_visitor_at: NewVisitorAt, provider: FakeCaptchaProvider
) -> None:
    provider.status = 500
    page = sign_up(new_visitor_at(new_captcha_world(fallback=False)).open("/register"), captcha_proof="a proof")
    assert page.status == 503


def test_locked_sign_in_shows_the_widget(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, provider: FakeCaptchaProvider
) -> None:
    lockout = {"type": "captcha", "maximum_failed_attempts": 1}
    world = new_world(captcha={**HCAPTCHA, "fallback": False}, lockout=lockout)
    keep_secret(world.services, world.tenant_id)
    ada, page = world.person("ada@example.com"), new_visitor_at(world).open("/login")
    assert "hcaptcha.com" not in policy(page) + page.html
    page = page.press("Sign in", identifier=ada.email, password="wrong")
    page = page.press("Sign in", identifier=ada.email, password=ada.password)
    assert (page.status, page.heading) == (403, "One more check")
    assert "https://*.hcaptcha.com" in policy(page)
    missing = page.press("Continue")
    assert "We couldn’t verify" in missing.text
    assert missing.press("Continue", captcha_proof="a proof").heading == "Profile"


def test_csp_allows_only_the_widget_of_this_tenant(
    new_captcha_world: NewCaptchaWorld, new_visitor_at: NewVisitorAt
) -> None:
    visitor = new_visitor_at(new_captcha_world(provider="tencent"))
    assert "captcha" not in policy(visitor.open("/login"))
    header = policy(visitor.open("/register"))
    for directive in ("script-src 'nonce-", "style-src 'nonce-"):
        assert directive in header
    assert "https://*.captcha.qcloud.com" in header
    assert ("google" in header, "hcaptcha" in header, "unsafe" in header) == (False, False, False)
