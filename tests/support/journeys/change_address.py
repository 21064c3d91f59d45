"""Registration with a mistyped address, and its correction."""

from __future__ import annotations

from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.journeys.pre_registration import MINE
from tests.support.oauth.world import World
from tests.support.visitors.visitor import VisitedPage, Visitor

WRONG, RIGHT, VICTIM = "ada@exmaple.test", "ada@example.test", "vic@corp.test"


def sign_up(visitor: Visitor, email: str = WRONG, password: str = MINE, **more: str) -> VisitedPage:
    return visitor.open("/register").press("Create account", email=email, password=password, **more)


def link_to(world: World, email: str) -> str:
    return link_in(mails_to(world.services, world.tenant_id, email)[-1])
