"""Operations of roles, and of what gives them, and of connections: only programs with the power write."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import update
from werkzeug.test import TestResponse

from app.contract.auth import AuthScheme
from app.contract.catalogue import load_catalogue
from app.contract.resources import BOUND, import_contract
from app.identity.directory.organizations.tables import organizations
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.operations.operation import AnyOperation
from tests.support.oauth.managed_clients import client_of
from tests.support.operations.operation_powers import OWNER, WITHOUT, WRITES, Write, joined
from tests.support.organizations.invitations import InvitingBusiness
from tests.support.organizations.management import PATH, PERMISSIONS, ROLES
from tests.support.tenants.machines import SECRET, machine
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

import_contract()
LACKS = (403, 6002)
NAMED: dict[str, AnyOperation] = {operation.name: operation for operation in load_catalogue()}


def as_program(item: InvitingBusiness, write: Write, path: str, body: Any, *scopes: str) -> TestResponse:
    token = machine(item.tenant, *scopes)
    return item.tenant.send(NAMED[write.operation].method, path, body, bearer=token, apikey=None)


def as_client(item: InvitingBusiness, write: Write, path: str, body: Any, *scopes: str) -> TestResponse:
    pair: dict[str, Any] = {"apikey": None, "clientID": client_of(item.tenant, *scopes), "clientSecret": SECRET}
    return item.tenant.send(NAMED[write.operation].method, path, body, with_secret=False, **pair)


@pytest.mark.both_databases
@pytest.mark.parametrize("write", WRITES, ids=str)
def test_power_is_written_by_programs_that_have_it(new_tenant_server: NewTenantServer, write: Write) -> None:
    operation = NAMED[write.operation]
    scope, asking = operation.admission.scope, [as_program]
    if AuthScheme.QUERY_CLIENT_SECRET in operation.admission.auth.schemes():
        asking.append(as_client)
    item = InvitingBusiness(new_tenant_server())
    path, body = write.make(item)
    for ask in asking:
        for missing in {*write.needs} - {scope}:
            rest = {scope, *write.needs} - {missing}
            answer = ask(item, write, path, body, *sorted(rest))
            assert refused(answer) == LACKS, answer.text
            assert missing in answer.get_json()["Description"]
    admitted = as_program(item, write, path, body, *sorted({scope, *write.needs}))
    assert admitted.status_code == write.status, (
        "nothing of the item was changed or gone, and the program has every power"
    )


@pytest.mark.parametrize("write", WRITES, ids=str)
def test_api_secret_writes_every_power(new_tenant_server: NewTenantServer, write: Write) -> None:
    item = InvitingBusiness(new_tenant_server())
    path, body = write.make(item)
    answer = item.send(NAMED[write.operation].method, path, body)
    assert answer.status_code == write.status, answer.text


def test_role_update_alone_makes_no_owner(new_tenant_server: NewTenantServer) -> None:
    """The permission of owners comes by a name, into a role that people have."""
    item = InvitingBusiness(new_tenant_server())
    permission = item.permission("orders:read")
    role = item.role("Clerk", permissions=(permission,))
    item.member(item.org, role)
    robber = machine(item.tenant, "role:update", "role:create")

    def ask(method: str, path: str, body: Any) -> TestResponse:
        return item.tenant.send(method, path, body, bearer=robber, apikey=None)

    assert refused(ask("PUT", f"{PERMISSIONS}/{permission}", {"Name": "org:own", "Description": ""})) == LACKS
    assert refused(ask("POST", PERMISSIONS, {"Name": "org:own"})) == LACKS
    own = item.permission("org:own")
    wider = {"Name": "Clerk", "Description": "", "Permissions": [permission, own]}
    assert refused(ask("PUT", f"{ROLES}/{role}", wider)) == LACKS
    answered(ask("PUT", f"{ROLES}/{role}", {**wider, "Permissions": [permission]}))
    assert [element["Name"] for element in answered(item.send("GET", f"{ROLES}/{role}"))["Permissions"]] == [
        "orders:read"
    ]


def test_plain_invitation_needs_its_scope_alone(new_tenant_server: NewTenantServer) -> None:
    item = InvitingBusiness(new_tenant_server())
    sent = machine(item.tenant, "invitation:create")
    answered(item.tenant.send("POST", "/v2/manage/invitations", item.body(), bearer=sent, apikey=None))
    assert set(OWNER) > {"invitation:create"}
    changed = machine(item.tenant, "organization:update")
    path = f"{PATH}/{item.org}/policy"
    answered(item.tenant.send("PUT", path, {"MemberPolicy": {"Seats": 9}}, bearer=changed, apikey=None))


@pytest.mark.both_databases
def test_role_of_new_members_stays_until_an_approval(new_tenant_server: NewTenantServer) -> None:
    """An approval waits for the policy that makes new members owners, and is refused by it."""
    item = InvitingBusiness(new_tenant_server())
    owner = item.role("Owner", permissions=(item.permission("org:own"),))
    token = machine(item.tenant, NAMED["organization_join_requests.approve"].admission.scope)
    path, where = f"{PATH}/{item.org}/joinrequests/join_0/approve", organizations.c.org_id == item.org
    with ThreadPoolExecutor(1) as pool:
        with UnitOfWork(item.tenant.services.database, item.tenant.tenant_id).separate_transaction() as work:
            policies = {"MemberPolicy": {"DefaultMemberRole": owner}}
            work.run(update(organizations).where(where).values(policies=policies))
            requested = pool.submit(item.tenant.send, "POST", path, bearer=token, apikey=None)
            with pytest.raises(TimeoutError):
                requested.result(timeout=1)
        assert refused(requested.result(timeout=20)) == LACKS


def test_domains_that_stay_need_no_power(new_tenant_server: NewTenantServer, subtests: pytest.Subtests) -> None:
    """A program that writes a whole organization back, whose members would join as owners, adds no member."""
    item = InvitingBusiness(new_tenant_server())
    joined(item)
    path = f"{PATH}/{item.org}"
    writer = machine(item.tenant, "organization:update")
    proven, pending = (
        {"DomainName": f"{name}.example", "IsVerified": name == "proven"} for name in ("proven", "pending")
    )
    answered(item.send("PUT", path, {"Domains": [proven, pending]}))
    stated = {**pending, "IsVerified": True}
    for domains, is_written in (
        ([proven, stated], False),
        ([proven, {"DomainName": "evil.example"}], False),
        ([proven, pending], True),
        ([{**proven, "DomainName": "PROVEN.Example."}, pending], True),
        ([{**proven, "IsVerified": False}], True),
    ):
        with subtests.test(str(domains)):
            body = {"Name": "Acme", "Domains": domains}
            answer = item.tenant.send("PUT", path, body, bearer=writer, apikey=None)
            assert answer.status_code == 200 if is_written else refused(answer) == LACKS, answer.text


def test_every_write_of_programs_is_in_one_table() -> None:
    """A new operation needs an entry in one of the two tables."""
    of_resources = {item.operation.name for item in BOUND}
    writing = {
        item.name
        for item in NAMED.values()
        if item.admission.scope and item.name not in of_resources and not item.admission.scope.endswith(":read")
    }
    powerful = {write.operation for write in WRITES}
    assert powerful | WITHOUT.keys() == writing
    assert not powerful & WITHOUT.keys()
