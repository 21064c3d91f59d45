"""Fifty people at once, one address or username, one number alone: exactly one account, whoever asks and however it is spelt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import Client

from app.identity.directory.accounts.tables import accounts, identifiers
from app.identity.platform.store.unit import UnitOfWork
from tests.support.mailbox import mails_to
from tests.support.oauth_world import NewWorld, World
from tests.support.races import RACERS, at_once
from tests.support.registering import REGISTER, UNLIMITED, all_at_once, primary
from tests.support.sotts import sott_of
from tests.support.tenant_server import PASSWORD, NewTenantServer, refused
from tests.support.visitor import VisitedPage, Visitor

SPELLINGS = ["ada@example.test", "ADA@example.test", "Ada@EXAMPLE.test"]


def accounts_of(world: Any) -> int:
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        return len(work.all(accounts.select().where(accounts.c.tenant_id == world.tenant_id)))
    finally:
        work.rollback()


def test_parallel_registrations_by_api_create_one_account(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED)
    bodies: list[dict[str, Any]] = [
        {"Password": PASSWORD, "Email": primary(SPELLINGS[number % 3]), "UserName": f"ada{number}"}
        for number in range(RACERS)
    ]
    answers = all_at_once(acme, REGISTER, bodies, sott=sott_of(acme))
    assert Counter(refused(answer) for answer in answers) == {(200, None): 1, (403, 936): RACERS - 1}
    assert accounts_of(acme) == 1


def test_parallel_registrations_by_page_look_alike(new_world: NewWorld, hub_app: Flask) -> None:
    world = new_world(limits=UNLIMITED)
    seen = registered_by_many(world, hub_app, lambda number: {"email": SPELLINGS[number % 3]})
    assert len({(after.status, after.heading) for after in seen}) == 1
    assert accounts_of(world) == 1
    assert len(sent_to(world)) <= RACERS


NAMED = [({"username": "countess"}, {"UserName": "countess"}, 1017)]
NUMBER = "+4930123456"
FORM = ("email", "username", "phone")


@pytest.mark.parametrize(("typed", "members", "code"), NAMED, ids=["username"])
def test_username_race_by_page_has_one_winner(
    new_world: NewWorld, hub_app: Flask, typed: dict[str, str], members: dict[str, str], code: int
) -> None:
    del members, code
    form = [*({"name": name} for name in FORM), {"name": "password", "type": "password", "required": True}]
    world = new_world(limits=UNLIMITED, registration_form=form, username_login=True, phone_login=True)
    seen = registered_by_many(world, hub_app, lambda number: {"email": f"person{number}@example.test", **typed})
    assert Counter(after.status for after in seen) == {200: 1, 403: RACERS - 1}
    assert {f'id="{name}-problem"' in after.html for after in seen if after.status == 403 for name in typed} == {True}
    assert accounts_of(world) == 1


@pytest.mark.parametrize(("typed", "members", "code"), NAMED, ids=["username"])
def test_username_race_by_api_has_one_winner(
    new_tenant_server: NewTenantServer, typed: dict[str, str], members: dict[str, str], code: int
) -> None:
    del typed
    acme = new_tenant_server(limits=UNLIMITED, username_login=True, phone_login=True)
    bodies = [
        {"Password": PASSWORD, "Email": primary(f"person{number}@example.test"), **members} for number in range(RACERS)
    ]
    answers = all_at_once(acme, REGISTER, bodies, sott=sott_of(acme))
    assert Counter(refused(answer) for answer in answers) == {(200, None): 1, (403, code): RACERS - 1}
    assert accounts_of(acme) == 1


def test_parallel_claims_of_one_phone_leave_one_holder(new_tenant_server: NewTenantServer) -> None:
    """A number is whose who proves it: to have stated it first keeps nobody out (tests/api/test_contested_numbers.py)."""
    acme = new_tenant_server(limits=UNLIMITED, phone_login=True, email_login=True)
    bodies = [
        {"Password": PASSWORD, "Email": primary(f"person{number}@example.test"), "PhoneId": NUMBER}
        for number in range(RACERS)
    ]
    answers = all_at_once(acme, REGISTER, bodies, sott=sott_of(acme))
    assert Counter(refused(answer) for answer in answers) == {(200, None): RACERS}
    with UnitOfWork(acme.services.database, acme.tenant_id).separate_transaction() as work:
        where = (identifiers.c.tenant_id == acme.tenant_id, identifiers.c.value == NUMBER)
        assert len(work.all(identifiers.select().where(*where))) == 1


def test_parallel_phone_only_registrations_create_one_account(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED, phone_login=True)
    bodies: list[dict[str, Any]] = [{"Password": PASSWORD, "PhoneId": NUMBER} for _ in range(RACERS)]
    answers = all_at_once(acme, REGISTER, bodies, sott=sott_of(acme))
    assert Counter(refused(answer) for answer in answers) == {(200, None): 1, (403, 1058): RACERS - 1}
    assert accounts_of(acme) == 1


def registered_by_many(world: World, hub_app: Flask, typed: Callable[[int], dict[str, str]]) -> list[VisitedPage]:
    """Send the form from as many browsers at once."""
    at = [
        Visitor(Client(hub_app), world.services.settings.hub_url(world.name)).open("/register") for _ in range(RACERS)
    ]
    press = [partial(page.press, "Create account", password=PASSWORD, **typed(n)) for n, page in enumerate(at)]
    return at_once(press)


def sent_to(world: World) -> list[dict[str, Any]]:
    return [mail for spelt in SPELLINGS for mail in mails_to(world.services, world.tenant_id, spelt)]
