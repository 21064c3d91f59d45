"""Pages of a tenant with a captcha provider: its proof or our own question opens, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import select, update

from app.identity.directory.tenants.tables import tenants
from app.identity.platform.services import Services
from app.identity.platform.store.unit import UnitOfWork
from tests.support.captchas import (
    DOUBTED,
    SECRET,
    Provider,
    answer_to,
    asked_on,
    keep_secret,
    providing,
    worked,
)
from tests.support.oauth_world import NewWorld, World
from tests.support.visitor import Seen, Visitor

HCAPTCHA = {"provider": "hcaptcha", "site_key": "a site key", "work_bits": 8}
EMAIL, PASSWORD, BUTTON = "neu@example.test", "Zebra-kettle-91", "Create account"
At = Callable[[World], Visitor]
Stating = Callable[..., World]


@pytest.fixture
def provider(services: Services, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with providing(services, monkeypatch) as made:
        yield made


@pytest.fixture
def stating(new_world: NewWorld) -> Callable[..., World]:
    """A tenant that asks a captcha of everybody who registers, with hCaptcha."""

    def make(**captcha: Any) -> World:
        limits = {"register_per_minute_per_address": 0, "captcha_question_per_minute_per_address": 2}
        world = new_world(registration_captcha=True, captcha={**HCAPTCHA, **captcha}, limits=limits)
        keep_secret(world.services, world.tenant_id)
        return world

    return make


def restate(world: World, **captcha: Any) -> None:
    """Change the captcha beneath a page that is open."""
    where = tenants.c.tenant_id == world.tenant_id
    with UnitOfWork(world.services.database, world.tenant_id).apart() as work:
        held = work.run(select(tenants.c.settings).where(where)).scalar_one()
        stated = {**held, "captcha": {**held["captcha"], **captcha}}
        work.run(update(tenants).where(where).values(settings=stated))
    world.services.directory.forget()


def sign_up(page: Seen, **shown: str) -> Seen:
    return page.press(BUTTON, email=EMAIL, password=PASSWORD, **shown)


def in_words(page: Seen) -> dict[str, str]:
    return {"captcha": str(answer_to(asked_on(page, BUTTON)))}


def is_in(page: Seen) -> bool:
    return page.status == 200 and EMAIL in page.text and BUTTON not in page.html


def policy(page: Seen) -> str:
    assert page.answer
    return page.answer.headers["Content-Security-Policy"]


def test_the_proof_of_the_widget_is_verified_with_the_provider(
    stating: Stating, new_visitor_at: At, provider: Provider
) -> None:
    page = new_visitor_at(stating()).open("/register")
    assert is_in(sign_up(page, captcha_proof="a proof"))
    [(_, facts)] = provider.asked
    assert (facts["response"], facts["secret"], facts["sitekey"]) == ("a proof", SECRET, HCAPTCHA["site_key"])


def test_our_own_question_opens_too_and_nobody_elsewhere_is_asked(
    stating: Stating, new_visitor_at: At, provider: Provider
) -> None:
    page = new_visitor_at(stating()).open("/register")
    assert is_in(sign_up(page, **in_words(page)))
    assert provider.asked == []


def test_a_proof_opens_once(stating: Stating, new_visitor_at: At, provider: Provider) -> None:
    visitor = new_visitor_at(stating())
    assert is_in(sign_up(visitor.open("/register"), captcha_proof="a proof"))
    second = visitor.open("/register").press(BUTTON, email="b@example.test", password=PASSWORD, captcha_proof="a proof")
    assert second.status == 403


@pytest.mark.parametrize("kind", ["recaptcha_v2", "recaptcha_v3", "hcaptcha", "tencent"])
def test_what_the_provider_doubts_gets_the_next_question(
    stating: Stating, new_visitor_at: At, provider: Provider, kind: str
) -> None:
    provider.says = DOUBTED
    page = new_visitor_at(stating(provider=kind)).open("/register")
    doubted = sign_up(page, captcha_proof="a proof", captcha_randstr="r")
    assert (doubted.status, len(provider.asked)) == (403, 1)
    assert "That could not be confirmed." in doubted.text
    assert "a proof" not in doubted.html
    assert is_in(sign_up(doubted, **in_words(doubted)))


def test_while_the_provider_does_not_answer_the_question_does(
    stating: Stating, new_visitor_at: At, provider: Provider
) -> None:
    provider.status = 500
    page = sign_up(new_visitor_at(stating()).open("/register"), captcha_proof="a proof")
    assert page.status == 403
    assert is_in(sign_up(page, **in_words(page)))


def test_beside_a_provider_no_work_opens(stating: Stating, new_visitor_at: At, provider: Provider) -> None:
    """What goes past the provider is then no more than the limit of answers in words lets through."""
    page = new_visitor_at(stating()).open("/register")
    for expected in (403, 403, 429):
        bits, seed, *_ = page.form(BUTTON).fields["captcha_asked"].split(".")
        page = sign_up(page, captcha_work=worked(seed, int(bits)))
        assert page.status == expected
    assert provider.asked == []


def test_neither_of_both_opens_nothing(stating: Stating, new_visitor_at: At, provider: Provider) -> None:
    page = sign_up(new_visitor_at(stating()).open("/register"))
    assert (page.status, provider.asked) == (403, [])
    assert "That could not be confirmed." in page.text
    wrong = sign_up(page, captcha="77")
    assert "That was not the answer." in wrong.text


@pytest.mark.parametrize("typed", ["\x00", "1" * 9_000, "\ud800", "é", " "])
@pytest.mark.parametrize("name", ["captcha_proof", "captcha_randstr", "captcha_asked", "captcha_challenge"])
def test_whatever_a_widget_says_gets_a_page(
    stating: Stating, new_visitor_at: At, provider: Provider, name: str, typed: str
) -> None:
    provider.says = DOUBTED
    page = new_visitor_at(stating(provider="tencent")).open("/register")
    sent = typed.encode("utf-8", "surrogatepass").decode("latin-1")
    page = sign_up(page, **{"captcha_proof": "x", name: sent})
    assert page.status in (400, 403, 422)
    assert BUTTON in page.html


# Without the question beside it.


def test_a_tenant_may_want_the_widget_alone(stating: Stating, new_visitor_at: At, provider: Provider) -> None:
    page = new_visitor_at(stating(fallback=False)).open("/register")
    assert "captcha_challenge" not in page.form(BUTTON).fields
    refused = sign_up(page)
    assert refused.status == 403
    assert "That you are no machine could not be confirmed." in refused.text
    assert is_in(sign_up(refused, captcha_proof="a proof"))


def test_a_question_from_before_opens_nothing_then(stating: Stating, new_visitor_at: At, provider: Provider) -> None:
    world = stating()
    page = new_visitor_at(world).open("/register")
    restate(world, fallback=False)
    refused = sign_up(page, **in_words(page))
    assert (refused.status, provider.asked) == (403, [])
    assert "captcha_challenge" not in refused.form(BUTTON).fields


def test_while_the_provider_does_not_answer_nobody_comes_in_then(
    stating: Stating, new_visitor_at: At, provider: Provider
) -> None:
    provider.status = 500
    page = sign_up(new_visitor_at(stating(fallback=False)).open("/register"), captcha_proof="a proof")
    assert page.status == 503


def test_a_locked_sign_in_is_asked_for_the_widget(new_world: NewWorld, new_visitor_at: At, provider: Provider) -> None:
    lockout = {"type": "captcha", "maximum_failed_attempts": 1}
    world = new_world(captcha={**HCAPTCHA, "fallback": False}, lockout=lockout)
    keep_secret(world.services, world.tenant_id)
    ada, page = world.person("ada@example.com"), new_visitor_at(world).open("/login")
    assert "hcaptcha.com" not in policy(page) + page.html
    page = page.press("Sign in", identifier=ada.email, password="wrong")
    page = page.press("Sign in", identifier=ada.email, password=ada.password)
    assert (page.status, "One check more" in page.text or "could not be confirmed" in page.text) == (403, True)
    assert "https://*.hcaptcha.com" in policy(page)
    missing = page.press("Sign in", password=ada.password)
    assert "could not be confirmed" in missing.text
    assert missing.press("Sign in", password=ada.password, captcha_proof="a proof").heading == ada.email


def test_the_policy_opens_for_the_widget_of_this_tenant_alone(stating: Stating, new_visitor_at: At) -> None:
    visitor = new_visitor_at(stating(provider="tencent"))
    assert "captcha" not in policy(visitor.open("/login"))
    there = policy(visitor.open("/register"))
    for directive in ("script-src 'nonce-", "style-src 'nonce-"):
        assert directive in there
    assert "https://*.captcha.qcloud.com" in there
    assert ("google" in there, "hcaptcha" in there, "unsafe" in there) == (False, False, False)
