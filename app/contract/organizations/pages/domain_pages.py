"""Operations of the hub for the domains of an organization, for its owners."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.accounts.pages.reauthentication_pages import AccountView
from app.contract.catalogue import hub_operation
from app.contract.organizations.models import DomainProblem
from app.contract.organizations.pages.account_organization_pages import Id, OwnOrganization
from app.contract.shared_responses import Posted
from app.kit.operations.wire import From, Wire


class OwnDomain(Wire):
    """A domain of an organization. The TXT record `record` at the domain verifies it."""

    id: str
    name: str
    record: str
    is_verified: bool = False
    is_declared: bool = False  # verified by an administrator: DNS is not asked
    is_in_use: bool = False  # a connection uses it: it cannot be removed
    problem: DomainProblem | None = None
    verified_at: str | None = None
    checked_at: str | None = None


class DomainsRequest(Wire):
    organization: Annotated[str, From.PATH, Field(max_length=64)]


class DomainsResponse(AccountView):
    organization: OwnOrganization
    domains: list[OwnDomain] = Field(default_factory=list)


class AddDomainRequest(Wire):
    organization: Id
    name: str = Field(max_length=320)


class VerifyDomainRequest(Wire):
    """Needs no password: the DNS record verifies the domain."""

    organization: Id
    domain: Id


class RemoveDomainRequest(Wire):
    organization: Id
    domain: Id


_OWN = "/hub/own/organizations"

read = hub_operation(
    "hub.read_organization_domains", f"GET {_OWN}/{{organization}}/domains", DomainsRequest, DomainsResponse,
    errors=(errors.NotAuthenticated, errors.UnknownOrganization), summary="Read the domains of an organization that the account owns.",
)  # fmt: skip
add = hub_operation(
    "hub.add_organization_domain", f"POST {_OWN}/domains/add", AddDomainRequest, Posted, reauthentication=True,
    errors=(errors.UnknownOrganization, errors.BadField, errors.DomainTaken, errors.TooManyDomains),
    summary="Add a domain to an organization that the account owns.",
)  # fmt: skip
verify = hub_operation(
    "hub.verify_organization_domain", f"POST {_OWN}/domains/verify", VerifyDomainRequest, Posted,
    errors=(
        errors.NotAuthenticated, errors.UnknownOrganization, errors.UnknownOrganizationDomain, errors.DomainVerified,
        errors.DomainNotProven, errors.DomainTaken,
    ),
    summary="Look up the TXT record of a domain of an organization that the account owns.",
)  # fmt: skip
remove = hub_operation(
    "hub.remove_organization_domain", f"POST {_OWN}/domains/remove", RemoveDomainRequest, Posted, reauthentication=True,
    errors=(errors.UnknownOrganization, errors.UnknownOrganizationDomain, errors.DomainInUse),
    summary="Remove a domain from an organization that the account owns.",
)  # fmt: skip
