"""Initial access tokens: who may register an application (RFC 7591 section 3)."""

from __future__ import annotations

import pytest

from tests.support.oauth.registrations import METADATA, Registrar, error_of
from tests.support.oauth.relying_party import moved
from tests.support.oauth.world import NewWorld, World
from tests.support.races import at_once
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused

PATH = "/v2/manage/initial-access-tokens"
ALL = tuple(f"client:{action}" for action in ("read", "create", "update", "delete"))


@pytest.fixture
def guarded(new_world: NewWorld) -> World:
    return new_world(client_registration={"mode": "initial_access_token", "max_applications": 30})


@pytest.fixture
def registrar(guarded: World) -> Registrar:
    return Registrar(guarded)


def test_token_registers_as_often_as_it_may(registrar: Registrar) -> None:
    token = registrar.initial_access_token(max_uses=2)
    for _ in range(2):
        registrar.registered(token=token)
    assert error_of(registrar.register(token=token)) == (401, "invalid_token")


def test_missing_and_unknown_tokens_are_refused(registrar: Registrar) -> None:
    assert error_of(registrar.register()) == (401, "invalid_token")
    answer = registrar.register(token="another")
    assert error_of(answer) == (401, "invalid_token")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_expired_token_is_refused(registrar: Registrar) -> None:
    token = registrar.initial_access_token(days=2)
    with moved(registrar.world.services, days=2, seconds=1):
        assert error_of(registrar.register(token=token)) == (401, "invalid_token")


def test_refused_metadata_do_not_use_the_token_up(registrar: Registrar) -> None:
    token = registrar.initial_access_token()
    assert error_of(registrar.register({**METADATA, "scope": 1}, token=token))[0] == 400
    registrar.registered(token=token)


@pytest.mark.both_databases
def test_foreign_tenants_token_is_refused(registrar: Registrar, new_world: NewWorld) -> None:
    token = registrar.initial_access_token()
    foreign = Registrar(new_world(client_registration={"mode": "initial_access_token"}))
    assert error_of(foreign.register(token=token)) == (401, "invalid_token")


def test_wrong_token_is_refused_where_anyone_may_register(new_world: NewWorld) -> None:
    registrar = Registrar(new_world(client_registration={"mode": "open"}))
    assert error_of(registrar.register(token="wrong")) == (401, "invalid_token")


def test_guesses_of_tokens_are_limited(registrar: Registrar) -> None:
    answers = [registrar.register(token=f"guess {number}") for number in range(25)]
    assert error_of(answers[-1]) == (429, "temporarily_unavailable")


def test_bounds_hold_for_tokens_too(new_world: NewWorld) -> None:
    registrar = Registrar(new_world(client_registration={"mode": "initial_access_token", "max_applications": 1}))
    token = registrar.initial_access_token(max_uses=5)
    registrar.registered(token=token)
    assert error_of(registrar.register(token=token)) == (403, "access_denied")


@pytest.mark.both_databases
def test_one_of_many_uses_a_single_use_token(registrar: Registrar) -> None:
    token = registrar.initial_access_token()
    answers = at_once([lambda: registrar.register(token=token)] * 20)
    found = sorted(answer.status_code for answer in answers)
    assert found == [201, *[401] * 19]


@pytest.mark.both_databases
def test_token_is_created_shown_once_used_and_deleted(acme: TenantServer) -> None:
    acme.change_settings(client_registration={"mode": "initial_access_token"})
    holder = machine(acme, *ALL)
    made = answered(ask(acme, holder, "POST", PATH, {"Name": "partners", "MaxUses": 3, "ExpiresInDays": 2}))
    assert len(made["Token"]) >= 43
    shown = answered(ask(acme, holder, "GET", f"{PATH}/partners"))
    assert (shown["Token"], shown["Uses"], shown["MaxUses"]) == ("********", 0, 3)
    assert made["ExpiresAt"] == shown["ExpiresAt"]
    answered(ask(acme, holder, "DELETE", f"{PATH}/partners"))
    assert refused(ask(acme, holder, "GET", f"{PATH}/partners")) == (404, 7983)


def test_name_of_a_token_is_taken_once(acme: TenantServer) -> None:
    holder = machine(acme, *ALL)
    answered(ask(acme, holder, "POST", PATH, {"Name": "partners"}))
    assert refused(ask(acme, holder, "POST", PATH, {"Name": "partners"})) == (409, 7982)
