"""An attacker changes the password, and the owner gets an alert."""

from __future__ import annotations

from tests.support.accounts.customers import NEW
from tests.support.accounts.mailbox import link_in, links_to, mails_to, path_of
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.visitors.visitor import NewVisitor

PASSWORD, EMAIL, OWN = "correct horse 7", "/identity/v2/auth/email", "/identity/v2/auth/account"


def path_in(mail: dict[str, object]) -> str:
    return path_of(link_in(mail))


def attacker_changes_password(
    world: World, new_visitor: NewVisitor, ada: Person, old: str = PASSWORD, new: str = NEW
) -> str:
    attacker = new_visitor()
    attacker.open("/profile").press("Sign in", identifier=ada.email, password=old)
    attacker.open("/change-password").press("Save password", old_password=old, new_password=new)
    mails = mails_to(world.services, world.tenant_id, ada.email)
    return path_in([mail for mail in mails if links_to(mail, "/not-me")][-1])


NEWER = "Amber-window-44"


NOT_ME = "Secure my account"
