"""Lists of organizations and their parts: pages on request, whole lists from the tenant's own share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from app.contract.catalogue import CATALOGUE, WHOLE_LIST, load_catalogue
from app.contract.organizations.invitation_link_operations import ListInvitationLinks
from app.contract.organizations.join_request_operations import ListJoinRequests
from app.contract.organizations.setup_operations import ListSetupLinks
from app.contract.paging import DEFAULT_SIZE, Paged
from app.contract.published.examples import load_examples
from tests.support.organizations.invitations import LINKS, InvitingBusiness
from tests.support.organizations.management import PATH, PERMISSIONS, ROLES
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, answered

load_catalogue()
PAGED = {
    operation.name: operation
    for operation in CATALOGUE
    if issubclass(operation.request, Paged) and operation.name.startswith("organization")
}
UNPAGED = [name for name, item in PAGED.items() if item.heavy_work is WHOLE_LIST]
LISTS: Mapping[str, Callable[[InvitingBusiness], tuple[str, dict[str, Any]]]] = {
    "organizations.list": lambda _: (PATH, {}),
    "organization_roles.list": lambda _: (ROLES, {}),
    "organization_roles.list_of_organization": lambda item: (f"{PATH}/{item.org}/roles", {}),
    "organization_permissions.list": lambda _: (PERMISSIONS, {}),
    "organization_members.list_of_account": lambda item: (f"/v2/manage/account/{item.grace}/orgcontext", {}),
    "organization_members.list_of_organization": lambda item: (f"{PATH}/{item.org}/orgcontext", {}),
    "organization_domains.list": lambda item: (f"{PATH}/{item.org}/domains", {}),
    "organization_invitations.list_all": lambda item: ("/v2/manage/invitations", {"orgid": item.org}),
    "organization_invitation_links.list_all": lambda item: (LINKS, {"orgid": item.org}),
    "organization_setup_links.list": lambda item: (f"{PATH}/{item.org}/setup-links", {}),
}
"""Join requests need people who ask: tests/api/organizations/members/test_join_requests.py."""


@pytest.fixture
def inviter(new_tenant_server: NewTenantServer) -> InvitingBusiness:
    """Return a tenant with three of everything."""
    made = InvitingBusiness(new_tenant_server())
    for number in range(3):
        org = made.create(f"Org {number}")
        role = made.role(org=made.org)
        answered(made.assign(made.grace, org, made.role()))
        answered(made.assign(made.grace, made.org, role))
        made.permission()
        answered(made.send("POST", f"{PATH}/{made.org}/domains", {"DomainName": f"d{number}.example"}))
        made.invite(f"guest{number}@example.com")
        made.link()
        answered(made.send("POST", f"{PATH}/{made.org}/setup-links", {}))
    return made


def test_every_list_has_a_case() -> None:
    assert set(PAGED) == {*LISTS, "organization_join_requests.list"}
    of_our_own = {
        "organization_join_requests.list",
        "organization_invitation_links.list_all",
        "organization_setup_links.list",
    }
    assert set(UNPAGED) == set(PAGED) - of_our_own


def listed(inviter: InvitingBusiness, name: str, **page: int) -> list[Any]:
    path, query = LISTS[name](inviter)
    found: list[Any] = answered(inviter.send("GET", path, **query, **page))["Data"]
    return found


def test_list_is_answered_in_pages(inviter: InvitingBusiness, subtests: pytest.Subtests) -> None:
    for name in LISTS:
        with subtests.test(name):
            first, second, complete = (
                listed(inviter, name, page=number, pagesize=size) for number, size in ((1, 2), (2, 2), (1, 200))
            )
            assert len(complete) >= 3
            assert len(first) == 2
            assert [*first, *second] == complete[:4]


def test_list_without_page_is_complete(inviter: InvitingBusiness, subtests: pytest.Subtests) -> None:
    for name in LISTS:
        with subtests.test(name):
            assert listed(inviter, name) == listed(inviter, name, page=1, pagesize=200)


@pytest.mark.parametrize("request_class", [ListInvitationLinks, ListJoinRequests, ListSetupLinks])
def test_lists_of_our_own_begin_with_the_first_page(request_class: type[Paged]) -> None:
    assert request_class.model_construct().window == (DEFAULT_SIZE, 0)


def test_links_beyond_the_first_page_are_on_the_second(inviter: InvitingBusiness) -> None:
    for _ in range(DEFAULT_SIZE):
        answered(inviter.send("DELETE", f"{LINKS}/{inviter.link()['Id']}"))
    first, second = (
        answered(inviter.send("GET", LINKS, orgid=inviter.org, **page))["Data"] for page in ({}, {"page": 2})
    )
    assert (len(first), len(second)) == (DEFAULT_SIZE, 3)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v2/manage/custom-objects", lambda number: {"Name": f"object-{number}"}),
        ("/v2/manage/initial-access-tokens", lambda number: {"Name": f"token-{number}"}),
    ],
)
def test_resources_of_our_own_begin_with_the_first_page(
    new_tenant_server: NewTenantServer, path: str, body: Callable[[int], dict[str, Any]]
) -> None:
    tenant = new_tenant_server()
    token = machine(tenant, "all")
    for number in range(DEFAULT_SIZE + 1):
        answered(ask(tenant, token, "POST", path, body(number)))
    first, second = (answered(ask(tenant, token, "GET", path, **page))["Data"] for page in ({}, {"page": 2}))
    assert (len(first), len(second)) == (DEFAULT_SIZE, 1)


def test_long_list_of_a_resource_takes_a_turn() -> None:
    queued = {
        operation.name for operation in CATALOGUE if operation.heavy_work is WHOLE_LIST and operation.name not in PAGED
    }
    assert queued == {"oauth_clients.list"}


def test_example_of_a_list_has_a_page() -> None:
    examples = load_examples()
    paged = [
        operation.name
        for operation in CATALOGUE
        if operation.documentation.is_public and "page" in operation.request.model_fields
    ]
    assert set(paged) > set(PAGED)
    assert [name for name in paged if "page" not in examples[name]["request"].get("query", {})] == []
