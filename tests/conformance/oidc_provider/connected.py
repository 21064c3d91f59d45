"""A tenant with a connection at npm oidc-provider, and browsers that sign in by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from sqlalchemy import select

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.conformance.oidc_provider.node_provider import NodeProvider, ProviderBrowser
from tests.support.accounts.connection_failures import traces_in
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import World
from tests.support.organizations.connected_organization import DOMAIN, ConnectedOrganization
from tests.support.processes.command_line import runner
from tests.support.services.identity_service import SECRET
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

CUSTOM_OPENID, CUSTOM_OAUTH, ORGANIZATION = "custom OpenID provider", "custom OAuth provider", "organization connection"
OPENID = (CUSTOM_OPENID, ORGANIZATION)
KINDS = (*OPENID, CUSTOM_OAUTH)
MINA = f"mina.harker@{DOMAIN}"
"""A person's email, which is the account at the provider."""


@dataclass(frozen=True)
class UpstreamConnection:
    """A connection; `name` is what authorization requests name it, `callback` its redirect URI."""

    tenant: World
    new_visitor_at: NewVisitorAt
    provider: NodeProvider
    name: str
    title: str
    callback: str
    organization: ConnectedOrganization | None = None

    def visitor(self) -> Visitor:
        return self.new_visitor_at(self.tenant)

    def at_provider(self, login: str = MINA) -> ProviderBrowser:
        """Return a new browser for the provider's pages."""
        return ProviderBrowser(self.provider, login)

    def begin(self, visitor: Visitor) -> str:
        """Begin a sign-in; return the address at the provider."""
        path = (
            self.organization.login_url if self.organization else f"/sign-in/with?{urlencode({'provider': self.name})}"
        )
        return visitor.open(path).address

    def sign_in(self, visitor: Visitor, person: ProviderBrowser) -> VisitedPage:
        """Sign in, and return the page at which the person arrives."""
        return visitor.open(person.sign_in(self.begin(visitor)))

    def shop(self) -> RelyingParty:
        return self.tenant.application("shop", client_name="Shop")

    def uids(self) -> list[str]:
        """Return the tenant's accounts."""
        where = accounts.c.tenant_id == self.tenant.tenant_id
        with UnitOfWork(self.tenant.services.database, self.tenant.tenant_id).separate_transaction() as work:
            return [row.uid for row in work.all(select(accounts.c.uid).where(where))]

    def failed_checks(self) -> list[str]:
        """Return the checks that refused answers, the newest first."""
        return [trace.failed_check for trace in traces_in(self.tenant.services, self.tenant.tenant_id)]

    def why(self, reference: str) -> str:
        """Return what `gatehouse why` prints."""
        settings = self.tenant.services.settings
        result = runner(settings.data_dir)("why", self.tenant.name, reference, secret_key=SECRET.decode())
        assert result.exit_code == 0, result.output
        return result.output


NewUpstreamConnection = Callable[..., UpstreamConnection]
