"""What holds on every way to a session or to tokens of an account (`tests/support/sign_in_paths`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from flask import Flask

from tests.support.fakes.identity_provider import FakeProvider
from tests.support.operation_cases.cases import events
from tests.support.sign_in_paths import SIGN_IN_PATHS
from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.callers import SHARED, watched
from tests.support.sign_in_paths.path import Prepared, SignInPath
from tests.support.sign_in_paths.results import Outcome, Refused, SignedIn
from tests.support.sign_in_paths.rules import RULES, Rule
from tests.support.tenants.tenant_server import NewTenantServer

every_path = pytest.mark.parametrize("path", SIGN_IN_PATHS, ids=str)
Prepare = Callable[[SignInPath], Prepared]


@pytest.fixture
def prepare(new_tenant_server: NewTenantServer, hub_app: Flask, fake_provider: FakeProvider) -> Prepare:
    return lambda path: path.prepare(new_tenant_server, hub_app, fake_provider)


def logins(who: SigningAccount) -> int:
    """Return how many sign-ins webhooks were told of."""
    return [name for name, _ in events(who.tenant)].count("Login")


@every_path
def test_path_signs_in_by_its_callers_with_one_event(path: SignInPath, prepare: Prepare) -> None:
    prepared = prepare(path)
    before = logins(prepared.who)
    with watched() as callers:
        outcome = prepared.perform()
    assert outcome == SignedIn(path.by)
    assert callers - SHARED == set(path.callers)
    assert logins(prepared.who) - before == path.logins <= 1


@every_path
def test_path_signs_in_where_the_identifier_comes_first(
    path: SignInPath, new_tenant_server: NewTenantServer, hub_app: Flask, fake_provider: FakeProvider
) -> None:
    prepared = path.prepare(new_tenant_server, hub_app, fake_provider, identifier_first=True)
    assert prepared.perform() == SignedIn(path.by)


@every_path
def test_account_blocked_at_any_moment_is_refused(path: SignInPath, prepare: Prepare) -> None:
    assert len(path.refusals) in (0, path.moments)
    for moment, code in enumerate(path.refusals):
        prepared = prepare(path)
        before = logins(prepared.who)
        assert prepared.perform(SigningAccount.block, at=moment) == Refused(code), moment
        assert logins(prepared.who) - before <= min(moment, path.logins)


@pytest.mark.parametrize("rule", RULES, ids=str)
@every_path
def test_path_asks_every_rule_at_any_moment(
    path: SignInPath, rule: Rule, new_tenant_server: NewTenantServer, hub_app: Flask, fake_provider: FakeProvider
) -> None:
    def perform(moment: int) -> Iterator[Outcome]:
        for happening in rule.happenings:
            settings = {**rule.settings, **path.settings}
            prepared = path.prepare(new_tenant_server, hub_app, fake_provider, **settings)
            yield prepared.perform(happening, at=moment)

    for moment in range(len(path.refusals)):
        if rule.is_asked(path, moment):
            assert any(isinstance(outcome, Refused) for outcome in perform(moment)), moment
        else:
            assert all(isinstance(outcome, SignedIn) for outcome in perform(moment)), moment
