"""Every built-in provider with everything that can go wrong: refused on a page, with nothing half-created (decision 0425)."""

from __future__ import annotations

import pytest

from app.identity.platform.outbound import bounded_transport
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.refused_providers import BROKEN, DENIED, GONE, ProviderVisit, Refusal, cases
from tests.support.journeys.social_providers import ALL, connected
from tests.support.oauth.world import NewWorld
from tests.support.visitors.visitor import NewVisitorAt

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases
NOTICES = {DENIED: "Sign-in canceled", BROKEN: "This provider isn’t responding"}
TABLE = cases()


def visit(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider, name: str, **settings: object
) -> ProviderVisit:
    """Return a visitor who was led to a provider whose addresses the tenant trusts and whose tokens it keeps."""
    provider = connected(name, fake_provider, trusts_email=True, keep_provider_tokens=True)
    world = new_world(**settings)
    provider.store(world)
    return ProviderVisit(world, new_visitor_at(world), provider, lambda: new_visitor_at(world))


@pytest.mark.parametrize(("name", "refusal"), TABLE, ids=[f"{name}-{refusal.case}" for name, refusal in TABLE])
def test_wrong_answer_of_a_provider_is_refused(
    new_world: NewWorld,
    new_visitor_at: NewVisitorAt,
    fake_provider: FakeProvider,
    name: str,
    refusal: Refusal,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    visited = visit(new_world, new_visitor_at, fake_provider, name)
    monkeypatch.setattr(bounded_transport, "TIMEOUT_SECONDS", 0.2 if refusal.case == "slow" else 5.0)
    before = visited.rows()
    page = refusal.does(visited)
    if refusal.reason == GONE:
        assert page.status == 410
    else:
        assert page.is_sign_in, page.text
        shown = [NOTICES[reason] in page.text for reason in refusal.reason.split("|") if reason]
        assert any(shown) is bool(refusal.reason), page.text
    assert visited.rows() == before
    assert not visited.visitor.cookies("session")


@pytest.mark.parametrize("name", ALL)
def test_unverified_address_opens_no_account(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider, name: str
) -> None:
    visited = visit(new_world, new_visitor_at, fake_provider, name)
    visited.world.person("ada@example.test")
    before = visited.rows()["accounts"]
    who = {"email_verified": False} if visited.provider.is_openid else {"verified": False}
    fake_provider.claims = {key: value for key, value in fake_provider.claims.items() if key != "email_verified"}
    page = visited.back(visited.answer(**who))
    assert page.heading == "Create your account", page.text
    assert visited.rows()["accounts"] == before
    assert visited.visitor.open("/profile").is_sign_in
