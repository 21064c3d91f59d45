"""Endpoint × failure at every kind of provider: each trace says what happened to the call, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask

from app.contract.federation.connection_checks import NEVER_ASKED, UNAVAILABLE, CallFailure, ConnectionCheck
from app.identity.platform.outbound import bounded_transport
from app.identity.platform.outbound.openid_metadata import ProviderMetadataCache
from app.kit.outbound.host_resolver import Resolver
from tests.support.accounts.connection_failures import traces_in, traces_of
from tests.support.fakes.https_receiver import HttpsReceiver, https_receiver
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.fakes.native_apps import NativeUpstream, an_app
from tests.support.oauth.world import NewWorld
from tests.support.refused_answers import failed_calls
from tests.support.refused_answers.failed_calls import (
    CHECKS,
    DISCOVERY,
    EMAILS,
    HTTP_FAILURES,
    INTROSPECTION,
    MOVED,
    TOKEN,
    USERINFO,
)
from tests.support.refused_answers.jwt_misdeeds import JwtVisit
from tests.support.refused_answers.misdeeds import begins
from tests.support.refused_answers.table import is_openid
from tests.support.refused_answers.visits import NewVisit, ProviderVisit
from tests.support.tenants.tenant_server import NewTenantServer
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases


@pytest.fixture
def new_visit(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, identity_app: Flask, fake_provider: FakeProvider
) -> NewVisit:
    return NewVisit(new_world, new_visitor_at, identity_app, fake_provider)


@pytest.fixture
def portal() -> Iterator[HttpsReceiver]:
    with https_receiver() as receiver:
        yield receiver


def forget(visit: ProviderVisit | JwtVisit) -> None:
    """Empty the caches of documents and keys; names of other hosts are looked up in a table from now on."""
    services = visit.world.services
    resolver = Resolver(services.settings.reachable_networks, failed_calls.resolve)
    services.provider_metadata = ProviderMetadataCache(services.clock, resolver)


def answered_page(visit: ProviderVisit, endpoint: str) -> VisitedPage:
    """Begin, or begin and come back, so that the endpoint is called."""
    if endpoint == DISCOVERY:
        return begins(visit)
    visit.visitor = visit.another_browser()
    visit.begin()
    return visit.back(visit.answer())


def notice_of(failure: CallFailure) -> str:
    if failure in NEVER_ASKED:
        return "Sign-in method unavailable"
    return "This provider isn’t responding" if failure in UNAVAILABLE else "Sign-in didn’t finish"


def faults(
    visit: ProviderVisit, page: VisitedPage, endpoint: str, failure: CallFailure, texts: tuple[str, str]
) -> list[str]:
    """Return what is wrong with the page and the newest trace."""
    trace = traces_in(visit.world.services, visit.world.tenant_id)[0]
    wrong = failed_calls.faults(trace, CHECKS[endpoint], failure, *texts)
    wrong += [] if trace.reference in page.text else ["a page without the reference"]
    return wrong if notice_of(failure) in page.text else [*wrong, page.text[:300]]


def prepared(visit: ProviderVisit, endpoint: str) -> None:
    forget(visit)
    visit.fake.answers.clear()
    if endpoint == USERINFO and is_openid(visit.provider.name):
        visit.fake.claims["email"] = None  # else the token is enough


@pytest.mark.parametrize(("kind", "endpoint"), failed_calls.table())
def test_failed_answer_is_named_in_plain_words(new_visit: NewVisit, kind: str, endpoint: str) -> None:
    visit = new_visit(kind)
    wrong = {}
    for case, http in HTTP_FAILURES.items():
        if endpoint == EMAILS and case in failed_calls.OF_ANY_JSON:
            continue
        prepared(visit, endpoint)
        visit.fake.answers[failed_calls.path_of(visit, endpoint)] = (http.status, dict(http.headers), http.body)
        page = answered_page(visit, endpoint)
        wrong[case] = faults(visit, page, endpoint, http.failure, (http.expected, http.received))
    assert {case: found for case, found in wrong.items() if found} == {}


@pytest.mark.parametrize(
    ("kind", "endpoint"), [pair for pair in failed_calls.table() if pair[0] in failed_calls.SLOW_KINDS]
)
def test_slow_answer_is_named_in_plain_words(
    new_visit: NewVisit, kind: str, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    visit = new_visit(kind)
    prepared(visit, endpoint)
    monkeypatch.setattr(bounded_transport, "TIMEOUT_SECONDS", 1.0)
    visit.fake.hangs_at = failed_calls.path_of(visit, endpoint)
    page = answered_page(visit, endpoint)
    assert faults(visit, page, endpoint, CallFailure.SLOW, failed_calls.SLOW) == []


@pytest.mark.parametrize(("kind", "endpoint"), failed_calls.movable())
def test_call_without_an_answer_is_named_in_plain_words(
    new_visit: NewVisit, portal: HttpsReceiver, kind: str, endpoint: str
) -> None:
    visit = new_visit(kind)
    wrong = {}
    for failure, texts in MOVED.items():
        prepared(visit, endpoint)
        failed_calls.move(visit, endpoint, failed_calls.address_of(failure, visit.fake, portal))
        page = answered_page(visit, endpoint)
        wrong[failure] = faults(visit, page, endpoint, failure, texts)
    assert {failure: found for failure, found in wrong.items() if found} == {}


def test_failed_key_set_of_a_jwt_provider_is_named(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, identity_app: Flask, portal: HttpsReceiver
) -> None:
    world = new_world()
    visit = JwtVisit(world, identity_app, new_visitor_at(world), portal)
    wrong = {}
    for case, http in HTTP_FAILURES.items():
        forget(visit)
        portal.answers(http.status, http.body, http.headers)
        page = visit.brings(visit.token())
        trace = traces_in(world.services, world.tenant_id)[0]
        wrong[case] = failed_calls.faults(trace, ConnectionCheck.KEYS, http.failure, http.expected, http.received)
        wrong[case] += [] if trace.reference in page.text else ["a page without the reference"]
    assert {case: found for case, found in wrong.items() if found} == {}


def test_key_set_that_just_failed_has_its_first_cause(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, identity_app: Flask, portal: HttpsReceiver
) -> None:
    world = new_world()
    visit = JwtVisit(world, identity_app, new_visitor_at(world), portal)
    portal.answers(500)
    for _ in range(2):
        visit.brings(visit.token())
    second, first = traces_in(world.services, world.tenant_id)
    assert len(portal.received) == 1
    assert (second.cause, second.expected, second.received) == (first.cause, first.expected, first.received)


CALLS_OF_APPS: dict[str, tuple[str, str, Callable[[NativeUpstream], dict[str, Any]]]] = {
    "facebook": ("/debug_token", INTROSPECTION, lambda upstream: {"fb_access_token": upstream.access_token()}),
    "facebook's profile": ("/me", USERINFO, lambda upstream: {"fb_access_token": upstream.access_token()}),
    "google": ("/tokeninfo", INTROSPECTION, lambda upstream: {"google_access_token": upstream.access_token()}),
    "linkedin": ("/introspect", INTROSPECTION, lambda upstream: {"ln_access_token": upstream.access_token()}),
    "twitter": ("/x", USERINFO, NativeUpstream.twitter_token),
    "wechat": ("/wechat/token", TOKEN, lambda upstream: {"code": upstream.code()}),
    "qq": ("/qq/me", INTROSPECTION, lambda upstream: {"code": upstream.code()}),
}


@pytest.mark.parametrize("name", CALLS_OF_APPS)
def test_failed_call_for_an_app_is_named(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, name: str
) -> None:
    app, (path, endpoint, presented) = an_app(new_tenant_server, fake_provider), CALLS_OF_APPS[name]
    wrong = {}
    for case, http in HTTP_FAILURES.items():
        fake_provider.answers = {path: (http.status, dict(http.headers), http.body)}
        answer = app.ask(name.partition("'")[0], **presented(app.upstream))
        trace = traces_of(app.tenant)[0]
        wrong[case] = failed_calls.faults(trace, CHECKS[endpoint], http.failure, http.expected, http.received)
        wrong[case] += (
            [] if f"Quote reference {trace.reference}." in answer.get_json()["Description"] else ["no reference"]
        )
    assert {case: found for case, found in wrong.items() if found} == {}
