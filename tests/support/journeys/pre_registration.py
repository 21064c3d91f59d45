"""An attacker and an owner who register one address."""

from __future__ import annotations

from typing import Any

from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.world import World
from tests.support.visitors.visitor import VisitedPage, Visitor

MINE, ATTACKERS = "Teapot-zebra-91", "Kettle-zebra-17"


EMAIL = "owner@example.test"


UNLIMITED = {"register_per_minute_per_address": 0, "sign_in_per_minute_per_address": 0}


FORM = (
    {"name": "email", "required": True},
    {"name": "username"},
    {"name": "first_name"},
    {"name": "password", "type": "password", "required": True},
)


def sign_up(visitor: Visitor, password: str, **more: str) -> VisitedPage:
    return visitor.open("/register").press("Create account", email=EMAIL, password=password, **more)


def signed_in(visitor: Visitor, password: str, name: str = EMAIL) -> bool:
    page = visitor.open("/login").press("Sign in", identifier=name, password=password)
    return page.address.endswith("/profile")


def rows(world: World, table: Any) -> list[Any]:
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        return list(work.all(table.select().where(table.c.tenant_id == world.tenant_id)))
    finally:
        work.rollback()
