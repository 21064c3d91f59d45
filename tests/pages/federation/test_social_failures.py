"""Every kind of provider with everything that can go wrong: refused on a page, with nothing half-created (decision 0425)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from flask import Flask

from app.identity.platform.outbound import bounded_transport
from tests.support.accounts.connection_failures import traces_in
from tests.support.fakes.https_receiver import HttpsReceiver, https_receiver
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.account_security import signed_in
from tests.support.journeys.federated_sign_in import link_identity
from tests.support.oauth.world import NewWorld, World
from tests.support.refused_answers import failed_calls
from tests.support.refused_answers.jwt_misdeeds import JWT, JwtRefusal, JwtVisit
from tests.support.refused_answers.misdeeds import BROKEN, DENIED, FORGED, GONE, REGISTERS, UNUSABLE, Refusal
from tests.support.refused_answers.table import LINKABLE, REDIRECTING, refusals
from tests.support.refused_answers.visits import NewVisit, ProviderVisit, stored_accounts, stored_rows
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases
NOTICES = {
    DENIED: "Sign-in canceled", FORGED: "Sign-in didn’t finish", BROKEN: "This provider isn’t responding",
    UNUSABLE: "This email can’t be used here",
}  # fmt: skip
REFERENCE = re.compile(r"mention this ID: ?([B-Z]{4}-[B-Z]{4}-[B-Z]{4})")
TABLE = [(kind, refusal) for kind in REDIRECTING for refusal in refusals(kind)]


@pytest.fixture
def new_visit(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, identity_app: Flask, fake_provider: FakeProvider
) -> NewVisit:
    return NewVisit(new_world, new_visitor_at, identity_app, fake_provider)


@pytest.fixture
def portal() -> Iterator[HttpsReceiver]:
    with https_receiver() as receiver:
        yield receiver


def assert_refused(page: VisitedPage, reason: str) -> None:
    if reason == GONE:
        assert page.status == 410
    elif reason == REGISTERS:
        assert page.heading == "Create your account", page.text
    else:
        assert page.is_sign_in, page.text
        shown = [NOTICES[notice] in page.text for notice in reason.split("|") if notice]
        assert any(shown) is bool(reason), page.text


def assert_explained(page: VisitedPage, world: World) -> None:
    """Assert that the page has a reference by which operators find the failed check."""
    traces = traces_in(world.services, world.tenant_id)
    assert REFERENCE.findall(page.text) == [trace.reference for trace in traces][:1], page.text
    texts = (traces[0].expected, traces[0].received, traces[0].diagnosis.problem, traces[0].diagnosis.advice)
    assert all(texts), texts
    assert failed_calls.classes_in(texts) == []


@pytest.mark.parametrize(("kind", "refusal"), TABLE, ids=[f"{kind}-{refusal.case}" for kind, refusal in TABLE])
def test_wrong_answer_of_a_provider_is_refused(
    new_visit: NewVisit, kind: str, refusal: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    visited = new_visit(kind)
    monkeypatch.setattr(bounded_transport, "TIMEOUT_SECONDS", 0.2 if refusal.case == "slow" else 5.0)
    page = refusal.does(visited)
    assert_refused(page, refusal.reason)
    if refusal.reason not in ("", REGISTERS):
        assert_explained(page, visited.world)
    if refusal.reason == REGISTERS:  # the form has the provider's tokens until it is sent
        assert stored_accounts(visited.world) == visited.accounts_before
    else:
        assert stored_rows(visited.world) == visited.before
    assert not visited.visitor.cookies("session")


@pytest.mark.parametrize("refusal", JWT, ids=[refusal.case for refusal in JWT])
def test_wrong_token_of_a_jwt_provider_is_refused(
    new_world: NewWorld,
    new_visitor_at: NewVisitorAt,
    identity_app: Flask,
    portal: HttpsReceiver,
    refusal: JwtRefusal,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = new_world()
    world.person("ada@example.test")
    visited = JwtVisit(world, identity_app, new_visitor_at(world), portal)
    monkeypatch.setattr(bounded_transport, "TIMEOUT_SECONDS", 0.2 if refusal.case == "slow" else 5.0)
    before = stored_rows(world)
    page = refusal.does(visited)
    if refusal.registers:
        assert page.heading == "Create your account", page.text
    else:
        assert urlsplit(page.address).path == "/access/jwt/error", page.text
        assert REFERENCE.search(page.text), page.text
    if refusal.has_provider and not refusal.registers:
        assert_explained(page, world)
    assert stored_rows(world) == before
    assert not visited.visitor.cookies("session")


def linked(visited: ProviderVisit) -> str:
    """Link the provider's person to an account; return the account's name."""
    ada = visited.world.person("lovelace@example.test", FirstName="Augusta")
    link_identity(visited.world, ada, visited.name, visited.provider.subject)
    visited.remember()
    return "Augusta"


@pytest.mark.parametrize("kind", REDIRECTING)
def test_changed_email_opens_the_linked_account(new_visit: NewVisit, kind: str) -> None:
    """The provider's person now has the address of another account, which stays as it is."""
    visited = new_visit(kind)
    name = linked(visited)
    visited.world.person("bob@example.test", FirstName="Bob")
    visited.remember()
    page = visited.back(visited.answer(email="bob@example.test"))
    assert page.profile_name == name, page.text
    assert stored_accounts(visited.world) == visited.accounts_before


@pytest.mark.parametrize("kind", REDIRECTING)
def test_two_tabs_sign_in_to_one_account(new_visit: NewVisit, kind: str) -> None:
    visited = new_visit(kind)
    name = linked(visited)
    first = visited.answer()
    visited.begin()
    second = visited.answer()
    assert visited.back(second).profile_name == name
    page = visited.back(first)
    assert page.profile_name == name, page.text
    assert stored_accounts(visited.world) == visited.accounts_before


@pytest.mark.parametrize("kind", LINKABLE)
def test_person_of_another_account_is_not_linked(new_visit: NewVisit, kind: str) -> None:
    visited = new_visit(kind)
    linked(visited)
    bob = visited.world.person("bob@example.test")
    visited.remember()
    page = signed_in(visited.visitor, bob, f"/identities/add?provider={kind}")
    (button,) = re.findall(r">(Continue to [^<]+)<", page.html)
    visited.redirected = page.press(button)
    page = visited.back(visited.answer())
    assert "Already connected" in page.text
    assert_explained(page, visited.world)
    assert [trace.failed_check for trace in traces_in(visited.world.services, visited.world.tenant_id)] == ["linking"]
    assert stored_accounts(visited.world) == visited.accounts_before
