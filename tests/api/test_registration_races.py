"""Fifty people at once, one address: exactly one account, whoever asks and however it is spelt."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from flask import Flask
from werkzeug.test import Client

from app.identity.accounts.tables import accounts
from app.identity.store.unit import UnitOfWork
from tests.support.letterbox import mailed_to
from tests.support.oauth_world import NewWorld, World
from tests.support.registering import REGISTER, UNLIMITED, all_at_once, primary
from tests.support.sotts import sott_of
from tests.support.tenant_server import PASSWORD, NewTenantServer, refused
from tests.support.visitor import Visitor

RACERS = 50
SPELLINGS = ["ada@example.test", "ADA@example.test", "Ada@EXAMPLE.test"]


def accounts_of(world: Any) -> int:
    work = UnitOfWork(world.house.database, world.tenant_id)
    try:
        return len(work.all(accounts.select().where(accounts.c.tenant_id == world.tenant_id)))
    finally:
        work.rollback()


def test_of_fifty_programs_one_wins(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED)
    bodies: list[dict[str, Any]] = [
        {"Password": PASSWORD, "Email": primary(SPELLINGS[number % 3]), "UserName": f"ada{number}"}
        for number in range(RACERS)
    ]
    answers = all_at_once(acme, REGISTER, bodies, sott=sott_of(acme))
    assert Counter(refused(answer) for answer in answers) == {(200, None): 1, (403, 936): RACERS - 1}
    assert accounts_of(acme) == 1


def test_of_fifty_people_at_the_page_one_gets_the_account_and_all_see_the_same(
    new_world: NewWorld, hub_app: Flask
) -> None:
    world = new_world(limits=UNLIMITED)
    line = Barrier(RACERS)

    def run(number: int) -> tuple[int, str]:
        visitor = Visitor(Client(hub_app), world.house.settings.hub_url(world.name))
        page = visitor.open("/register")
        line.wait()
        after = page.press("Create account", email=SPELLINGS[number % 3], password=PASSWORD)
        return after.status, after.heading

    with ThreadPoolExecutor(RACERS) as pool:
        seen = set(pool.map(run, range(RACERS)))
    assert len(seen) == 1
    assert accounts_of(world) == 1
    assert len(sent_to(world)) <= RACERS


def sent_to(world: World) -> list[dict[str, Any]]:
    return [mail for spelt in SPELLINGS for mail in mailed_to(world.house, world.tenant_id, spelt)]
