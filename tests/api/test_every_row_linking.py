"""Every refusal of what another provider is needed for: rows U13, U29 to U31; where none can be set up, they refuse truthfully."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.rows import Act, Answer, Refusal, Somebody, refusals, somebody
from tests.support.tenant_server import NewTenantServer, answered, refused

GUID = "0f5a1c52-9c1e-4a6b-8a51-0d5f2b9c1c11"


def link(**body: Any) -> Act:
    return lambda who: who.own("U29", body)


def unlink(provider: str, provider_id: str = "1") -> Act:
    return lambda who: who.own("U31", {"provider": provider, "providerid": provider_id})


def own(who: Somebody) -> TestResponse:
    profile = answered(who.own("U15"))
    return unlink(profile["Provider"], profile["ID"])(who)


REFUSALS: list[Refusal] = [
    *refusals("U13", (1160, lambda who: who.call("U13", clientguid=GUID))),
    *refusals(
        "U29",
        (905, link(candidatetoken="x" * 43)),
        (983, lambda who: link(candidatetoken=who.bearer)(who)),
    ),
    *refusals("U30", (1160, lambda who: who.own("U30", {"clientguid": GUID}))),
    *refusals("U31", (987, unlink("FACEBOOK")), (1065, unlink("Email")), (1078, unlink("myspace")), (1219, own)),
]
_PROVIDER = "needs an account of another provider: the issue of federation"
NOT_HERE: dict[tuple[str, int], str] = {
    **{("U29", code): _PROVIDER for code in (986, 1054)},
    **{("U30", code): _PROVIDER for code in (983, 986, 1054)},
    **{("U31", code): _PROVIDER for code in (989, 1008)},
}
ANSWERS: list[Answer] = []


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_refused(new_tenant_server: NewTenantServer, refusal: Refusal) -> None:
    refusal.check(new_tenant_server)


def test_another_persons_account_is_never_linked(new_tenant_server: NewTenantServer) -> None:
    who = somebody(new_tenant_server)
    other = who.tenant.create()["Uid"]
    theirs = str(who.tenant.tokens(other)["access_token"])
    assert refused(who.own("U29", {"candidatetoken": theirs})) == (403, 983)
    assert who.tenant.read(other)["Uid"] == other


@pytest.mark.parametrize(
    ("row", "body", "missing"),
    [
        ("U29", {}, "candidatetoken"),
        ("U30", {}, "clientguid"),
        ("U31", {"providerid": "1"}, "provider"),
        ("U31", {"provider": "google"}, "providerid"),
    ],
)
def test_what_is_missing_is_named(
    new_tenant_server: NewTenantServer, row: str, body: dict[str, str], missing: str
) -> None:
    answer = somebody(new_tenant_server).own(row, body)
    assert refused(answer) == (400, 908)
    assert f"The {missing} is a required parameter" in answer.get_json()["Description"]


def test_the_guid_of_a_sign_in_is_taken_at_both_addresses(new_tenant_server: NewTenantServer) -> None:
    who = somebody(new_tenant_server)
    assert refused(who.own("U29", {"clientguid": GUID})) == (403, 1160)
    assert refused(who.call("U13")) == (400, 908)
