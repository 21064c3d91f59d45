"""Simultaneous requests to join an organization, and decisions on them: each rule holds for all of them together."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial

import pytest

from tests.support.organizations.members import OWN
from tests.support.organizations.open_organization import DOMAIN, OpenOrganization, by_server, names_of
from tests.support.races import at_once
from tests.support.tenants.tenant_server import answered

pytestmark = pytest.mark.both_databases("first")


def test_simultaneous_approvals_make_one_member(open_org: OpenOrganization) -> None:
    request = open_org.open_request()
    answers = at_once([partial(by_server, open_org, request)] * 20)
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 19}
    stored = answered(open_org.team.company.business.send("GET", f"/v2/manage/account/{open_org.ada.uid}/orgcontext"))[
        "Data"
    ]
    assert [item["RoleId"] for item in stored] == [open_org.role]
    assert open_org.subjects(open_org.ada.email) == ["You joined Globex"]


def test_simultaneous_approval_and_decline_settle_on_one(open_org: OpenOrganization) -> None:
    request = open_org.open_request()
    acts = [partial(by_server, open_org, request, "approve" if number % 2 else "decline") for number in range(10)]
    assert Counter(race.status_code for race in at_once(acts)) == {200: 1, 409: 9}
    (item,) = open_org.requests()
    assert (item["Status"] == "approved") == (names_of(open_org) == ["Globex"])


def test_simultaneous_approvals_share_the_last_seat(open_org: OpenOrganization) -> None:
    people = [open_org.team.company.world.person(f"p{number}@{DOMAIN}") for number in range(6)]
    requests = [open_org.open_request(person) for person in people]
    open_org.set_policy(MemberPolicy={"Seats": 4})
    answers = at_once([partial(by_server, open_org, request) for request in requests])
    assert Counter(answer.status_code for answer in answers) == {200: 1, 403: 5}
    assert len(open_org.team.members()) == 4


def test_simultaneous_asking_makes_one_request(open_org: OpenOrganization) -> None:
    browser = open_org.team.company.world.browser().signed_in(open_org.ada)
    body = json.dumps({"Organization": open_org.team.org}).encode()
    answers = at_once([partial(browser.send, "POST", f"{OWN}/ask", body)] * 10)
    assert {answer.status_code for answer in answers} == {200}
    assert len(open_org.requests()) == 1
    assert len(open_org.subjects("owner@globex.test")) == 1
