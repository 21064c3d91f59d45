"""A workflow in force holds on every way to a session or to tokens of an account: a table of paths and blocking steps."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from tests.support.fakes.identity_provider import FakeProvider
from tests.support.sign_in_paths import SIGN_IN_PATHS
from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.path import Prepared, SignInPath
from tests.support.sign_in_paths.results import Refused
from tests.support.tenants.tenant_server import NewTenantServer
from tests.support.workflows.running import denying, put_in_force

Prepare = Callable[[SignInPath], Prepared]


@pytest.fixture
def prepare(new_tenant_server: NewTenantServer, hub_app: Flask, fake_provider: FakeProvider) -> Prepare:
    return lambda path: path.prepare(new_tenant_server, hub_app, fake_provider)


def deny(who: SigningAccount) -> None:
    put_in_force(who.tenant, denying("account.logins >= 0"))


@pytest.mark.parametrize("path", SIGN_IN_PATHS, ids=str)
def test_path_obeys_a_denial(path: SignInPath, prepare: Prepare) -> None:
    outcome = prepare(path).perform(deny, at=0)
    assert isinstance(outcome, Refused), outcome
