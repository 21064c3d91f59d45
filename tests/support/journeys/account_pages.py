"""A visitor who signs in at a page of the account."""

from __future__ import annotations

from typing import Any

from tests.support.accounts.mailbox import sent_messages
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.visitors.visitor import VisitedPage, Visitor

REGISTRATION_FORM: list[dict[str, Any]] = [
    {"name": "email", "required": True},
    {"name": "password", "type": "password", "required": True},
    {"name": "first_name", "required": True},
    {"name": "birth_date"},
    {"name": "cf_size", "type": "option", "options": [{"value": "m"}, {"value": "xl"}]},
]


def signed_in(visitor: Visitor, person: Person, page: str = "/profile") -> VisitedPage:
    """Open a page in a browser without a session, and sign in."""
    return visitor.open(page).press("Sign in", identifier=person.email, password=person.password)


def mails(world: World, to: str) -> list[str]:
    """Return the texts of the mails to an address, oldest first."""
    return [mail["text"] for mail in sent_messages(world.services, world.tenant_id) if mail["to"] == to]
