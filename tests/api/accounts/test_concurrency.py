"""Concurrent requests: each identifier gets one owner, and no change is lost."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.tenants.tenant_server import MANAGE, PASSWORD, NewTenantServer, TenantServer, refused

pytestmark = pytest.mark.both_databases

RACERS = 20


def race(acme: TenantServer, method: str, path: str, bodies: list[dict[str, Any]]) -> list[TestResponse]:
    """Send all bodies at once."""
    line = Barrier(len(bodies))

    def run(body: dict[str, Any]) -> TestResponse:
        line.wait()
        return acme.send(method, path, body)

    with ThreadPoolExecutor(len(bodies)) as pool:
        return list(pool.map(run, bodies))


def counted_refusals(answers: list[TestResponse]) -> Counter[tuple[int, int | None]]:
    return Counter(refused(answer) for answer in answers)


def test_concurrent_creations_with_one_email_create_one(acme: TenantServer) -> None:
    spellings = ["ada@example.test", "ADA@example.test", "Ada@EXAMPLE.test"]
    bodies = [
        {"Password": PASSWORD, "Email": [{"Type": "Primary", "Value": spellings[number % 3]}], "FirstName": str(number)}
        for number in range(RACERS)
    ]
    answers = race(acme, "POST", MANAGE, bodies)
    assert counted_refusals(answers) == {(200, None): 1, (403, 936): RACERS - 1}
    winner = next(answer.get_json() for answer in answers if answer.status_code == 200)
    assert acme.send("GET", MANAGE, email="ada@example.test").get_json() == winner


def test_concurrent_creations_with_one_uid_create_one(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(custom_uid=True)
    bodies = [{"Password": PASSWORD, "Uid": "ada", "UserName": f"ada{number}"} for number in range(8)]
    assert counted_refusals(race(acme, "POST", MANAGE, bodies)) == {(200, None): 1, (403, 1044): 7}


@pytest.mark.parametrize("attempt", range(5))
def test_concurrent_claims_in_opposite_order_do_not_deadlock(acme: TenantServer, attempt: int) -> None:
    """Each claims ten addresses, half of them in reverse order; locked in that order they would deadlock."""
    entries = [{"Type": f"T{number}", "Value": f"a{number}@example.test"} for number in range(10)]
    bodies = [{"Password": PASSWORD, "Email": entries[:: 1 if number % 2 else -1]} for number in range(8)]
    assert counted_refusals(race(acme, "POST", MANAGE, bodies)) == {(200, None): 1, (403, 936): 7}


def test_concurrent_changes_of_different_fields_all_persist(acme: TenantServer) -> None:
    uid = acme.create()["Uid"]
    names = ["FirstName", "LastName", "NickName", "City", "State", "About", "Company", "Quote", "TagLine", "HomeTown"]
    answers = race(acme, "PUT", f"{MANAGE}/{uid}", [{name: f"new {name}"} for name in names])
    assert counted_refusals(answers) == {(200, None): len(names)}
    profile = acme.read(uid)
    assert {name: profile[name] for name in names} == {name: f"new {name}" for name in names}


def test_concurrent_claims_of_one_username_have_one_winner(acme: TenantServer) -> None:
    uids = [acme.create()["Uid"] for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda uid: acme.send("PUT", f"{MANAGE}/{uid}", {"UserName": "ada"}), uids))
    assert counted_refusals(answers) == {(200, None): 1, (403, 1017): 5}


def test_concurrent_refreshes_exchange_token_once(acme: TenantServer) -> None:
    refresh_token = acme.tokens(acme.create()["Uid"])["refresh_token"]
    line = Barrier(8)

    def run(_: int) -> TestResponse:
        line.wait()
        return acme.send("GET", f"{MANAGE}/access_token/refresh", refresh_token=refresh_token)

    with ThreadPoolExecutor(8) as pool:
        found = counted_refusals(list(pool.map(run, range(8))))
    assert found == {(200, None): 1, (403, 1217): 7}
