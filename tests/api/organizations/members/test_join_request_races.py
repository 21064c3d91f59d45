"""Simultaneous requests to join an organization, and decisions on them: each rule holds for all of them together."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial

import pytest

from tests.support.organizations.joining import DOMAIN, Joining, by_server, names_of
from tests.support.organizations.members import OWN
from tests.support.races import at_once
from tests.support.tenants.tenant_server import answered

pytestmark = pytest.mark.both_databases("first")


def test_simultaneous_approvals_make_one_member(joining: Joining) -> None:
    request = joining.open_request()
    answers = at_once([partial(by_server, joining, request)] * 20)
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 19}
    stored = answered(joining.team.company.business.send("GET", f"/v2/manage/account/{joining.ada.uid}/orgcontext"))[
        "Data"
    ]
    assert [item["RoleId"] for item in stored] == [joining.role]
    assert joining.subjects(joining.ada.email) == ["You joined Globex"]


def test_simultaneous_approval_and_decline_settle_on_one(joining: Joining) -> None:
    request = joining.open_request()
    acts = [partial(by_server, joining, request, "approve" if number % 2 else "decline") for number in range(10)]
    assert Counter(race.status_code for race in at_once(acts)) == {200: 1, 409: 9}
    (item,) = joining.requests()
    assert (item["Status"] == "approved") == (names_of(joining) == ["Globex"])


def test_simultaneous_approvals_share_the_last_seat(joining: Joining) -> None:
    people = [joining.team.company.world.person(f"p{number}@{DOMAIN}") for number in range(6)]
    requests = [joining.open_request(person) for person in people]
    joining.set_policy(MemberPolicy={"Seats": 4})
    answers = at_once([partial(by_server, joining, request) for request in requests])
    assert Counter(answer.status_code for answer in answers) == {200: 1, 403: 5}
    assert len(joining.team.members()) == 4


def test_simultaneous_asking_makes_one_request(joining: Joining) -> None:
    browser = joining.team.company.world.browser().signed_in(joining.ada)
    body = json.dumps({"Organization": joining.team.org}).encode()
    answers = at_once([partial(browser.send, "POST", f"{OWN}/ask", body)] * 10)
    assert {answer.status_code for answer in answers} == {200}
    assert len(joining.requests()) == 1
    assert len(joining.subjects("owner@globex.test")) == 1
