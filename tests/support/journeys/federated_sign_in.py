"""A visitor who signs in through a provider, and links an identity."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from app.identity.directory.accounts import account_store, linked_identities
from app.identity.directory.identity_provider import ProviderIdentity
from tests.support.accounts.mailbox import mails_to
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.tenants.callers import call_of
from tests.support.visitors.visitor import VisitedPage, Visitor

ADA: dict[str, Any] = {
    "email": "ada@example.test",
    "email_verified": True,
    "given_name": "Ada",
    "family_name": "Lovelace",
}


START_URL = "/sign-in/with?provider=globex"


class FederatedPageUser:
    """A browser at the tenant with an account at the provider."""

    def __init__(self, tenant: World, visitor: Visitor, fake_provider: FakeProvider) -> None:
        self.tenant, self.visitor, self.fake_provider = tenant, visitor, fake_provider

    def sign_in(self, subject: str = "1", *, start: str = START_URL, **claims: Any) -> VisitedPage:
        """Sign in at the provider and return to the tenant."""
        redirected = self.visitor.open(start)
        return self.visitor.open(
            self.fake_provider.callback_url(redirected.address, **{**ADA, "sub": subject, **claims})
        )

    def denied(self, redirected: VisitedPage) -> str:
        """Deny at the provider and return the callback URL."""
        return (
            f"{self.visitor.home}/socialauth/validate.sauth?{urlencode(self.fake_provider.refuses(redirected.address))}"
        )

    @property
    def is_in(self) -> bool:
        return not self.visitor.open("/profile").is_sign_in


def mails_sent_to(user: FederatedPageUser, address: str = ADA["email"]) -> list[dict[str, Any]]:
    return mails_to(user.tenant.services, user.tenant.tenant_id, address)


def link_identity(tenant: World, person: Person, provider: str = "globex", subject: str = "4711") -> None:
    """Link an identity without going through the provider."""
    with call_of(tenant.services, tenant.name) as call:
        account = account_store.by_uid(call, person.uid)
        assert account is not None
        linked_identities.link(
            call, account, ProviderIdentity(provider, subject, "countess@globex.example", email_verified=True)
        )
        call.work.commit()
