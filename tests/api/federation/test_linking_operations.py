"""Every refusal and response of account linking and social sign-in: operations U13, U29 to U31, and A26."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.accounts import social_accounts
from tests.support.accounts.social_accounts import ADA, NO_CALLBACK, SOCIAL
from tests.support.operation_cases.cases import AccountHolder, Act, Answer, Ask, Refusal, account_holder, once, refusals
from tests.support.operation_cases.shapes import DELETED, LOGIN, POSTED
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

OFF = {**NO_CALLBACK, "account_linking": False}


def link(**body: Any) -> Act:
    return lambda who: who.own("U29", body)


def unlink(provider: str, provider_id: str = "1") -> Act:
    return lambda who: who.own("U31", {"provider": provider, "providerid": provider_id})


def own(who: AccountHolder) -> TestResponse:
    profile = answered(who.own("U15"))
    return unlink(profile["Provider"], profile["ID"])(who)


def linked(who: AccountHolder) -> AccountHolder:
    social_accounts.linked_to(who.tenant, who.uid, ADA)
    return who


def others(who: AccountHolder) -> AccountHolder:
    """Link Ada's identity to another account."""
    social_accounts.linked_to(who.tenant, who.tenant.create()["Uid"], ADA)
    return who


def with_candidate(who: AccountHolder) -> TestResponse:
    return link(candidatetoken=social_accounts.candidate(who.tenant, ADA))(who)


def with_guid(stored: str) -> Act:
    return lambda who: who.own("U30", {"clientguid": stored})


def by_linking_guid(who: AccountHolder) -> TestResponse:
    return with_guid(social_accounts.linking_guid(who.tenant, ADA))(who)


def of_a_sign_in(who: AccountHolder) -> TestResponse:
    return with_guid(social_accounts.signed_in_with(who.tenant, who.uid))(who)


def last(who: AccountHolder) -> TestResponse:
    who.uid = social_accounts.without_password(who.tenant, ADA)
    return unlink("google", ADA.subject)(who)


REFUSALS: list[Refusal] = [
    *refusals(
        "U13",
        (1160, lambda who: who.call("U13", clientguid=social_accounts.guid()), SOCIAL),
        (1140, lambda who: who.call("U13", clientguid=social_accounts.guid()), NO_CALLBACK),
    ),
    *refusals(
        "U29",
        (905, link(candidatetoken="x" * 43)),
        (983, lambda who: link(candidatetoken=who.bearer)(who)),
        (986, lambda who: with_candidate(others(who)), SOCIAL),
        (1054, with_candidate, {**SOCIAL, "account_linking": False}),
    ),
    *refusals(
        "U30",
        (1160, lambda who: with_guid(social_accounts.guid())(who), SOCIAL),
        (1140, lambda who: with_guid(social_accounts.began(who.tenant, links=True))(who), NO_CALLBACK),
        (983, of_a_sign_in, NO_CALLBACK),
        (986, lambda who: by_linking_guid(others(who)), NO_CALLBACK),
        (1054, by_linking_guid, OFF),
    ),
    *refusals(
        "U31",
        (987, unlink("FACEBOOK")),
        (989, lambda who: unlink("google")(linked(who)), SOCIAL),
        (1008, last, SOCIAL),
        (1065, unlink("Email")),
        (1078, unlink("myspace")),
        (1219, own),
    ),
]
NOT_HERE: dict[tuple[str, int], str] = {}
ANSWERS: list[Answer] = [
    Answer("U13", lambda who: Ask(query={"clientguid": social_accounts.signed_in_with(who.tenant, who.uid)}), LOGIN, NO_CALLBACK),
    Answer("U29", lambda who: Ask({"candidatetoken": social_accounts.candidate(who.tenant, ADA)}), POSTED, SOCIAL, events=("LinkAccount",)),
    Answer(
        "U30", lambda who: Ask({"clientguid": social_accounts.linking_guid(who.tenant, ADA)}), POSTED, NO_CALLBACK,
        events=("LinkAccount",),
    ),
    Answer(
        "U31", lambda who: once(linked(who), Ask({"provider": "Google", "providerid": ADA.subject})), DELETED, SOCIAL,
        events=("UnlinkAccount",),
    ),
]  # fmt: skip


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)


def test_another_account_cannot_be_linked(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
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
def test_missing_parameter_is_named(
    new_tenant_server: NewTenantServer, row: str, body: dict[str, str], missing: str
) -> None:
    answer = account_holder(new_tenant_server).own(row, body)
    assert refused(answer) == (400, 908)
    assert f"The {missing} is a required parameter" in answer.get_json()["Description"]


def test_guid_is_accepted_at_both_paths(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **NO_CALLBACK)
    answered(link(clientguid=social_accounts.linking_guid(who.tenant, ADA))(who))
    assert refused(who.call("U13")) == (400, 908)
