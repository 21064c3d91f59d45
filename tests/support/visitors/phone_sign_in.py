"""Two browsers of one person: one shows a QR code, the other one, a phone's, approves it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import select

from app.identity.authentication.sign_in.tables import sessions
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.visitors.visitor import VisitedPage, Visitor

PATH = "/sign-in/phone"


def signed_in(visitor: Visitor, person: Person) -> Visitor:
    visitor.open("/login").sign_in(person.email, person.password)
    return visitor


def shown(visitor: Visitor) -> VisitedPage:
    page = visitor.open("/login").follow("Sign in with your phone")
    assert page.heading.startswith("Sign in with your phone"), page.text
    return page


def link_on(page: VisitedPage) -> str:
    return page.html.partition('class="key" dir="ltr" translate="no" id="link">')[2].partition("<")[0]


def path_on(page: VisitedPage) -> str:
    return urlsplit(link_on(page)).path


def number_on(page: VisitedPage) -> str:
    found = re.search(r'<(?:strong|p class="number") dir="ltr">(\d\d)<', page.html)
    assert found is not None, page.html
    return found[1]


def wrong(number: str) -> str:
    return "10" if number != "10" else "11"


def state_of(page: VisitedPage) -> str:
    return page.visitor.open(f"{PATH}/state?attempt={page.query['attempt']}").html


def approved(phone: Visitor, page: VisitedPage) -> VisitedPage:
    return phone.open(path_on(page)).press("Approve", number=number_on(page))


def rows(world: World, *columns: Any) -> list[Any]:
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        table = columns[0].table
        return list(work.all(select(*columns).where(table.c.tenant_id == world.tenant_id)))


def newest_session(world: World) -> Any:
    table = sessions.c
    return max(rows(world, *table), key=lambda row: row.created_at)
