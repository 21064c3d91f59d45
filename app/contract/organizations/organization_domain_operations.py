"""The tenant's servers manage the domains of organizations."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import ORGANIZATION_MANAGEMENT
from app.contract.catalogue import operation
from app.contract.error_profiles import ORGANIZATIONS
from app.contract.organizations.models import Domain, OrgPath
from app.contract.organizations.organization_operations import ACTIVE, FOUND
from app.contract.paging import Paged
from app.contract.shared_responses import Deleted
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Wire


class ListDomains(OrgPath, Paged):
    pass


class CreateDomain(OrgPath):
    domain_name: Annotated[str, Field(min_length=1, max_length=253)]


class DomainPath(OrgPath):
    """A domain of an organization, by the ids in the path."""

    domain_id: Annotated[str, From.PATH, Field(alias="domainId")]


class Domains(Wire):
    data: list[Domain]


_PATH = "/v2/manage/organizations/{orgId}/domains"
_ONE = f"{_PATH}/{{domainId}}"
UNKNOWN = errors.UnknownOrganizationDomain

list_all = operation(
    "organization_domains.list", f"GET {_PATH}", ListDomains, Domains, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:read", error_profile=ORGANIZATIONS, errors=FOUND, takes_blank_segments=True,
    summary="List an organization’s domains",
    description="Returns the email domains of an organization, oldest first.",
)  # fmt: skip
create = operation(
    "organization_domains.create", f"POST {_PATH}", CreateDomain, Domain, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:update", accepts=Accept.JSON,
    error_profile=ORGANIZATIONS, errors=(*ACTIVE, errors.DomainTaken), takes_blank_segments=True,
    summary="Add a domain",
    description="Adds an email domain to an organization. To verify it, publish the TXT record `gatehouse-domain-verification=VALUE` "
    "at the domain, with the `VerificationToken` of the response as value, then verify the domain.",
)  # fmt: skip
read = operation(
    "organization_domains.read", f"GET {_ONE}", DomainPath, Domain, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:read", error_profile=ORGANIZATIONS, errors=(*FOUND, UNKNOWN), takes_blank_segments=True,
    summary="Get a domain",
    description="Returns a domain of an organization with the state of its verification.",
)  # fmt: skip
verify = operation(
    "organization_domains.verify", f"POST {_ONE}", DomainPath, Domain, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:update", error_profile=ORGANIZATIONS,
    errors=(*ACTIVE, UNKNOWN, errors.DomainVerified, errors.DomainNotProven, errors.DomainTaken), takes_blank_segments=True,
    summary="Verify a domain",
    description="Looks up the TXT record of a domain and marks the domain as verified. If the record is gone, a domain that was "
    "verified by it isn’t anymore.",
)  # fmt: skip
delete = operation(
    "organization_domains.delete", f"DELETE {_ONE}", DomainPath, Deleted, auth=ORGANIZATION_MANAGEMENT, scope="organization:update",
    error_profile=ORGANIZATIONS, errors=(*FOUND, UNKNOWN, errors.DomainInUse), takes_blank_segments=True,
    summary="Remove a domain",
    description="Removes a domain from an organization. Remove the connection that uses it first.",
)  # fmt: skip
