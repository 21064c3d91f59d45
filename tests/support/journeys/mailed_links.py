"""The newest link of each kind that the mailbox of an account holds."""

from __future__ import annotations

from sqlalchemy import select

from app.identity.credentials.one_time_tokens.one_time_token_store import one_time_tokens
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import links_in, mails_to
from tests.support.journeys.verification import ADA, PASSWORD, PendingVerification
from tests.support.oauth.world import World
from tests.support.visitors.people import forms_of
from tests.support.visitors.visitor import Visitor

NEW, BOB = "Quartz-lantern-58", "bob@example.com"


SAVE = "Save password"


def states(world: World) -> set[tuple[str, str]]:
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        query = select(one_time_tokens.c.token_id, one_time_tokens.c.state).where(
            one_time_tokens.c.tenant_id == world.tenant_id
        )
        return {(row.token_id, row.state) for row in work.all(query)}
    finally:
        work.rollback()


def newest_link(world: World, email: str = ADA) -> str:
    return [link for mail in mails_to(world.services, world.tenant_id, email) for link in links_in(mail)][-1]


def verification(world: World, visitor: Visitor) -> None:
    PendingVerification(world, visitor)


def recovery(world: World, visitor: Visitor) -> None:
    world.person(ADA)
    visitor.open("/login").follow("Forgot password?").press("Send reset link", identifier=ADA)


def deletion(world: World, visitor: Visitor) -> None:
    ada = world.person(ADA)
    visitor.open("/profile").press("Sign in", identifier=ada.email, password=PASSWORD)
    page = visitor.open("/delete-account")
    form, button = next((form, button) for form, button in forms_of(page) if "lang" not in form.fields)
    page.press(button, **{name: PASSWORD for name in form.fields if "password" in name})


def security_alert(world: World, visitor: Visitor) -> None:
    visitor.open("/profile").press("Sign in", identifier=world.person(ADA).email, password=PASSWORD)
    visitor.open("/change-password").press(SAVE, old_password=PASSWORD, new_password=NEW)
