"""Former versions of workflows, and updates of outdated ones."""

from __future__ import annotations

from functools import partial

import pytest
from sqlalchemy import func, select

from app.contract.workflows.workflow_operations import FORMER_VERSIONS
from app.identity.platform.resource_storage.former_versions import former_versions
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused
from tests.support.workflows.drawings import branching, node, sequence
from tests.support.workflows.managed_workflows import Workflows


@pytest.fixture
def flows(new_tenant_server: NewTenantServer) -> Workflows:
    return Workflows(new_tenant_server())


def count_versions(tenant: TenantServer) -> int:
    work = UnitOfWork(tenant.services.database, tenant.tenant_id)
    counted = select(func.count()).select_from(former_versions).where(former_versions.c.tenant_id == tenant.tenant_id)
    try:
        return int(work.run(counted).scalar_one())
    finally:
        work.rollback()


@pytest.mark.both_databases
def test_update_keeps_the_version_that_it_replaces(flows: Workflows) -> None:
    made = flows.stored(sequence())
    changed = answered(flows.send("PUT", f"/{made['Id']}", {"Name": "Other", "Data": branching()}))
    assert changed["Version"] == 2
    listed = answered(flows.send("GET", f"/{made['Id']}/versions"))["Data"]
    assert [item["Version"] for item in listed] == [2, 1]
    assert listed[1]["WrittenDate"] == made["LastModifiedDate"]
    first = answered(flows.send("GET", f"/{made['Id']}/versions/1"))
    assert (first["Name"], first["Data"], first["Version"]) == ("Flow", sequence(), 1)
    assert answered(flows.send("GET", f"/{made['Id']}/versions/2"))["Data"] == branching()


def test_former_version_is_restored_by_an_update(flows: Workflows) -> None:
    made = flows.stored(sequence())
    answered(flows.change(made, branching()))
    former = answered(flows.send("GET", f"/{made['Id']}/versions/1"))
    restored = answered(flows.change(former, former["Data"]))
    assert (restored["Version"], restored["Data"]) == (3, made["Data"])


@pytest.mark.parametrize("version", ["0", "9", "-1", "first", "99999999999"])
def test_unknown_version_is_refused(flows: Workflows, version: str) -> None:
    made = flows.stored()
    assert refused(flows.send("GET", f"/{made['Id']}/versions/{version}")) in ((404, 8033), (400, 7900))


def test_update_of_an_outdated_version_is_refused(flows: Workflows) -> None:
    made = flows.stored()
    assert answered(flows.change(made, branching(), Version=1))["Version"] == 2
    assert refused(flows.change(made, sequence(), Version=1)) == (409, 8196)
    assert refused(flows.change(made, sequence(), Version=3)) == (409, 8196)
    left = answered(flows.send("GET", f"/{made['Id']}"))
    assert (left["Version"], left["Data"]) == (2, branching())


def test_update_without_a_version_wins(flows: Workflows) -> None:
    made = flows.stored()
    answered(flows.change(made, branching()))
    assert answered(flows.change(made))["Version"] == 3


@pytest.mark.parametrize("version", [0, -1, "two", 1.5, [1]])
def test_malformed_version_is_refused(flows: Workflows, version: object) -> None:
    made = flows.stored()
    assert refused(flows.change(made, branching(), Version=version)) == (400, 7900)


@pytest.mark.both_databases
def test_one_of_two_updates_at_once_is_refused(flows: Workflows) -> None:
    made = flows.stored()
    saves = [partial(flows.change, made, sequence(node(f"m{number}", "MFA")), Version=1) for number in range(6)]
    answers = at_once(saves)
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409, 409]
    (winner,) = [answer.get_json() for answer in answers if answer.status_code == 200]
    left = answered(flows.send("GET", f"/{made['Id']}"))
    assert (left["Version"], left["Data"]) == (2, winner["Data"])


@pytest.mark.both_databases
def test_updates_at_once_without_versions_are_all_stored(flows: Workflows) -> None:
    made = flows.stored()
    answers = at_once([partial(flows.change, made, sequence(node(f"m{number}", "MFA"))) for number in range(4)])
    assert sorted(answered(answer)["Version"] for answer in answers) == [2, 3, 4, 5]
    listed = answered(flows.send("GET", f"/{made['Id']}/versions"))["Data"]
    assert [item["Version"] for item in listed] == [5, 4, 3, 2, 1]


def test_oldest_versions_are_removed(flows: Workflows) -> None:
    made = flows.stored()
    for _ in range(FORMER_VERSIONS + 2):
        answered(flows.change(made))
    numbers = [item["Version"] for item in answered(flows.send("GET", f"/{made['Id']}/versions"))["Data"]]
    assert (numbers[0], numbers[-1], len(numbers)) == (FORMER_VERSIONS + 3, 3, FORMER_VERSIONS + 1)
    assert refused(flows.send("GET", f"/{made['Id']}/versions/2")) == (404, 8033)


@pytest.mark.both_databases
def test_deletion_removes_every_version(flows: Workflows) -> None:
    made = flows.stored()
    answered(flows.change(made))
    assert count_versions(flows.tenant) == 1
    answered(flows.send("DELETE", f"/{made['Id']}"))
    assert count_versions(flows.tenant) == 0
