"""Two tenants whose connections lead to one provider, with the same person and the same address there: nothing crosses."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlencode

import pytest
from flask import Flask

from app.identity.directory.accounts import accounts, linked_identities
from tests.support.fakes.custom_upstreams import CUSTOM_OPENID, CustomOAuthUpstream
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.federated_sign_in import link_identity
from tests.support.oauth.world import NewWorld
from tests.support.races import at_once
from tests.support.refused_answers.visits import ORGANIZATION, NewVisit, ProviderVisit, stored_accounts
from tests.support.tenants.callers import call_of
from tests.support.visitors.visitor import NewVisitorAt

ADA = "ada@example.test"
KINDS = (CUSTOM_OPENID.name, CustomOAuthUpstream.name, "github", ORGANIZATION)


@pytest.fixture
def new_visit(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, identity_app: Flask, fake_provider: FakeProvider
) -> NewVisit:
    return NewVisit(new_world, new_visitor_at, identity_app, fake_provider)


def identities(visit: ProviderVisit) -> dict[str, list[tuple[str, str]]]:
    """Return the identities of the tenant's account with the person's address, by its uid."""
    with call_of(visit.world.services, visit.world.name) as call:
        found = accounts.by_email(call, ADA)
        return {found.uid: [item.key for item in linked_identities.of(found)]} if found is not None else {}


def pair(new_visit: NewVisit, kind: str) -> tuple[ProviderVisit, ProviderVisit]:
    """Return visitors of two tenants, who were led to the provider."""
    here = new_visit(kind)
    there = new_visit(kind)
    here.provider = there.provider  # which answers both
    return here, there


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", KINDS)
def test_one_person_is_an_account_in_each_tenant(new_visit: NewVisit, kind: str) -> None:
    here, there = pair(new_visit, kind)
    assert here.back().heading == "Profile"
    assert identities(there) == {}
    assert there.back().heading == "Profile"
    (uid, linked), (other, also_linked) = (next(iter(identities(visit).items())) for visit in (here, there))
    assert uid != other
    assert (linked, also_linked) == ([(here.name, here.provider.subject)], [(there.name, here.provider.subject)])


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", KINDS)
def test_first_sign_ins_at_two_tenants_at_once_stay_apart(new_visit: NewVisit, kind: str) -> None:
    visits = pair(new_visit, kind)
    answers = [visit.answer() for visit in visits]
    pages = at_once([partial(visit.back, answer) for visit, answer in zip(visits, answers, strict=True)])
    assert [page.heading for page in pages] == ["Profile", "Profile"]
    assert [stored_accounts(visit.world)["accounts"] for visit in visits] == [1, 1]
    assert len({uid for visit in visits for uid in identities(visit)}) == 2


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
@pytest.mark.parametrize("kind", KINDS)
def test_identity_that_is_linked_elsewhere_opens_nothing_here(new_visit: NewVisit, kind: str) -> None:
    here, there = pair(new_visit, kind)
    bob = there.world.person("bob@example.test", FirstName="Bob")
    link_identity(there.world, bob, here.name, here.provider.subject)
    assert here.back().profile_name != "Bob"
    assert stored_accounts(there.world)["accounts"] == 1


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
@pytest.mark.parametrize("kind", KINDS)
def test_answer_of_one_tenant_is_unknown_at_the_other(new_visit: NewVisit, kind: str) -> None:
    here, there = pair(new_visit, kind)
    page = there.visitor.open(f"{there.callback}?{urlencode(here.answer())}")
    assert page.status == 410
    assert stored_accounts(there.world) == there.accounts_before
