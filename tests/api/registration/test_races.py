"""Parallel registrations of one address, username or phone number create exactly one account, in any spelling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from flask import Flask

from app.identity.directory.accounts.tables import accounts, identifiers
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import mails_to
from tests.support.accounts.registering import REGISTER, UNLIMITED, all_at_once, primary
from tests.support.accounts.sotts import sott_of
from tests.support.oauth.world import NewWorld, World
from tests.support.races import CROWD, RACERS, at_once
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, refused
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import VisitedPage, Visitor

pytestmark = pytest.mark.both_databases("first")

SPELLINGS = ["ada@example.test", "ADA@example.test", "Ada@EXAMPLE.test"]


def account_count(world: Any) -> int:
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        return len(work.all(accounts.select().where(accounts.c.tenant_id == world.tenant_id)))
    finally:
        work.rollback()


def test_parallel_registrations_by_api_create_one_account(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED)
    bodies: list[dict[str, Any]] = [
        {"Password": PASSWORD, "Email": primary(SPELLINGS[number % 3]), "UserName": f"ada{number}"}
        for number in range(CROWD)
    ]
    answers = all_at_once(acme, REGISTER, bodies, sott=sott_of(acme))
    assert Counter(refused(answer) for answer in answers) == {(200, None): 1, (403, 936): CROWD - 1}
    assert account_count(acme) == 1


def test_parallel_registrations_by_page_look_alike(new_world: NewWorld, hub_app: Flask) -> None:
    world = new_world(limits=UNLIMITED)
    pages = registered_by_many(world, hub_app, lambda number: {"email": SPELLINGS[number % 3]})
    assert len({(page.status, page.heading) for page in pages}) == 1
    assert account_count(world) == 1
    assert len(mails_of(world)) <= RACERS


NUMBER = "+4930123456"
FORM = ("email", "username", "phone")


def test_username_race_by_page_has_one_winner(new_world: NewWorld, hub_app: Flask) -> None:
    form = [*({"name": name} for name in FORM), {"name": "password", "type": "password", "required": True}]
    world = new_world(limits=UNLIMITED, registration_form=form, username_login=True, phone_login=True)
    pages = registered_by_many(
        world, hub_app, lambda number: {"email": f"person{number}@example.test", "username": "countess"}
    )
    assert Counter(page.status for page in pages) == {200: 1, 403: RACERS - 1}
    assert {'id="username-problem"' in page.html for page in pages if page.status == 403} == {True}
    assert account_count(world) == 1


def test_username_race_by_api_has_one_winner(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED, username_login=True, phone_login=True)
    bodies = [
        {"Password": PASSWORD, "Email": primary(f"person{number}@example.test"), "UserName": "countess"}
        for number in range(RACERS)
    ]
    answers = all_at_once(acme, REGISTER, bodies, sott=sott_of(acme))
    assert Counter(refused(answer) for answer in answers) == {(200, None): 1, (403, 1017): RACERS - 1}
    assert account_count(acme) == 1


def test_parallel_claims_of_one_phone_leave_one_holder(new_tenant_server: NewTenantServer) -> None:
    """The account that verifies a number owns it; naming it first blocks no other account (test_contested_numbers.py)."""
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
    assert account_count(acme) == 1


def registered_by_many(world: World, hub_app: Flask, fields: Callable[[int], dict[str, str]]) -> list[VisitedPage]:
    """Submit the registration form from RACERS browsers at once."""
    forms = [
        Visitor(PlainClient(hub_app), world.services.settings.hub_url(world.name)).open("/register")
        for _ in range(RACERS)
    ]
    submissions = [
        partial(page.press, "Create account", password=PASSWORD, **fields(n)) for n, page in enumerate(forms)
    ]
    return at_once(submissions)


def mails_of(world: World) -> list[dict[str, Any]]:
    return [mail for spelling in SPELLINGS for mail in mails_to(world.services, world.tenant_id, spelling)]
